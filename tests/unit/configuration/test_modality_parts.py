"""Explanations of texts and of changes of a concept in one study: its parts, and what does not go together."""

from pathlib import Path

import pytest
from test_concept_tables import STUDY as CONCEPTS

from evenlight import configuration
from evenlight.core.errors import InputError
from evenlight.core.kinds import EFFECTS, TOKENS
from evenlight.statistics.comparisons.study import StudyScores

MIXED = CONCEPTS | {
    "kind": "disparity",
    "explainers": {"lime": {"method": "lime"}, "tcav": {"method": "tcav"}},
    "metrics": {"gini": {"metric": "gini"}, "lime": {"metric": "icace_error"}},
    "statistics": {"compare": {"food": [["negative", "positive"]], "price_tier": [["low", "med"]]}},
}


def test_names_belong_to_their_section():
    """A metric may have the name of an explainer of another modality."""
    config = configuration.complete(MIXED)
    of = {
        name: [configuration.of_modality(section, config, name) for section in ("explainers", "metrics")]
        for name in configuration.modalities(config)
    }
    assert of == {TOKENS: [["lime"], ["gini"]], EFFECTS: [["tcav"], ["lime"]]}
    # What food a text speaks of is a level of texts; changes are compared by the restaurant's prices.
    assert list(configuration.comparisons_of(config, TOKENS)) == ["food"]
    assert list(configuration.comparisons_of(config, EFFECTS)) == ["price_tier"]
    # The texts of another dataset have no such level.
    assert configuration.compared_everywhere(config, TOKENS)
    config["datasets"]["books"] = {"reader": "demo", "classes": "binary"}
    assert not configuration.compared_everywhere(config, TOKENS)


@pytest.mark.parametrize(
    ("statistics", "message"),
    [
        ({"primary": {"explainers": ["lime"], "metrics": ["lime"]}}, r"no metric.*explainers"),
        ({"compare": {"concept+food": [["food+positive", "noise+negative"]]}}, r"no dataset.*factor"),
    ],
)
def test_what_is_of_two_modalities_is_refused(statistics, message):
    with pytest.raises(InputError, match=message):
        configuration.complete(MIXED | {"statistics": MIXED["statistics"] | statistics})


def test_changes_have_no_predictions_for_strata():
    statistics = CONCEPTS["statistics"] | {"strata": {"reviews": "prediction"}}
    with pytest.raises(InputError, match="have no prediction;"):
        configuration.complete(CONCEPTS | {"statistics": statistics})


def test_a_study_has_a_part_for_each_modality():
    of = {
        TOKENS: {"explainers": ["lime"], "metrics": ["gini"], "compared": ["gender"], "units": Path("datasets")},
        EFFECTS: {"explainers": ["tcav"], "metrics": ["l2"], "compared": ["concept"], "units": Path("changes")},
    }
    study = StudyScores(
        folders={"scores": Path("scores"), "units": Path("datasets")},
        datasets=["plots"],
        models={"small": [0]},
        explainers=["lime", "tcav"],
        metrics={"gini": "complexity", "l2": "concepts"},
        comparisons={"gender": [["male", "female"]], "concept": [["care", "dress"]]},
        strata={"plots": "prediction"},
        modalities=of,
    )
    texts, changes = study.sources().values()
    assert (texts.explainers, list(texts.metrics), list(texts.comparisons)) == (["lime"], ["gini"], ["gender"])
    assert (changes.explainers, list(changes.metrics), list(changes.comparisons)) == (["tcav"], ["l2"], ["concept"])
    assert (texts.folders["units"], changes.folders["units"]) == (Path("datasets"), Path("changes"))
    assert (texts.strata, changes.strata) == ({"plots": "prediction"}, {})
    # An explainer of one and a metric of the other have no scores.
    assert StudyScores(**{**vars(study), "explainers": ["lime"], "metrics": {"l2": "concepts"}}).sources() == {}
