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
from rendering import COMPARED, shown
from study_files import StudyFiles, called

from evenlight.core import tables
from evenlight.core.contracts.results import WORD_ASSOCIATIONS
from evenlight.core.errors import InputError
from evenlight.reports.plots.associations import draw_associations
from evenlight.reports.plots.score_panels import draw_score_panels
from evenlight.reports.style import draw
from evenlight.statistics.analyses.summary import grouped_scores
from evenlight.statistics.comparisons.study import MetricLabel

SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"
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


def words():
    """A figure whose layout is found at once, so that a second format is that of the figure alone."""
    of_word = {"class": "yes", "correlation": 0.5, "marked": 1, "unmarked": 0}
    return draw_associations(pd.DataFrame([of_word | {"word": word} for word in GROUPS]), "Words")


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


def test_one_figure_goes_to_several_files(tmp_path):
    together = [tmp_path / "together.svg", tmp_path / "together.pdf"]
    draw(together, words, "Title")
    for path in together:
        alone = tmp_path / f"alone{path.suffix}"
        draw([alone], words, "Title")
        assert path.read_bytes() == alone.read_bytes()


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


def test_boxes_stand_in_order_and_hold_the_quartiles():
    figure = score_boxes(["male", "female"])
    boxes = list(figure.axes[0].patches)
    assert len(boxes) == 7 * 2  # the eighth explainer is undefined
    values = scores(["male", "female"]).query("explainer == 'explainer0' and group == 'male'")["gini"]
    edges = boxes[0].get_path().vertices[:, 1]
    assert (edges.min(), edges.max()) == pytest.approx(tuple(np.percentile(values, [25, 75])))


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


def test_scores_of_all_seeds_are_pooled(score_files):
    names = {"datasets": ["plots"], "models": {"small": SCORED["seeds"]}, "factors": SCORED["factors"]}
    metrics = {"gini": "complexity"}
    table = called(grouped_scores, *score_files.folders, **names, explainers=list(EXPLAINERS), metrics=metrics)
    assert len(table) == 2 * len(scores())


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
