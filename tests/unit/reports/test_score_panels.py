"""Box plots of all metrics of one model on one dataset."""

import numpy as np
import pandas as pd
import pytest

from evenlight.reports.plots.score_panels import draw_score_panels
from evenlight.reports.study_figures import grid_shape
from evenlight.statistics.comparisons.study import MetricLabel

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
