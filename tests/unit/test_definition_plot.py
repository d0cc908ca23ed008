"""Disputed definitions: what each finds, where two agree, and the figure and page that show it."""

import numpy as np
import pandas as pd
import pytest
from disparity_rows import disparity_rows
from matplotlib.colors import to_hex
from rendering import page_of, run_plot, run_result, shown, tabulated
from study_files import asked

from evenlight.core import tables
from evenlight.core.contracts.results import DEFINITIONS, SUMMARY
from evenlight.reports.html_table import render
from evenlight.reports.keywords import keywords
from evenlight.reports.plots.definitions import draw_definitions
from evenlight.reports.study_figures import effect_limit
from evenlight.reports.text import common_words
from evenlight.statistics.analyses.definitions import by_variant, definitions_table, direction_flips
from evenlight.statistics.analyses.summary import summarise_disparity

MODELS = {"small": "Small", "large": "Large"}
EXPLAINERS = {"ig": "Integrated Gradients", "lime": "LIME"}
SETTINGS = {
    "datasets": {"plots": {"label": "Plots"}},
    "models": {name: {"label": label} for name, label in MODELS.items()},
    "explainers": {name: {"label": label} for name, label in EXPLAINERS.items()},
    "metrics": {
        "gini": {"metric": "gini", "label": "Gini", "better": "higher", "family": "complexity"},
        "tau": {"metric": "sparsity", "label": "Sparsity, τ = 0.01", "better": "lower", "family": "complexity"},
        "tau_paper": {"metric": "sparsity", "label": "Sparsity, τ = 0.1", "better": "lower", "family": "complexity"},
    },
    "seeds": [0, 1],
    "statistics": {"groups": [["male", "female"]], "alpha": 0.05, "considerable_effect": 0.2},
}
DISPUTED = {"sparsity": ["tau", "tau_paper"]}
METRICS = keywords(shown(SETTINGS, "metrics"))["metrics"]
SHOWN = shown(SETTINGS, "datasets", "metrics", disputed=DISPUTED, alpha=0.05, considerable_effect=0.2)
ROWS = [(model, explainer) for model in MODELS for explainer in EXPLAINERS]
# Per cell, in the order of ROWS: mean d, significant seeds of two, considerable.
RELEASED = [(0.5, 2, True), (-0.3, 2, True), (0.2, 1, False), (0.0, 0, False)]
PAPER = [(0.4, 2, True), (0.6, 2, True), (0.1, 2, True), (0.2, 0, False)]


def summary(released=RELEASED, paper=PAPER) -> pd.DataFrame:
    rows = [
        {
            "dataset": "plots", "model": model, "explainer": explainer, "metric": metric,
            "factor": "gender", "level_a": "male",
            "level_b": "female", "seeds": 2, "significant_seeds": seeds, "mean_d": d,
            "mean_delta": np.clip(d, -1, 1), "considerable": considerable,
        }
        for metric, cells in (("gini", RELEASED), ("tau", released), ("tau_paper", paper))
        for (model, explainer), (d, seeds, considerable) in zip(ROWS, cells, strict=False)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def definitions(table=None, metrics=METRICS, disputed=DISPUTED):
    table = summary() if table is None else table
    return draw_definitions(table, MODELS, EXPLAINERS, metrics, disputed, 0.2, "Definitions")


@pytest.mark.parametrize(
    ("labels", "heading"),
    [
        (["Sensitivity (paper)", "Sensitivity (released)", "Sensitivity"], "Sensitivity"),
        (["Soft sufficiency", "Soft sufficiency: one draw"], "Soft sufficiency"),
        (["Sufficient", "Sufficiency"], "Mass accuracy"),
    ],
)
def test_a_kind_is_called_by_what_its_labels_share(labels, heading):
    assert common_words("mass_accuracy", labels) == heading


# The table, worked by hand


def test_table_of_definitions():
    table = definitions_table(summary(), disputed=DISPUTED).set_index(["metric", "other"])
    assert list(table.index) == [("tau", "tau"), ("tau", "tau_paper"), ("tau_paper", "tau_paper")]
    counts = table[["cells", "significant", "considerable", "opposed"]]
    assert counts.loc[("tau", "tau")].tolist() == [4, 2, 2, 0]
    assert counts.loc[("tau_paper", "tau_paper")].tolist() == [4, 3, 3, 0]
    # Both are significant in the first two cells, of which the second has opposite signs.
    assert counts.loc[("tau", "tau_paper")].tolist() == [4, 1, 1, 1]
    # Same signs in the first and third cell; the fourth has no direction.
    assert table.loc[("tau", "tau_paper"), "same_direction"] == pytest.approx(2 / 3)
    # Deviations from the means 0.1 and 0.325: products sum to -0.09, squares to 0.34 and 0.1475.
    assert table.loc[("tau", "tau_paper"), "correlation"] == pytest.approx(-0.09 / np.sqrt(0.34 * 0.1475))
    assert table["correlation"].iloc[[0, 2]].tolist() == pytest.approx([1, 1])


def test_directions_are_those_of_delta():
    against = summary()
    against.loc[against["metric"] == "tau_paper", "mean_delta"] = -0.1
    table = definitions_table(against, disputed=DISPUTED).set_index(["metric", "other"])
    counts = table.loc[("tau", "tau_paper"), ["significant", "opposed", "same_direction"]].tolist()
    # Of the first definition, delta is positive in the first and third cell, negative in the second.
    assert counts == [1, 1, pytest.approx(1 / 3)]


def test_only_cells_that_both_definitions_have_are_compared():
    table = definitions_table(summary(paper=PAPER[:2]), disputed=DISPUTED).set_index(["metric", "other"])
    assert table["cells"].tolist() == [4, 2, 2]
    assert np.isnan(table.loc[("tau", "tau_paper"), "correlation"])  # two points always lie on a line


def test_infinite_and_constant_effects_have_directions_but_no_correlation():
    infinite = [(np.inf, 2, True), *PAPER[1:]]
    table = definitions_table(summary(paper=infinite), disputed=DISPUTED).set_index(["metric", "other"])
    assert table.loc[("tau", "tau_paper"), "significant"] == 1
    first, second = np.array([-0.3, 0.2, 0.0]), np.array([0.6, 0.1, 0.2])
    assert table.loc[("tau", "tau_paper"), "correlation"] == pytest.approx(np.corrcoef(first, second)[0, 1])
    nothing = definitions_table(summary(paper=[(0.0, 0, False)] * 4), disputed=DISPUTED).set_index(["metric", "other"])
    assert nothing.loc[("tau", "tau_paper"), ["same_direction", "correlation"]].isna().all()


def test_order_of_the_rows_does_not_matter_and_none_are_none():
    shuffled, table = (
        definitions_table(rows, disputed=DISPUTED) for rows in (summary().sample(frac=1, random_state=0), summary())
    )
    pd.testing.assert_frame_equal(shuffled, table)
    assert list(definitions_table(summary().head(0), disputed=DISPUTED).columns) == DEFINITIONS.schema.names


def test_pairs_of_groups_are_counted_apart():
    both = pd.concat([summary(paper=[(-d, *rest) for d, *rest in PAPER]).assign(level_b="neutral"), summary()])
    table = definitions_table(both, disputed=DISPUTED)
    # As they stand in the table of cells.
    assert table["level_b"].tolist() == ["neutral"] * 3 + ["female"] * 3
    between = table[table["metric"] != table["other"]].set_index("level_b")
    assert between["opposed"].to_dict() == {"female": 1, "neutral": 1}
    assert between["correlation"].to_dict() == pytest.approx({"female": -0.4019, "neutral": 0.4019}, abs=1e-4)
    assert page_of("definitions", table, **SHOWN).tables[0].caption.endswith("male against neutral")


def test_direction_flips():
    cells = by_variant(summary(), ["tau", "tau_paper"])
    assert direction_flips(cells["effect"], cells["significant"]) == (1, 1)
    cells = by_variant(summary(paper=[(0.4, 2, True), (0.6, 1, True), *PAPER[2:]]), ["tau", "tau_paper"])
    assert direction_flips(cells["effect"], cells["significant"]) == (1, 0)
    # No effect has no direction.
    for others in ([(0.0, 2, True)] * 4, [(-0.0, 2, True), (np.nan, 0, False), (0.0, 2, True), (-0.1, 2, True)]):
        cells = by_variant(summary(paper=others), ["tau", "tau_paper"])
        assert direction_flips(cells["effect"], cells["significant"]) == (0, 0)


# The figure


def marks(axes):
    """Colour, face, shape, x and y of each mark."""
    return [
        (to_hex(line.get_markeredgecolor()), line.get_markerfacecolor(), line.get_marker(), *line.get_xydata()[0])
        for line in axes.lines
        if line.get_marker() != "None"
    ]


def test_marks_stand_at_the_effects_and_are_filled_where_significant():
    drawn = marks(definitions().axes[0])
    assert [mark[3] for mark in drawn] == pytest.approx([0.5, 0.4, -0.3, 0.6, 0.2, 0.1, 0.0, 0.2])
    assert [mark[1] != "white" for mark in drawn] == [True, True, True, True, False, True, False, False]
    assert {mark[0::2][0:2] for mark in drawn} == {("#0072b2", "o"), ("#d55e00", "s")}
    heights = [mark[4] for mark in drawn]
    assert [round(height) for height in heights] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert min(np.diff(heights)) > 0.3  # equal effects do not hide one another


def test_panel_says_what_survives():
    legend = definitions().axes[0].get_legend()
    assert legend.get_title().get_text() == "Sparsity"
    assert [text.get_text() for text in legend.get_texts()] == [
        "Sparsity, τ = 0.01: 2 of 4 significant",
        "Sparsity, τ = 0.1: 3 of 4 significant",
        "Opposite directions: 1 of 4 rows, 1 significant",
    ]


def test_effects_beyond_the_axis_stand_at_its_end_with_their_number():
    far = [(3.25, 2, True), (-np.inf, 2, True), (np.nan, 0, False), (0.2, 0, False)]
    axes = definitions(summary(paper=far)).axes[0]
    assert [text.get_text() for text in axes.texts] == ["3.25 →", "← −∞"]
    assert [mark[3] for mark in marks(axes)] == pytest.approx([0.5, 2.5, -0.3, -2.5, 0.2, 0.0, 0.2])


@pytest.mark.parametrize(
    ("effects", "limit"),
    [([0.1, -0.2], 0.3), ([-1.0, 0.4], 1.0), ([9.0, 1.0], 2.5), ([np.inf, np.nan], 0.3), ([], 0.3)],
)
def test_axis_ends_at_the_largest_effect_within_limits(effects, limit):
    assert effect_limit(effects, least=0.3) == limit


def test_undefined_kind_has_an_empty_panel():
    table = summary()
    figure = definitions(table[table["metric"] == "gini"])
    assert marks(figure.axes[0]) == []
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts == ["Sparsity, τ = 0.01: undefined", "Sparsity, τ = 0.1: undefined"]


def test_direction_stands_below_each_pair_of_groups():
    both = pd.concat([summary(), summary().assign(level_b="neutral")])
    labels = [block.get_supxlabel() for block in definitions(both).subfigs]
    assert labels == [f"Mean Cohen's d: {group} higher ← 0 → male higher" for group in ("female", "neutral")]


# The page and the scripts


def test_page_has_a_row_for_each_definition_and_each_two():
    page = page_of("definitions", definitions_table(summary(), disputed=DISPUTED), **SHOWN)
    (kind, alone), (_, paired) = page.tables[0].rows[0], page.tables[1].rows[0]
    assert kind == "Sparsity"
    assert [(row, [cell.text for cell in cells]) for row, cells in alone] == [
        ("Sparsity, τ = 0.01", ["4", "2", "2"]),
        ("Sparsity, τ = 0.1", ["4", "3", "3"]),
    ]
    assert [(row, [cell.text for cell in cells]) for row, cells in paired] == [
        ("Sparsity, τ = 0.01 – Sparsity, τ = 0.1", ["4", "1", "1", "1", "67%", "−0.40"])
    ]
    assert "Plots" in render(page)


@pytest.fixture
def summary_file(tmp_path):
    """The cells of RELEASED and PAPER as two seeds of equal d, summed up."""
    rows = [
        {
            "dataset": "plots", "model": model, "seed": seed, "explainer": explainer, "metric": metric,
            "p": 0.01 if seed < seeds else 0.5, "cohens_d": d,
        }
        for metric, cells in (("gini", RELEASED), ("tau", RELEASED), ("tau_paper", PAPER))
        for (model, explainer), (d, seeds, _) in zip(ROWS, cells, strict=True)
        for seed in (0, 1)
    ]  # fmt: skip
    path = tmp_path / "disparity_summary.parquet"
    tables.write_table(summarise_disparity(disparity_rows(rows), **asked(summarise_disparity, SETTINGS)), path, SUMMARY)
    return path


def test_scripts_compute_draw_and_tabulate(summary_file, tmp_path):
    computed, figure = tmp_path / "definitions.parquet", tmp_path / "figure.svg"
    done = run_result("compare_definitions", {"disputed": DISPUTED}, "--tables", summary_file, "--output", computed)
    assert done.returncode == 0, done.stderr
    table = tables.read_table(computed, DEFINITIONS)
    assert table["significant"].tolist() == [2, 1, 3]
    page = tabulated(tmp_path, "definitions", table, **SHOWN)
    assert page.csv[0].columns.tolist() == definitions_table(summary(), disputed=DISPUTED).columns.tolist()
    assert '<th scope="row">Sparsity, τ = 0.1</th>' in page.html
    about = shown(SETTINGS, "models", "explainers", "metrics", disputed=DISPUTED, considerable_effect=0.2)
    flags = ("--table", summary_file, "--dataset", "plots", "--output", figure)
    done = run_plot("definitions", about | {"dataset": "Plots"}, *flags)
    assert done.returncode == 0, done.stderr
    assert "Sparsity, τ = 0.1: 3 of 4 significant" in figure.read_text()


def test_scripts_refuse_what_they_cannot_show(summary_file, tmp_path):
    output = tmp_path / "x.svg"
    flags = ("--table", summary_file, "--dataset", "films", "--output", output)
    done = run_plot("definitions", {"dataset": "Films"}, *flags)
    assert done.stderr.startswith(f"error: {summary_file}: column 'dataset' has no 'films'")
    assert not output.exists()
