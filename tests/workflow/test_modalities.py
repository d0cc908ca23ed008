"""One study that explains texts and changes of concepts, side by side."""

import html

import pandas as pd
import pytest
from running import copy_of_project, planned_jobs, results, run_study, snakemake
from test_concepts_study import STUDY as CONCEPTS_STUDY

from evenlight.datasets.readers.causal_world import CONCEPTS

TOKENS, EFFECTS = {"lime", "uniform"}, {"random", "leace"}
STUDY = CONCEPTS_STUDY | {
    "study": "mixed",
    "kind": "disparity",
    "seeds": [0],
    "explainers": {
        "lime": {"method": "lime", "samples": 20},
        "uniform": {"method": "uniform_random"},
        "random": {"method": "random_effects"},
        "leace": {"method": "leace"},
    },
    "metrics": {
        "comprehensiveness": {"metric": "aopc_comprehensiveness"},
        "gini": {"metric": "gini"},
        "l2": {"metric": "icace_error", "distance": "l2"},
    },
    "explain": {},
    "statistics": {
        "compare": {"concept": [["care", "dress"]], "gender": [["male", "female"]]},
        "bootstrap_draws": 100,
        "verdict_permutations": 1,
        "control_draws": 20,
    },
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project after the study, its page and its audit."""
    project = copy_of_project(tmp_path_factory.mktemp("mixed") / "project", STUDY)
    run_study(project, "all", "audit")
    return project


def test_metrics_score_the_explanations_that_they_are_about(project):
    cells = pd.read_csv(results(project) / "tables" / "effects.csv")
    of_effects = cells["metric"] == "l2"
    assert set(cells.loc[of_effects, "explainer"]) == EFFECTS
    assert set(cells.loc[~of_effects, "explainer"]) == TOKENS
    # A text has no concept that changes; both have the people's gender.
    assert set(cells.loc[~of_effects, "factor"]) == {"gender"}
    assert set(cells.loc[of_effects, "factor"]) == {"concept", "gender"}
    assert len(cells) == 2 * 2 * 1 + 2 * 1 * 2


def test_each_modality_has_the_numbers_of_a_study_of_its_own(project, tmp_path):
    """A study of concepts alone finds the same effects, cell by cell; what is adjusted knows of all cells."""
    alone = STUDY | {
        "kind": "concepts",
        "explainers": {name: STUDY["explainers"][name] for name in ("random", "leace")},
        "metrics": {"l2": STUDY["metrics"]["l2"]},
    }
    other = copy_of_project(tmp_path / "project", alone)
    run_study(other, *(f"results/mixed/tables/{name}.parquet" for name in ("effects", "concept_errors")))
    keys = ["explainer", "metric", "factor", "level_a", "level_b"]
    both = [pd.read_parquet(results(each) / "tables/effects.parquet").set_index(keys) for each in (project, other)]
    columns = ["difference", "cohens_d", "sd", "p"]
    mixed = both[0].loc[both[1].index, columns]
    pd.testing.assert_frame_equal(mixed, both[1][columns], rtol=1e-6)
    errors = [pd.read_parquet(results(each) / "tables/concept_errors.parquet") for each in (project, other)]
    pd.testing.assert_frame_equal(*errors, rtol=1e-6)


def test_pages_show_both(project):
    pages = {path.name for path in (results(project) / "tables").glob("*.html")}
    assert {"effects.html", "scores.html", "concepts.html"} <= pages
    scores = pd.read_csv(results(project) / "tables" / "scores.csv")
    assert set(scores.loc[scores["metric"] == "l2", "group"]) == {*CONCEPTS, "male", "female"}
    assert set(scores.loc[scores["metric"] == "gini", "group"]) == {"male", "female"}
    audit = (results(project) / "audit.json").read_text(encoding="utf-8")
    # It is about texts, and says of what it is not.
    assert "4 comparisons of other explanations: tables/effects.html" in audit
    assert "leace" not in audit
    # So is the control, whose labels texts and changes do not share.
    left_out = "'random', 'leace'"
    for page in ("control", "covariate_adjusted"):
        said = html.unescape((results(project) / f"tables/{page}.html").read_text(encoding="utf-8"))
        assert left_out in said, page


def test_a_figure_of_scores_has_the_explainers_that_its_metric_is_about(project):
    figures = results(project) / "figures" / "scores" / "world" / "ola_cea"
    for metric, others in (("gini", EFFECTS), ("l2", TOKENS)):
        drawn = (figures / f"{metric}.svg").read_text(encoding="utf-8")
        assert not [name for name in others if f">{name}<" in drawn]
        assert all(f">{name}<" in drawn for name in (TOKENS | EFFECTS) - others)


def test_where_changes_alone_are_compared_no_control_of_texts_is_drawn(tmp_path):
    statistics = STUDY["statistics"] | {"compare": {"concept": [["care", "dress"]]}}
    project = copy_of_project(tmp_path / "project", STUDY | {"statistics": statistics})
    planned = {rule for rule, _ in planned_jobs(project)}
    assert "draw_effects" in planned
    assert "draw_control" not in planned


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metrics": {"gini": {"metric": "gini"}}}, 'explainers.leace.method: found "leace"'),
        ({"explainers": {"leace": {"method": "leace"}}}, 'metrics.gini.metric: found "gini"'),
        ({"kind": "regimes"}, "kind regimes says"),
        (
            {
                "kind": "concepts",
                "explainers": {"uniform": {"method": "uniform_random"}},
                "metrics": {"gini": {"metric": "gini"}},
            },
            "no explainer explains",
        ),
    ],
)
def test_what_nobody_scores_or_explains_is_refused(tmp_path, changes, said):
    project = copy_of_project(tmp_path / "project", STUDY | changes)
    done = snakemake(project, "-n")
    assert done.returncode
    assert said in done.stdout
