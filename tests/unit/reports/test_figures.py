"""The figures: what they show, and that drawing them again gives the same bytes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from commands import run_command
from disparity_rows import disparity_rows
from rendering import COMPARED, shown
from study_files import StudyFiles

from evenlight.core import tables
from evenlight.core.contracts.results import WORD_ASSOCIATIONS
from evenlight.core.errors import InputError
from evenlight.reports.page_parts import BETTER_COLOURS
from evenlight.reports.plots.disparity import draw_disparity
from evenlight.reports.plots.score_panels import draw_score_panels
from evenlight.reports.style import draw
from evenlight.statistics.analyses.summary import summarise_disparity
from evenlight.statistics.comparisons.study import MetricLabel

SCRIPTS = Path(__file__).parents[3] / "workflow" / "scripts"
GROUPS = ["male", "female", "neutral", "unknown"]
EXPLAINERS = {f"explainer{n}": f"Explainer no. {n}" for n in range(8)}
GINI = MetricLabel("gini", "Gini index", higher_is_better=True)
SETTINGS = {
    "datasets": {"plots": {"label": "Plots"}},
    "models": {"small": {"label": "Small"}, "large": {"label": "Large"}},
    "seeds": [0, 1],
    "explainers": {name: {"label": label} for name, label in EXPLAINERS.items()},
    "metrics": {
        "gini": {"label": "Gini index", "better": "higher", "family": "complexity"},
        "sparsity": {"label": "Sparsity", "better": "lower", "family": "complexity"},
    },
    "statistics": {"groups": [["male", "female"]], "alpha": 0.05, "considerable_effect": 0.2},
}


def scores(groups: list[str] = GROUPS) -> pd.DataFrame:
    """Eight scores per explainer and group; those of the last explainer are undefined."""
    random = np.random.default_rng(0)
    rows = [
        {"item_id": f"{n}-{group}", "pair_id": str(n), "group": group, "explainer": explainer, "gini": random.random()}
        for explainer in EXPLAINERS
        for group in groups
        for n in range(8)
    ]
    table = pd.DataFrame(rows)
    table.loc[table["explainer"] == "explainer7", "gini"] = np.nan
    return table


def score_boxes(groups: list[str] = GROUPS):
    table = scores(groups).rename(columns={"gini": "score"}).assign(metric="gini")
    return draw_score_panels(table, {"gini": GINI}, EXPLAINERS, groups, "Small on Plots")


def disparity() -> pd.DataFrame:
    """d = 0.3 in both seeds of each comparison, significant in both seeds of gini and in one of sparsity."""
    rows = [
        {
            "dataset": "plots", "model": model, "seed": seed, "explainer": explainer, "metric": metric,
            "p": 0.01 if metric == "gini" or seed == 0 else 0.5, "cohens_d": 0.3 if metric == "gini" else -1.7,
        }
        for model in SETTINGS["models"]
        for seed in (0, 1)
        for explainer in EXPLAINERS
        for metric in SETTINGS["metrics"]
    ]  # fmt: skip
    return disparity_rows(rows)


METRICS = {"gini": GINI, "sparsity": MetricLabel("sparsity", "Sparsity", higher_is_better=False)}


def summarised(table: pd.DataFrame) -> pd.DataFrame:
    return summarise_disparity(
        table, higher_is_better={"gini": True, "sparsity": False}, alpha=0.05, considerable_effect=0.2
    )


def disparity_map():
    models = {name: entry["label"] for name, entry in SETTINGS["models"].items()}
    return draw_disparity(summarised(disparity()), models, EXPLAINERS, METRICS, 0.2, "Disparity")


def texts(path: Path) -> list[str]:
    return [element.text for element in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_drawing_again_gives_the_same_bytes(tmp_path, suffix):
    paths = [tmp_path / f"{n}.{suffix}" for n in (1, 2)]
    for path in paths:
        draw([path], score_boxes, "Title")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].stat().st_size > 1000
    # Both may have been drawn within the second that a date of drawing would show.
    assert b"Date" not in paths[0].read_bytes()


def test_own_settings_of_matplotlib_change_nothing(tmp_path):
    import matplotlib

    draw([tmp_path / "plain.svg"], score_boxes, "Title")
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        draw([tmp_path / "own.svg"], score_boxes, "Title")
        assert matplotlib.rcParams["font.size"] == 30  # and are left as they were
    assert (tmp_path / "plain.svg").read_bytes() == (tmp_path / "own.svg").read_bytes()
    # Text is text.
    shown = texts(tmp_path / "own.svg")
    assert {*GROUPS, *EXPLAINERS.values(), "Gini index\N{NO-BREAK SPACE}↑"} <= set(shown)
    assert shown.count("undefined") == 1
    with pytest.raises(InputError, match=r"\.svg, \.pdf or \.png"):
        draw([tmp_path / "figure.jpg"], score_boxes, "Title")


def test_map_shows_every_number_and_outlines_what_is_significant_in_most_seeds():
    axes = disparity_map().axes[0]
    numbers = [text.get_text() for text in axes.texts]
    assert numbers == ["0.30", "−1.70"] * 16
    assert {text.get_fontweight() for text in axes.texts} == {"bold"}
    outlines = [patch for patch in axes.patches if patch.get_facecolor()[3] == 0]
    # One of two seeds is no majority: only gini, the left column, is outlined.
    assert len(outlines) == 16
    assert {round(patch.get_x()) for patch in outlines} == {0}


def test_map_marks_what_was_not_tested():
    table = disparity()
    table = table[~((table["metric"] == "sparsity") & (table["explainer"] == "explainer3"))]
    figure = draw_disparity(summarised(table), {"small": "Small"}, EXPLAINERS, METRICS, 0.2, "")
    assert [text.get_text() for text in figure.axes[0].texts].count("–") == 1


def test_every_pair_of_groups_has_its_panel():
    summary = summarised(pd.concat([disparity(), disparity().assign(level_b="neutral")]))
    figure = draw_disparity(summary, {"small": "Small"}, EXPLAINERS, {"gini": GINI}, 0.2, "")
    labels = [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()]
    assert labels == [f"Cohen's d\n{group} better ← 0 → male better" for group in ("female", "neutral")]


def test_map_and_table_have_one_colour_for_the_group_with_better_explanations():
    """Of a metric whose lower scores are better, a d below 0 is in favour of the first group."""
    summary = summarised(disparity().assign(cohens_d=-1.0, cliffs_delta=-0.5))
    axes = draw_disparity(summary, {"small": "Small"}, EXPLAINERS, METRICS, 0.2, "").axes[0]
    colours = {
        round(patch.get_x() + 0.5): patch.get_facecolor()[:3] for patch in axes.patches if patch.get_facecolor()[3]
    }
    by_group = dict(zip(("male", "female"), (tuple(part / 255 for part in rgb) for rgb in BETTER_COLOURS), strict=True))
    better = summary.drop_duplicates("metric").set_index("metric")["better_group"]
    assert better.to_dict() == {"gini": "female", "sparsity": "male"}
    for place, metric in enumerate(METRICS):
        assert colours[place] == pytest.approx(by_group[better[metric]], abs=0.01)


# The scripts


@pytest.fixture
def score_files(tmp_path) -> StudyFiles:
    files = StudyFiles(tmp_path)
    for seed in (0, 1):
        files.write(scores(), seed)
    return files


SCORED = {"seeds": [0, 1], "factors": ["gender"]}
ONE_MODEL = SETTINGS | {"models": {"small": SETTINGS["models"]["small"]}}
BOXES = shown(ONE_MODEL, *COMPARED, **SCORED, families={"gini": "complexity"}, levels=["male", "female"], modalities={})


def run_script(name: str, settings: dict, *arguments, hash_seed: str = "") -> subprocess.CompletedProcess:
    command = [sys.executable, SCRIPTS / name, "--settings", json.dumps(settings), *arguments]
    if not hash_seed:
        return run_command(*command[1:])
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": hash_seed})


def test_boxes_are_the_same_in_every_process_and_a_missing_seed_is_refused(score_files, tmp_path):
    flags = ("--scores", score_files.scores, "--datasets", score_files.datasets, "--output")
    for seed in ("1", "2"):
        done = run_script("figures/draw_score_panels.py", BOXES, *flags, tmp_path / f"{seed}.svg", hash_seed=seed)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "1.svg").read_bytes() == (tmp_path / "2.svg").read_bytes()
    assert "Small on Plots" in texts(tmp_path / "1.svg")
    missing = next((score_files.scores / "plots" / "small" / "seed1" / "complexity").iterdir())
    missing.unlink()
    done = run_script("figures/draw_score_panels.py", BOXES, *flags, tmp_path / "x.svg")
    assert done.stderr.startswith(f"error: {missing}: no such file;")


def test_a_figure_of_one_dataset_is_drawn_of_its_rows(tmp_path):
    path, row = tmp_path / "words.parquet", {"class": "yes", "texts": 9, "marked": 5, "unmarked": 1, "z": 1.0, "p": 0.5}
    words = pd.DataFrame({"dataset": ["plots", "other"], "word": ["she", "he"], "correlation": [0.5, -0.5]})
    tables.write_table(words.assign(**row), path, WORD_ASSOCIATIONS)
    shared = ["--figure", "associations", "--table", path, "--output", tmp_path / "words.svg"]
    done = run_script("figures/draw.py", {"dataset": "Plots"}, *shared, "--dataset", "plots")
    assert done.returncode == 0, done.stderr
    assert {"she", "Words that are associated with a class on Plots"} <= (drawn := set(texts(tmp_path / "words.svg")))
    assert "he" not in drawn
    done = run_script("figures/draw.py", {"dataset": "Films"}, *shared, "--dataset", "films")
    assert done.stderr.startswith(f"error: {path}: column 'dataset' has no 'films'")
