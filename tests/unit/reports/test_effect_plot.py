"""Bars of wins, ties and losses, and the verdicts behind them."""

import numpy as np
import pandas as pd
import pytest

from evenlight.reports.plots.effects import COLOURS, TIES, draw_effects
from evenlight.statistics.comparisons.study import MetricLabel

MODELS = {"small": "Small", "large": "Large"}
EXPLAINERS = {"ig": "Integrated Gradients", "lime": "LIME"}
METRICS = {
    "gini": MetricLabel("gini", "Gini", higher_is_better=True),
    "sparsity": MetricLabel("sparsity", "Sparsity", higher_is_better=False),
}
# Per row (model, explainer): wins, losses and ties, the verdict, its side, and whether the mean points elsewhere.
CELLS = [
    (22, 2, 1, "male more often", 1, False),
    (3, 21, 0, "female more often", -1, True),
    (0, 0, 25, "as often", 0, False),
    (6, 6, 8, "undecided", 0, False),
]
ROWS = [(model, explainer) for model in MODELS for explainer in EXPLAINERS]


def effects(cells=CELLS, metrics=tuple(METRICS)) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                **{"dataset": "plots", "model": model, "explainer": explainer, "metric": metric},
                **{"factor": "gender", "level_a": "male", "level_b": "female"},
                **{"wins": wins, "losses": losses, "ties": ties, "verdict": verdict, "side": side, "apart": apart},
                **{"net_benefit": 0.25, "net_benefit_low": -0.5, "net_benefit_high": 1.0},
            }
            for metric in metrics
            for (model, explainer), (wins, losses, ties, verdict, side, apart) in zip(ROWS, cells, strict=True)
        ]
    )


def drawn(table=None, metrics=METRICS):
    return draw_effects(effects() if table is None else table, MODELS, EXPLAINERS, metrics, 0.95, "Effects")


def lengths(axes) -> dict[str, list[tuple[float, float]]]:
    """From where to where each bar goes, by its colour, row by row."""
    names = dict(zip([*COLOURS, TIES], ("wins", "losses", "ties"), strict=True))
    found = {name: [] for name in names.values()}
    for bar in axes.patches:
        colour = next(name for key, name in names.items() if np.allclose(bar.get_facecolor()[:3], _rgb(key)))
        found[colour].append((bar.get_y() + bar.get_height() / 2, bar.get_x(), bar.get_x() + bar.get_width()))
    return found


def _rgb(colour):
    return colour if isinstance(colour, tuple) else tuple(int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))


def test_bars_stand_where_the_counts_are():
    figure = drawn()
    assert [axes.get_title() for axes in figure.axes] == ["Gini\xa0↑", "Sparsity\xa0↓"]
    for axes in figure.axes:
        bars = lengths(axes)
        # Half of the ties on each side: wins go to the right of them, losses to the left.
        assert bars["wins"][0] == pytest.approx((0, 2, 90))
        assert bars["ties"][0] == pytest.approx((0, -2, 2))
        assert bars["losses"][0] == pytest.approx((0, -10, -2))
        assert bars["losses"][1] == pytest.approx((1, -87.5, 0))
        assert bars["ties"][2] == pytest.approx((2, -50, 50))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()][1] == "Small · LIME"
    assert "“female” better ← 0 → “male” better" in figure.subfigs[0].get_supxlabel()


def test_the_verdict_stands_behind_its_row():
    texts = drawn().axes[0].texts
    assert [text.get_text() for text in texts] == ["M", "F*", "=", "?"]
    assert [text.xy[1] for text in texts] == [0, 1, 2, 3]
    assert [text.get_weight() for text in texts] == ["bold", "bold", "normal", "normal"]
    legend = drawn().legends[0]
    assert [text.get_text() for text in legend.get_texts()] == [
        "male is explained better",
        "ties",
        "female is explained better",
    ]
    assert "mean" in legend.get_title().get_text()
    assert "mean" not in drawn(effects().assign(apart=False)).legends[0].get_title().get_text()


def test_texts_without_pairs_have_limits_in_the_place_of_bars():
    table = effects().assign(wins=np.nan, losses=np.nan, ties=np.nan)
    table.loc[0, ["net_benefit", "net_benefit_low", "net_benefit_high"]] = np.nan
    axes = drawn(table).axes[0]
    assert not axes.patches
    marks = [line for line in axes.lines if line.get_marker() == "o"]
    assert [mark.get_xydata()[0].tolist() for mark in marks] == [[25, 1], [25, 2], [25, 3]]
    ends = [line.get_xdata().tolist() for line in axes.lines if line.get_solid_capstyle() == "butt"]
    assert [-50, 100] in ends
    [label] = [text.get_text() for text in drawn(table).legends[0].get_texts()]
    assert "95%" in label


def test_what_is_undefined_is_said_of_a_whole_metric_and_a_cell_without_votes_has_no_bar():
    empty = [(0, 0, 0, "not decidable", 0, False), *CELLS[1:]]
    figure = drawn(effects(empty, metrics=["gini"]))
    assert len(lengths(figure.axes[0])["wins"]) == 3
    assert figure.axes[0].texts[0].get_text() == "–"
    assert [text.get_text() for text in figure.axes[1].texts] == ["undefined"]
