"""A whole study of concepts, in the simulation with known causes, and one that explains texts, too."""

import html
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from running import PROJECT, configure, copy_of_project, edited, metadata, planned_jobs, results, run_study
from test_archived_study import tool

from evenlight.datasets.readers.causal_simulation import CONCEPTS

WORDS = yaml.safe_load((PROJECT / "resources/causal_simulation/english.yaml").read_text())["concepts"]

STUDY = {
    "study": "simulation",
    "kind": "concepts",
    "seeds": [0],
    "device": "cpu",
    "datasets": {
        "simulation": {
            "reader": "causal_simulation",
            "training_pairs": 60,
            "test_pairs": 10,
            "training_forms": "observed",
            "concept_counterfactuals": ["care", "pace", "manner", "dress", "hobby"],
        }
    },
    "trainings": {"one_layer": {"learning_rate": 0.02, "batch_size": 16, "epochs": 8}},
    "models": {
        "ola_cea": {
            "architecture": "one_layer_attention",
            "hidden_size": 8,
            "tokenizer": {"vocabulary_size": 300},
            "training": "one_layer",
        }
    },
    "explainers": {
        "random": {"method": "random_effects"},
        "matched": {"method": "matched", "neighbours": 3},
        "s_learner": {"method": "s_learner", "calibrated": True},
        "leace": {"method": "leace"},
        "words": {
            "method": "summed_attributions",
            "explainer": {"method": "input_x_gradient"},
            "words": "causal_simulation",
            "texts": 5,
        },
        "own_words": {
            "method": "summed_attributions",
            "explainer": {"method": "input_x_gradient"},
            "lexicon": "own.yaml",
            "label": "Own words",
            "texts": 5,
        },
        "causalm": {"method": "causalm", "texts": 40, "epochs": 2},
    },
    "explain": {"levels_by": "ola_cea"},
    "metrics": {
        "cosine": {"metric": "icace_error", "label": "Cosine"},
        "l2": {"metric": "icace_error", "distance": "l2"},
    },
    "statistics": {
        "compare": {"concept": [["care", "dress"]], "gender": [["male", "female"]]},
        "bootstrap_draws": 100,
        "verdict_permutations": 1,
    },
    "figures": {"formats": ["svg"]},
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A project after the study."""
    project = copy_of_project(tmp_path_factory.mktemp("concepts") / "project", STUDY)
    words = {name: [word for level in levels for word in WORDS[name][level]] for name, levels in CONCEPTS.items()}
    (project / "own.yaml").write_text(yaml.safe_dump({"concepts": words}))
    run_study(project)
    return results(project)


def test_tables_and_figures_are_there(study):
    errors = pd.read_csv(study / "tables" / "concept_errors.csv")
    whole = errors[(errors["concept"] == "all") & (errors["change"] == "all")]
    assert set(whole["metric"]) == {"cosine", "l2", "order_faithfulness"}
    assert set(whole["explainer"]) == set(STUDY["explainers"])
    # Ten units, two forms of each, five concepts: a change in either direction.
    assert set(whole.loc[whole["metric"] == "l2", "changes"]) == {200}
    effects = pd.read_csv(study / "tables" / "effects.csv")
    assert len(effects) == 2 * len(STUDY["explainers"]) * len(STUDY["metrics"])
    assert (study / "figures" / "concept_grid.svg").is_file()
    page = (study / "tables" / "concepts.html").read_text(encoding="utf-8")
    assert "like the model 'ola_cea'" in html.unescape(page)
    assert "forget it: care" in page


def test_the_levels_are_those_that_the_networks_tell(study):
    """One network for each concept, whatever the seeds; explainers get what they told of the test texts."""
    changes = study / "changes" / "simulation"
    labels = pd.read_parquet(changes / "labels.parquet").set_index("item_id")
    assert {path.stem for path in (changes / "levels").iterdir()} == set(CONCEPTS) == set(labels.columns)
    items = pd.read_parquet(study / "datasets/simulation/items.parquet").set_index("item_id")
    assert set(labels.index) == set(items.index[items["split"] == "test"])
    shares = {}
    for concept in CONCEPTS:
        told = pd.read_parquet(changes / "levels" / f"{concept}.parquet").set_index("item_id")["level"]
        assert labels[concept].equals(told.rename(concept))
        shares[concept] = (told == items.loc[told.index, f"attribute.{concept}"]).mean()
    [said] = [
        line
        for line in html.unescape((study / "tables/concepts.html").read_text("utf-8")).split("<")
        if "networks like the" in line
    ]
    for concept, share in shares.items():
        assert f"{concept} {share:.1%} of {len(labels)} " in said


def test_words_take_the_place_of_the_networks(study, copy_of):
    """Everything else of the study stays, but for the estimates and what is made of them; they serve all seeds."""
    project = copy_of(study.parents[1])
    configure(project, edited(STUDY, "seeds", value=[0, 1]))
    rules = {rule for rule, _ in planned_jobs(project)}
    assert {"train", "forget_concept"} <= rules
    assert "predict_levels" not in rules
    configure(project, edited(STUDY, "explain", "levels_by", value="words"))
    rules = {rule for rule, _ in planned_jobs(project)}
    assert {"label_concepts", "estimate_changes"} <= rules
    assert not rules & {"predict_levels", "train", "represent_texts", "attribute_changes", "forget_concept"}
    run_study(project, "results/simulation/changes/simulation/labels.parquet")
    said = (project / "logs/simulation/label_concepts/simulation.log").read_text(encoding="utf-8")
    assert "right for care" in said


def test_the_errors_are_those_of_the_effects(study):
    """By hand, from the tables of one run."""
    run = "simulation/ola_cea/seed0"
    changes = pd.read_parquet(study / "changes/simulation/changes.parquet").set_index("change_id")
    table = pd.read_parquet(study / f"representations/{run}.parquet").set_index("item_id")
    effects = pd.read_parquet(study / f"concept_effects/{run}/s_learner.parquet").set_index("change_id")
    scores = pd.read_parquet(study / f"scores/{run}/concepts/s_learner.parquet").set_index("item_id")
    for name, change in changes.iloc[::37].iterrows():
        true = table.loc[change["edit"], "probability"] - table.loc[change["base"], "probability"]
        distance = np.linalg.norm(true - effects.loc[name, "effect"])
        assert scores.loc[name, "l2"] == pytest.approx(distance, abs=2e-4)


def test_summed_attributions_are_those_of_the_words(study):
    """By hand, from the attributions of one run; two explainers that sum up the same share them."""
    run = "simulation/ola_cea/seed0"
    [path] = (study / f"word_attributions/{run}").iterdir()
    scored = pd.read_parquet(path).set_index(["item_id", "class"])["word_score"]
    items = pd.read_parquet(study / "datasets/simulation/items.parquet").set_index("item_id")
    table = pd.read_parquet(study / f"representations/{run}.parquet").set_index("item_id")
    changes = pd.read_parquet(study / "changes/simulation/changes.parquet")
    effects = pd.read_parquet(study / f"concept_effects/{run}/words.parquet").set_index("change_id")["effect"]

    def added(item: str, level: str) -> np.ndarray:
        is_there = [word.strip(".").lower() in WORDS["care"][level] for word in items.loc[item, "words"]]
        assert any(is_there)
        return np.array([scored[item, label][is_there].sum() for label in range(2)])

    differences = {}
    for change in changes[changes["concept"] == "care"].iloc[::9].itertuples():
        before = table.loc[change.base, "probability"]
        # What training texts at the new level add on average is the same for all changes to it.
        shift = np.log(before + effects[change.change_id]) - np.log(before) + added(change.base, change.before)
        differences.setdefault(change.after, []).append(shift[1] - shift[0])
    for values in differences.values():
        assert values == pytest.approx([values[0]] * len(values), abs=1e-9)
    others = [pd.read_parquet(study / f"concept_effects/{run}/{name}.parquet") for name in ("words", "own_words")]
    assert np.stack(others[0]["effect"]) == pytest.approx(np.stack(others[1]["effect"]))
    page = (study / "tables" / "concepts.html").read_text(encoding="utf-8")
    assert "attributed texts: care 100%" in page


def test_the_estimate_is_the_answer_of_the_network_that_forgot_the_concept(study):
    run = "simulation/ola_cea/seed0"
    changes = pd.read_parquet(study / "changes/simulation/changes.parquet").set_index("change_id")
    table = pd.read_parquet(study / f"representations/{run}.parquet").set_index("item_id")
    effects = pd.read_parquet(study / f"concept_effects/{run}/causalm.parquet").set_index("change_id")["effect"]
    for concept in ("care", "hobby"):
        forgot = pd.read_parquet(study / f"counterfactuals/{run}/causalm/{concept}.parquet").set_index("item_id")
        bases = changes.loc[effects.index].query("concept == @concept")["base"]
        assert set(forgot.index) == set(bases)
        for change, base in bases.items():
            said = forgot.loc[base, "probability"] - table.loc[base, "probability"]
            assert effects[change] == pytest.approx(said, abs=1e-9)
        assert np.abs(np.stack(effects[bases.index])).max() > 1e-3


@pytest.mark.slow
def test_a_figure_is_drawn_from_the_archive_of_the_study(study, archive_python, tmp_path):
    """In a clone that has none of the study's own files: no text, no weights, and not the words of its own lexicon."""
    packed = tmp_path / "simulation.zip"
    named = ("--study", "simulation", "--output", str(packed), "--without", "models")
    done = tool(study.parents[1], "archive_study", *named, python=archive_python)
    assert done.returncode == 0, done.stderr
    clone = copy_of_project(tmp_path / "clone")
    for flags in (("--check",), ()):
        assert results_there(clone) == []
        done = tool(clone, "unpack_study", str(packed), *flags)
        assert done.returncode == 0, done.stderr
    (clone / "study.yaml").write_bytes((clone / "results/simulation/study.yaml").read_bytes())
    assert planned_jobs(clone) == set()
    figure = clone / "results/simulation/figures/concept_grid.svg"
    before = figure.read_bytes()
    figure.unlink()
    assert planned_jobs(clone) == {("draw_concept_grid", frozenset())}
    run_study(clone, "results/simulation/figures/concept_grid.svg")
    assert figure.read_bytes() == before
    # A packed text that somebody changed is found out.
    damaged = bytearray(packed.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    packed.write_bytes(damaged)
    assert tool(clone, "unpack_study", str(packed), "--check").returncode == 1


def results_there(project: Path) -> list[Path]:
    return [path for path in project.glob("results/*") if path.is_dir()]


# Beside explanations of texts ------------------------------------------------------------------------------------

TOKENS, EFFECTS = {"lime", "uniform"}, {"random", "leace"}
MIXED = STUDY | {
    "kind": "disparity",
    "explainers": {
        "lime": {"method": "lime", "samples": 20},
        "uniform": {"method": "uniform_random"},
        **{name: STUDY["explainers"][name] for name in ("random", "leace")},
    },
    "metrics": {
        "comprehensiveness": {"metric": "aopc_comprehensiveness"},
        "gini": {"metric": "gini"},
        "l2": STUDY["metrics"]["l2"],
    },
    "statistics": STUDY["statistics"] | {"control_draws": 20},
}


@pytest.fixture(scope="module")
def mixed(study, tmp_path_factory):
    """A project after a study of both and its audit, which goes on from the study of concepts."""
    project = Path(shutil.copytree(study.parents[1], tmp_path_factory.mktemp("mixed") / "project"))
    configure(project, MIXED)
    for part in ("tables", "figures"):
        shutil.rmtree(results(project) / part)
    run_study(project, "all", "audit")
    return project


def test_metrics_score_the_explanations_that_they_are_about(mixed):
    cells = pd.read_csv(results(mixed) / "tables" / "effects.csv")
    of_effects = cells["metric"] == "l2"
    assert set(cells.loc[of_effects, "explainer"]) == EFFECTS
    assert set(cells.loc[~of_effects, "explainer"]) == TOKENS
    # A text has no concept that changes; both have the people's gender.
    assert set(cells.loc[~of_effects, "factor"]) == {"gender"}
    assert set(cells.loc[of_effects, "factor"]) == {"concept", "gender"}
    assert len(cells) == 2 * 2 * 1 + 2 * 1 * 2


def test_effects_have_the_numbers_that_they_have_without_attributions(mixed, study):
    """Cell by cell; what is adjusted knows of all cells."""
    keys = ["explainer", "metric", "factor", "level_a", "level_b"]
    beside, alone = (pd.read_parquet(of / "tables/effects.parquet").set_index(keys) for of in (results(mixed), study))
    cells = beside.index[beside.index.get_level_values("metric") == "l2"]
    assert len(cells) == 4
    columns = ["difference", "cohens_d", "sd", "p"]
    pd.testing.assert_frame_equal(beside.loc[cells, columns], alone.loc[cells, columns], rtol=1e-6)
    keys = ["explainer", "metric", "concept", "change"]
    errors = [pd.read_parquet(of / "tables/concept_errors.parquet") for of in (results(mixed), study)]
    beside, alone = (table.set_index(keys).sort_index() for table in errors)
    pd.testing.assert_frame_equal(beside, alone.loc[beside.index], rtol=1e-6)


def test_pages_show_both(mixed):
    pages = {path.name for path in (results(mixed) / "tables").glob("*.html")}
    assert {"effects.html", "scores.html", "concepts.html"} <= pages
    scores = pd.read_csv(results(mixed) / "tables" / "scores.csv")
    assert set(scores.loc[scores["metric"] == "l2", "group"]) == {*CONCEPTS, "male", "female"}
    assert set(scores.loc[scores["metric"] == "gini", "group"]) == {"male", "female"}
    audit = (results(mixed) / "audit.json").read_text(encoding="utf-8")
    # It is about texts, and says of what it is not.
    assert "4 comparisons of other explanations: tables/effects.html" in audit
    assert "leace" not in audit
    # So is the control, whose labels texts and changes do not share.
    left_out = "'random', 'leace'"
    for table in ("control", "covariate_adjusted"):
        assert left_out in str(metadata(results(mixed) / f"tables/{table}.parquet")["notes"]), table


def test_the_figure_of_scores_has_explainers_beside_the_metrics_that_are_about_them_alone(mixed):
    drawn = (results(mixed) / "figures" / "panels" / "simulation" / "ola_cea.svg").read_text(encoding="utf-8")
    assert all(f">{name}<" in drawn for name in TOKENS | EFFECTS)
    assert "undefined" not in drawn


def test_where_changes_alone_are_compared_no_control_of_texts_is_drawn(tmp_path):
    statistics = MIXED["statistics"] | {"compare": {"concept": [["care", "dress"]]}}
    project = copy_of_project(tmp_path / "project", MIXED | {"statistics": statistics})
    planned = {rule for rule, _ in planned_jobs(project)}
    assert "draw_effects" in planned
    assert "draw_control" not in planned
