"""Box plots of all metrics of one model on one dataset."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import run_command
from rendering import COMPARED, shown
from study_files import StudyFiles

from evenlight.reports.plots.score_panels import draw_score_panels
from evenlight.reports.study_figures import grid_shape
from evenlight.statistics.comparisons.study import MetricLabel

SCRIPT = Path(__file__).parents[3] / "workflow" / "scripts" / "figures/draw_score_panels.py"
GROUPS = ["male", "female"]
EXPLAINERS = {"ig": "Mean path gradient", "igxi": "Integrated Gradients", "lime": "LIME", "shap": "Partition SHAP"}


def some_metrics(count: int) -> dict[str, MetricLabel]:
    return {
        f"metric{n}": MetricLabel(f"metric{n}", f"Metric no. {n}", higher_is_better=n % 2 == 0) for n in range(count)
    }


def scores(metrics, groups=GROUPS, explainers=EXPLAINERS) -> pd.DataFrame:
    """Nine scores per explainer, group and metric; the last metric is undefined for the last explainer."""
    random = np.random.default_rng(0)
    rows = [
        {"explainer": explainer, "group": group, "metric": metric, "score": score}
        for explainer in explainers
        for group in groups
        for metric in metrics
        for score in random.random(9)
    ]
    table = pd.DataFrame(rows)
    last = (table["explainer"] == list(explainers)[-1]) & (table["metric"] == list(metrics)[-1])
    table.loc[last, "score"] = np.nan
    return table


def panels(count: int, groups=GROUPS, explainers=EXPLAINERS):
    metrics = some_metrics(count)
    return draw_score_panels(scores(metrics, groups, explainers), metrics, explainers, groups, "Small on Plots")


def boxes(axes):
    return [patch.get_path().vertices[:, 1] for patch in axes.patches]


def test_every_metric_has_a_panel_with_its_own_boxes():
    figure = panels(3)
    assert [axes.get_title() for axes in figure.axes] == ["Metric no. 0\xa0↑", "Metric no. 1\xa0↓", "Metric no. 2\xa0↑"]
    assert [len(boxes(axes)) for axes in figure.axes] == [8, 8, 6]
    assert [text.get_text() for text in figure.axes[2].texts] == ["undefined"]
    # The second explainer's second group is the fourth box.
    table = scores(some_metrics(3)).query("explainer == 'igxi' and group == 'female' and metric == 'metric1'")
    drawn = boxes(figure.axes[1])[3]
    assert (drawn.min(), drawn.max()) == pytest.approx(tuple(np.percentile(table["score"], [25, 75])))


def test_explainers_are_named_below_the_last_row_and_groups_once():
    figure = panels(7)
    named = [bool(axes.get_xticklabels()[0].get_text()) for axes in figure.axes]
    assert named == [False] * 3 + [True] * 4  # the shorter row stands above
    assert [text.get_text() for text in figure.legends[0].get_texts()] == GROUPS


@pytest.mark.parametrize(
    ("count", "most_columns", "shape"),
    [(1, 4, (1, 1)), (4, 4, (1, 4)), (5, 4, (2, 3)), (13, 4, (4, 4)), (3, 1, (3, 1))],
)
def test_grid_is_no_wider_than_its_rows_need(count, most_columns, shape):
    assert grid_shape(count, most_columns) == shape


SETTINGS = {
    "datasets": ["plots"],
    "models": ["small"],
    "explainers": {"ig": {"label": "IG"}, "shap": {"label": "SHAP"}},
    "metrics": {
        "gini": {"label": "Gini", "better": "higher", "family": "complexity"},
        "soft": {"label": "Soft sufficiency", "better": "higher", "family": "soft"},
    },
    "seeds": [0, 1],
    "statistics": {"groups": [["male", "female"]]},
}
FAMILIES = {name: entry["family"] for name, entry in SETTINGS["metrics"].items()}
NAMES = {"seeds": [0, 1], "families": FAMILIES, "factors": ["gender"], "levels": ["male", "female"], "modalities": {}}
SHOWN = shown(SETTINGS, *COMPARED, **NAMES)


@pytest.fixture
def score_files(tmp_path) -> StudyFiles:
    rows = [
        {"item_id": f"{n}-{group}", "pair_id": str(n), "group": group, "explainer": explainer, "score": n / 7}
        for explainer in SETTINGS["explainers"]
        for group in GROUPS
        for n in range(5)
    ]
    table = pd.DataFrame(rows)
    files = StudyFiles(tmp_path)
    for seed in SETTINGS["seeds"]:
        for metric, family in FAMILIES.items():
            # A column of another kind, as metrics that draw at random have it, is no metric.
            files.write(table.rename(columns={"score": metric}).assign(soft_standard_error=0.1), seed, family)
    return files


def run_script(*arguments) -> subprocess.CompletedProcess:
    return run_command(SCRIPT, "--settings", json.dumps(SHOWN), *arguments)


def test_script_reads_all_families_and_seeds(score_files, tmp_path):
    folders = ("--scores", score_files.scores, "--datasets", score_files.datasets)
    done = run_script(*folders, "--output", tmp_path / "panels.svg", tmp_path / "panels.pdf")
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "panels.svg").read_text()
    assert all(text in drawn for text in ("small on plots", "Gini\xa0↑", "Soft sufficiency\xa0↑", ">SHAP<"))
