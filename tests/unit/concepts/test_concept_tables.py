"""Changes of concepts as tables: which there are, by what they are compared, what is predicted and summed up."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from rendering import page_of
from wording import says

from evenlight import configuration
from evenlight.concepts.changes import compared_changes, listed_changes
from evenlight.concepts.files import changes_of, represented_texts
from evenlight.concepts.labels import describe_levels, predicted_levels
from evenlight.core.contracts.texts import UNITS
from evenlight.core.errors import InputError
from evenlight.datasets import Reader
from evenlight.reports.plots.concept_grid import draw_concept_grid
from evenlight.statistics.analyses.concept_summary import effect_rows, error_rows
from evenlight.statistics.comparisons.study import MetricLabel

CONCEPTS = {"food": ["negative", "positive", "unknown"], "noise": ["negative", "positive", "unknown"]}


def items_of(rows: list[tuple]) -> pd.DataFrame:
    """Items from (id, food, noise, split)."""
    table = pd.DataFrame(rows, columns=["item_id", "attribute.food", "attribute.noise", "split"])
    table["words"] = [["Text", name] for name in table["item_id"]]
    table["cluster"] = table["item_id"].str[0]
    return table.assign(ground_truth=None, label=np.arange(len(rows)), **{"attribute.region": "west"})


ITEMS = items_of(
    [
        ("a0", "positive", "unknown", "test"),
        ("a1", "negative", "unknown", "test"),
        ("b0", "negative", "negative", "aside"),
        ("b1", "unknown", "negative", "aside"),
    ]
)
EDITS = pd.DataFrame(
    [
        ("u", "a0", "original", "food", "positive"),
        ("u", "a1", "edit", "food", "negative"),
        ("v", "b0", "original", "food", "negative"),
        ("v", "b1", "edit", "food", "unknown"),
        ("w", "a0", "form", "gender", "male"),
    ],
    columns=UNITS.schema.names,
)


def test_edits_are_changes_in_their_direction():
    changes = listed_changes(ITEMS, EDITS, CONCEPTS)
    assert changes.to_numpy().tolist() == [
        ["u", "test", "food", "positive", "negative", "a0", "a1"],
        ["v", "aside", "food", "negative", "unknown", "b0", "b1"],
    ]


def test_forms_are_changes_in_both_directions():
    forms = EDITS[:2].assign(role="form")
    changes = listed_changes(ITEMS, forms, CONCEPTS)
    assert changes.to_numpy().tolist() == [
        ["u-negative", "test", "food", "negative", "positive", "a1", "a0"],
        ["u-positive", "test", "food", "positive", "negative", "a0", "a1"],
    ]


def test_what_contradicts_is_refused():
    wrong = EDITS.assign(level=EDITS["level"].replace("positive", "unknown"))
    with pytest.raises(InputError, match=r"change u: food of item a0.*'positive'.*'unknown'"):
        listed_changes(ITEMS, wrong, CONCEPTS)
    with pytest.raises(InputError, match=r"no change.*test split"):
        listed_changes(ITEMS, EDITS[2:], CONCEPTS)


def test_changes_of_the_test_split_are_compared_as_items_are():
    items, units = compared_changes(listed_changes(ITEMS, EDITS, CONCEPTS), ITEMS, ["region"])
    assert items[["item_id", "cluster"]].to_numpy().tolist() == [["u", "a"]]
    assert units[["unit_id", "role", "factor", "level"]].to_numpy().tolist() == [
        ["u", "form", "concept", "food"],
        ["u", "form", "change", "positive_to_negative"],
        ["u", "form", "region", "west"],
    ]


def test_factors_of_changes():
    factors = Reader.parse({"reader": "cebab"}).change_factors()
    assert factors["concept"] == ["food", "service", "ambiance", "noise"]
    assert len(factors["change"]) == 6
    assert list(factors) == ["concept", "change", "cuisine", "price_tier", "region"]
    assert Reader.parse({"reader": "geco"}).change_factors() == {}


def test_levels_that_words_tell_are_predicted():
    words = {"negative": ["bad", "meal"], "positive": ["good", "meal"]}
    rows = [(split, level) for split in ("train", "test") for level in ("negative", "positive") for _ in range(6)]
    items = pd.DataFrame(
        {
            "item_id": [str(number) for number in range(len(rows))],
            "words": [words[level] for _, level in rows],
            "split": [split for split, _ in rows],
            "attribute.food": [level for _, level in rows],
            "attribute.noise": "negative",
        }
    )
    items.loc[items.index[-1], "attribute.food"] = "no majority"
    predicted = predicted_levels(items, CONCEPTS)
    assert predicted["item_id"].tolist() == items.loc[items["split"] == "test", "item_id"].tolist()
    assert predicted["food"].tolist() == [level for split, level in rows if split == "test"]
    said = describe_levels(items, predicted, CONCEPTS)
    assert said == says("food 100.0% of 11", "54.5%", "noise 100.0% of 12")
    # One of eleven wrong; the text without a label does not count.
    said = describe_levels(items, predicted.assign(food=["positive", *predicted["food"][1:]]), CONCEPTS)
    assert "food 90.9% of 11" in said
    with pytest.raises(InputError, match="concept noise: no training text"):
        predicted_levels(items.assign(**{"attribute.noise": None}), CONCEPTS)


def test_summary_by_hand():
    changes = pd.DataFrame(
        {
            "concept": ["food", "food", "noise"],
            "before": ["negative", "positive", "negative"],
            "after": ["positive", "negative", "positive"],
        }
    )
    values = {"l2": np.array([[1.0, 2.0, 6.0], [3.0, 4.0, 8.0]])}
    rows = {(row["concept"], row["change"]): row for row in error_rows(values, changes, np.array([0, 1, 2]), 0.9, 50)}
    assert (rows["all", "all"]["mean"], rows["all", "all"]["sd"]) == (4, 1)
    assert rows["food", "all"]["mean"] == 2.5
    assert rows["all", "negative_to_positive"]["changes"] == 2
    assert ("noise", "positive_to_negative") not in rows
    # Many resamples of three texts have one of them only, and may be as far off as one likes.
    assert rows["all", "all"]["low"] < 4
    assert np.isnan(rows["all", "all"]["high"])


def test_effects_by_hand():
    """Two seeds: one sees the change of the label, the other does not."""
    listed = listed_changes(ITEMS, EDITS, CONCEPTS)[:1]
    table = pd.DataFrame({"item_id": ["a0", "a1"], "representation": [[0.0], [1.0]]})
    levels = pd.DataFrame({"item_id": ["a0", "a1"], "food": ["positive", "negative"], "noise": "unknown"})
    seen = represented_texts(table.assign(probability=[[0.9, 0.1], [0.2, 0.8]]), levels, CONCEPTS)
    unseen = represented_texts(table.assign(probability=[[0.9, 0.1], [0.8, 0.2]]), levels, CONCEPTS)
    assert seen.level.tolist() == [[1, 2], [0, 2]]
    label = ITEMS.set_index("item_id")["label"]
    [row] = effect_rows([seen, unseen], changes_of(listed, seen, CONCEPTS), label, CONCEPTS)
    assert (row["concept"], row["before"], row["after"], row["changes"]) == ("food", "positive", "negative", 1)
    assert (row["label_effect"], row["predicted_effect"], row["predicted_effect_sd"]) == (1, 0.5, 0.5)
    assert row["moved"] == pytest.approx(0.4)
    assert row["effect"] == pytest.approx([-0.4, 0.4])


STUDY = {
    "study": "concepts",
    "kind": "concepts",
    "datasets": {"reviews": {"reader": "cebab"}},
    "trainings": {"one": {"learning_rate": 0.01, "batch_size": 16, "epochs": 1}},
    "models": {"small": {"architecture": "one_layer_attention", "training": "one"}},
    "explainers": {"tcav": {"method": "tcav"}},
    "metrics": {"cosine": {"metric": "icace_error"}},
    "statistics": {"compare": {"price_tier": [["low", "med"]]}},
}


READY = {"ready": {"architecture": "trained", "source": "somebody/model"}}
DESCRIPTION = {"kind": "description", "explainers": {"grad": {"method": "saliency"}}}
DESCRIPTION |= {"metrics": {"gini": {"metric": "gini"}}}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kind": "strategies"}, "kind strategies says"),
        ({"explainers": {"grad": {"method": "saliency"}}}, "kind: concepts asks"),
        ({"metrics": {"gini": {"metric": "gini"}}}, 'found "gini",'),
        ({"datasets": {"demo": {"reader": "demo", "classes": "binary"}}}, "datasets.demo: no concept"),
        ({"statistics": {"compare": {"food": [["negative", "positive"]]}}}, "no dataset has"),
        (
            {"datasets": {"w": {"reader": "causal_simulation", "concept_counterfactuals": ["care"]}}, "statistics": {}}
            | {"explainers": {"pairs": {"method": "training_pairs"}}},
            "explainers.pairs: datasets.w has no edits",
        ),
        ({"explain": {"levels_by": "smal"}}, 'explain.levels_by: found "smal", no such model'),
        ({"explain": {"levels_by": "ready"}, "models": STUDY["models"] | READY}, 'found "ready", which'),
        ({"models": {"words": STUDY["models"]["small"]}}, "models.words: explain.levels_by means"),
        (DESCRIPTION | {"explain": {"levels_by": "small"}}, "explain.levels_by: no explainer asks"),
        ({"explainers": {"forget": {"method": "causalm", "training": "two"}}}, 'found "two", no such training'),
        (
            {"explainers": {"forget": {"method": "causalm"}}, "models": READY},
            "explainers.forget.training: models.ready has none",
        ),
    ],
)
def test_what_does_not_belong_to_concepts_is_refused(changed, message):
    assert configuration.complete(STUDY)["explainers"]["tcav"]["definition"] == "paper"
    with pytest.raises(InputError) as refused:
        configuration.complete(STUDY | changed)
    assert message in str(refused.value)


def test_the_page_has_the_printed_effects_beside_those_of_the_study():
    names = {"dataset": "reviews", "model": "small"}
    numbers = {"changes": 8, "seeds": 2, "mean": 0.5, "sd": 0.1, "low": 0.4, "high": 0.6}
    of_errors = {"explainer": "tcav", "concept": "all", "change": "all"}
    errors = pd.DataFrame([names | of_errors | numbers | {"metric": name} for name in ("l2", "order_faithfulness")])
    of_effects = {"concept": "food", "before": "negative", "after": "positive", "label_effect": 2.06, "moved": 0.3}
    predicted = {"predicted_effect": 1.2, "predicted_effect_sd": 0.1, "changes": 8, "seeds": 2, "effect": [0.1, -0.1]}
    about = {part: {name: name.title()} for part, name in (("datasets", "reviews"), ("models", "small"))}
    about |= {"explainers": {"tcav": "TCAV"}, "metrics": {"l2": {"label": "L2", "better": "lower"}}, "confidence": 0.95}
    effects = pd.DataFrame([names | of_effects | predicted])
    shown = page_of(
        "concepts", errors, effects, **about, published={"reviews": {"food: negative to positive": [1.84, 1.9]}}
    )
    _, of_study = shown.tables
    [[_, [[change, cells]]]] = of_study.rows
    assert change == says("food: negative", "positive")
    assert [cell.text for cell in cells] == ["8", "2.06", "1.20 ± 0.10", "0.300", "1.84", "1.90"]
    plain = page_of("concepts", errors, effects, **about, published={})
    assert [heading for heading, _ in plain.tables[1].columns] == ["Effect"]


def test_the_grid_has_every_error_where_it_belongs():
    """Two models and two numbers of classes, three explainers, two metrics; one was not run on one dataset."""
    names = {"datasets": ["five", "two"], "models": ["bert", "lstm"], "explainers": ["random", "inlp", "leace"]}
    rows = [
        {"dataset": dataset, "model": model, "explainer": explainer, "metric": metric, "concept": "all"}
        | {"change": change, "mean": value, "low": value - 0.01, "high": value + 0.02}
        for i, (dataset, model, explainer, metric) in enumerate(product(*names.values(), ["l2", "cosine"]))
        for change, value in (("all", i / 100), ("negative_to_positive", 9.0))
        if (dataset, explainer) != ("two", "inlp")
    ]
    shown = {part: {name: name.title() for name in values} for part, values in names.items()}
    metrics = {name: MetricLabel(name, name, False) for name in ("l2", "cosine")}
    figure = draw_concept_grid(pd.DataFrame(rows), **shown, metrics=metrics, title="Errors")
    expected = {(row["model"], row["dataset"], row["explainer"], row["metric"]): row for row in rows[::2]}
    assert len(figure.axes) == 4
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", *["mean over all changes"] * 2]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["Random", "Inlp", "Leace"]
    top, bottom = figure.axes[0].get_ylim()[::-1]
    assert top < bottom
    drawn = {}
    for axes in figure.axes:
        model, dataset = axes.get_title().lower().split(", ")
        for metric, bars in zip(metrics, axes.containers, strict=True):
            for x, y, line in zip(*bars[0].get_data(), bars[2][0].get_segments(), strict=True):
                drawn[model, dataset, names["explainers"][round(y)], metric] = (x, *line[:, 0])
    assert drawn.keys() == expected.keys()
    for place, values in drawn.items():
        assert values == pytest.approx([expected[place][column] for column in ("mean", "low", "high")])
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [metric.label_with_direction for metric in metrics.values()]
