"""Forest plots of the pooled effects."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import run_command
from matplotlib.backends.backend_agg import FigureCanvasAgg

from evenlight.reports.plots.effects import VERDICTS, draw_effects
from evenlight.reports.style import draw
from evenlight.statistics.study import MetricLabel

SCRIPT = Path(__file__).parents[2] / "workflow" / "scripts" / "figures/draw.py"
MODELS = {"small": "Small", "large": "Large"}
EXPLAINERS = {"ig": "Integrated Gradients", "lime": "LIME"}
METRICS = {
    "gini": MetricLabel("gini", "Gini", higher_is_better=True),
    "sparsity": MetricLabel("sparsity", "Sparsity", higher_is_better=False),
}
# Per row (model, explainer): effect, end of its interval below and above, verdict.
CELLS = [
    (0.5, 0.3, 0.7, "disparity"),
    (-0.1, -0.15, -0.05, "negligible disparity"),
    (0.0, -0.1, 0.1, "equivalent"),
    (0.1, -0.3, 0.5, "undecided"),
]


def effects(cells=CELLS, metrics=tuple(METRICS)) -> pd.DataFrame:
    rows = [(model, explainer) for model in MODELS for explainer in EXPLAINERS]
    return pd.DataFrame(
        [
            {
                "dataset": "plots", "model": model, "explainer": explainer, "metric": metric,
                "factor": "gender", "level_a": "male",
                "level_b": "female", "standardised": effect, "standardised_models_low": low,
                "standardised_models_high": high, "standardised_low": low - 0.5, "standardised_high": high + 0.5,
                "verdict": verdict,
            }
            for metric in metrics
            for (model, explainer), (effect, low, high, verdict) in zip(rows, cells, strict=False)
        ]
    )  # fmt: skip


def forest(table=None, metrics=METRICS):
    return draw_effects(effects() if table is None else table, MODELS, EXPLAINERS, metrics, 0.2, 0.95, "Effects")


def marks(axes):
    return [line for line in axes.lines if line.get_marker() not in ("None", "<", ">")]


def arrows(axes):
    return [(line.get_marker(), *line.get_xydata()[0]) for line in axes.lines if line.get_marker() in ("<", ">")]


def intervals(axes):
    return [line for line in axes.lines if line.get_solid_capstyle() == "butt" and len(line.get_xdata()) == 2]


def test_marks_and_intervals_stand_where_the_numbers_are():
    figure = forest()
    assert [axes.get_title() for axes in figure.axes] == ["Gini\xa0↑", "Sparsity\xa0↓"]
    for axes in figure.axes:
        assert [line.get_xydata()[0].tolist() for line in marks(axes)] == [[0.5, 0], [-0.1, 1], [0.0, 2], [0.1, 3]]
        drawn = [line.get_xydata().tolist() for line in intervals(axes) if line.get_ydata()[0] == line.get_ydata()[1]]
        for ends, more in ((drawn[::2], 0.5), (drawn[1::2], 0.0)):
            assert [[max(low - more, -0.7), y] for y, (_, low, _, _) in enumerate(CELLS)] == [end[0] for end in ends]
            assert [[min(high + more, 0.7), y] for y, (_, _, high, _) in enumerate(CELLS)] == [end[1] for end in ends]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()][:2] == [
        "Small · Integrated Gradients",
        "Small · LIME",
    ]
    assert figure.subfigs[0].get_supxlabel() == "Effect in standard deviations: female higher ← 0 → male higher"


def test_each_verdict_has_a_shape_and_a_colour_of_its_own():
    for names in (list(VERDICTS)[:4], list(VERDICTS)[4:8], list(VERDICTS)[7:]):
        cells = [(*cell[:3], verdict) for cell, verdict in zip(CELLS, names, strict=True)]
        looks = [(line.get_marker(), line.get_markeredgecolor()) for line in marks(forest(effects(cells)).axes[0])]
        assert looks == [VERDICTS[verdict][:2] for verdict in names]
    # What is said for these trained models alone, or for these answers, is hollow, else no two verdicts are alike.
    of_trainings = [verdict for verdict in VERDICTS if not verdict.endswith("these answers")]
    assert len({shape for shape, *_ in VERDICTS.values()}) == len(of_trainings) - 3
    assert len(set(VERDICTS.values())) == len(of_trainings)
    for repeated, others in (("trainings", "these answers"), ("draws", "these trained models")):
        figure = forest(effects().assign(repeated=repeated))
        legend = [text.get_text() for text in figure.legends[0].get_texts()]
        assert legend == [*(verdict for verdict in VERDICTS if not verdict.endswith(others)), "within ±0.2"]


def test_band_is_the_bound_of_equivalence():
    (band,) = forest().axes[0].patches
    assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx((-0.2, 0.2))


def test_effects_beyond_the_axis_stand_at_its_end_with_their_number():
    far = [(3.0, 2.9, 3.1, "disparity"), (-4.0, -np.inf, -3.0, "disparity"), *CELLS[2:]]
    axes = forest(effects(far)).axes[0]
    assert [text.get_text() for text in axes.texts] == ["3.00 →", "← −4.00"]
    assert [line.get_xdata()[0] for line in marks(axes)] == [2.5, -2.5, 0.0, 0.1]


def test_lines_that_go_on_beyond_the_axis_have_an_arrow():
    table = effects()
    long = (table["model"] == "small") & (table["explainer"] == "lime")
    table.loc[long, ["standardised_low", "standardised_high"]] = (-17.0, 13.5)
    table.loc[~long, ["standardised_low", "standardised_high"]] = np.nan  # of single runs
    axes = forest(table).axes[0]
    assert sorted(arrows(axes)) == [("<", -0.7, 1), (">", 0.7, 1)]


@pytest.mark.parametrize("panels", [1, 2, 3, 7])
def test_the_legend_is_as_wide_as_the_figure_at_most(panels):
    metrics = {
        f"m{place}": MetricLabel(f"m{place}", f"Metric {place}", higher_is_better=True) for place in range(panels)
    }
    figure = forest(effects(metrics=tuple(metrics)), metrics)
    FigureCanvasAgg(figure).draw()
    legend = figure.legends[0].get_window_extent()
    assert 0 <= legend.x0 < legend.x1 <= figure.bbox.width


def test_what_is_undefined_is_left_out_and_said_of_a_whole_metric():
    undefined = [(np.nan, np.nan, np.nan, None), *CELLS[1:]]
    figure = forest(effects(undefined, metrics=["gini"]))
    assert len(marks(figure.axes[0])) == 3
    assert [text.get_text() for text in figure.axes[1].texts] == ["undefined"]


def test_scale_is_that_of_the_metrics_shown():
    table = pd.concat([effects(metrics=["gini"]), effects([(2, 2, 2, "disparity")], metrics=["sparsity"])])
    limits = [forest(table, metrics).axes[0].get_xlim()[1] for metrics in (METRICS, {"gini": METRICS["gini"]})]
    assert limits == pytest.approx([2 * 1.06, 0.7 * 1.06])


@pytest.mark.parametrize("count", [1, 7])
def test_panels_do_not_overlap_and_stay_on_the_page(count):
    metrics = {f"metric{n}": MetricLabel(f"metric{n}", "Comprehensiveness, threshold", True) for n in range(count)}
    figure = forest(effects(metrics=list(metrics)), metrics)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    boxes = [axes.get_tightbbox(canvas.get_renderer()) for axes in figure.axes]
    width, height = canvas.get_width_height()
    assert all(box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1 for box in boxes)
    assert [pair for pair in combinations(boxes, 2) if pair[0].padded(-1).overlaps(pair[1].padded(-1))] == []


def test_drawing_again_gives_the_same_bytes(tmp_path):
    for name in ("one.svg", "two.svg"):
        draw([tmp_path / name], forest, "Title")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_script(tmp_path):
    settings = {
        "dataset": "Plots",
        "models": MODELS,
        "explainers": EXPLAINERS,
        "metrics": {name: {"label": metric.label, "better": "higher"} for name, metric in METRICS.items()},
        "equivalence_bound": 0.2,
        "confidence": 0.95,
    }
    effects().to_parquet(tmp_path / "effects.parquet", index=False)
    command = [SCRIPT, "--settings", json.dumps(settings), "--table", tmp_path / "effects.parquet"]
    command += ["--figure", "effects"]
    output = tmp_path / "effects.svg"
    done = run_command(*command, "--dataset", "plots", "--output", output)
    assert done.returncode == 0, done.stderr
    assert "Pooled effects on Plots" in output.read_text()
    done = run_command(*command, "--dataset", "films", "--output", output)
    assert done.stderr.startswith(f"error: {tmp_path / 'effects.parquet'}: column 'dataset' has no 'films'")
