"""The printed figures, and laying a study's own results beside them."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rendering import page_of

from evenlight.core.contracts.results import PUBLISHED as CONTRACT
from evenlight.core.contracts.results import PUBLISHED_AGREEMENT
from evenlight.core.errors import InputError
from evenlight.reports.html_table import render
from evenlight.reports.latex_table import latex
from evenlight.reports.pages.published import NOTES
from evenlight.statistics.analyses.published import (
    agreement_beside,
    counterparts,
    join_published,
    quality_beside,
    read_published,
    within_one,
)

REPOSITORY = Path(__file__).parents[3]
FOLDER = REPOSITORY / "resources" / "published"
PUBLISHED = read_published(FOLDER)
METRICS = {
    "comprehensiveness": "higher",
    "sufficiency": "lower",
    "soft_comprehensiveness": "higher",
    "soft_sufficiency": "higher",
    "gini": "higher",
    "sparsity": "lower",
    "sensitivity": "lower",
    "mass_accuracy": "higher",
}
NAMES = {
    "datasets": ["geco_all", "geco_subj", "compas", "stereotypes", "own"],
    "models": ["base", "tiny", "fresh", "minilm"],
    "explainers": ["grad", "lime", "random"],
    "metrics": list(METRICS),
}
BESIDE = {"base": "BERT", "tiny": "TinyBERT", "fresh": "BERT from scratch"}
SHOWN = {part: {name: name for name in names} for part, names in NAMES.items()} | {"considerable_effect": 0.2}
SHOWN["models"] |= {"base": "Base"}
SHOWN["metrics"] = {name: {"label": name, "better": better} for name, better in METRICS.items()}


def cell(dataset="geco_all", model="base", explainer="grad", metric="comprehensiveness", **values) -> dict:
    """A row of our summary: two of two seeds significant, d = -0.5 throughout."""
    usual = {
        "factor": "gender",
        "level_a": "male",
        "level_b": "female",
        "seeds": 2,
        "significant_seeds": 2,
        "mean_d_significant": -0.5,
    }
    place = {"dataset": dataset, "model": model, "explainer": explainer, "metric": metric}
    return place | usual | {"sd_d_significant": 0.1, "mean_d": -0.4, "sd_d": 0.2} | values


def compare(*cells: dict) -> pd.DataFrame:
    return join_published(pd.DataFrame(cells), PUBLISHED, **NAMES, beside=BESIDE)


# The printed figures ----------------------------------------------------------------------------------


def test_counts_sum_to_what_the_tables_sum_to_and_not_to_what_the_text_says():
    cells = read_published(FOLDER).cells
    sums = cells.groupby("table")["published_significant"].sum()
    assert sums.to_dict() == {3: 1739, 4: 1080, 5: 696}
    assert sums.sum() == 3515 != 3647
    assert len(cells) * 5 == 5040
    assert (cells[["published_significant", "table", "effects_table"]].dtypes == "Int64").all()


@pytest.mark.parametrize(
    ("cell", "expected"),
    [  # as printed in Tables 3 and 8, 4 and 10, 4 and 11, 5
        (("geco_all", "finetuned", "BERT", "Grad", "comprehensiveness"), (5, -1.68, 1.28, 3, 8)),
        (("geco_all", "finetuned", "BERT", "IGxI", "sparsity"), (5, 0.74, 0.22, 3, 8)),
        (("geco_all", "finetuned", "FairBERTa", "LIME", "soft_sufficiency"), (5, 20.88, 37.26, 3, 8)),
        (("geco_subj", "finetuned", "GPT2", "SHAP", "sensitivity"), (5, -0.23, 1.90, 3, 9)),
        (("compas", "finetuned", "RoBERTa", "Grad", "sensitivity"), (0, None, None, 4, 10)),
        (("stereotypes", "finetuned", "RoBERTa", "SHAP", "sensitivity"), (1, 0.21, 0.00, 4, 11)),
        (("geco_subj", "scratch", "GPT2", "SHAP", "sensitivity"), (2, None, None, 5, None)),
    ],
)
def test_printed_cells(cell, expected):
    cells = read_published(FOLDER).cells
    found = cells.set_index(["dataset", "training", "published_model", "explainer", "metric"]).loc[cell]
    assert tuple(None if pd.isna(value) else value for value in found) == expected


def test_printed_quality_of_the_models():
    quality = read_published(FOLDER).quality
    assert quality.index.tolist() == list(range(len(quality)))
    found = quality.set_index(["dataset", "published_model", "measure"])
    assert len(found) == 4 * 5 * 3
    assert found.loc[("compas", "RoBERTa", "tpr")].tolist() == [0, 0]
    assert found.loc[("stereotypes", "RoBERTa", "tnr")].tolist() == [0.8, 0.4]
    assert found.loc[("geco_subj", "RoBERTa", "apd")].tolist() == [0.170, 0.098]


def test_the_printed_figures_go_together():
    counts, effects = (pd.read_csv(FOLDER / f"disparity_{name}.csv") for name in ("counts", "effect_sizes"))
    keys = ["dataset", "model", "explainer", "metric"]
    assert not counts.duplicated(["training", *keys]).any()
    assert counts["significant_runs_of_5"].isin(range(6)).all()
    # Each cell of Tables 3 and 4 is in Tables 8 to 11, too, with an effect where a run was significant.
    both = counts[counts["training"] == "finetuned"].merge(effects, on=keys, how="outer", validate="one_to_one")
    assert (both["significant_runs_of_5_x"] == both["significant_runs_of_5_y"]).all()
    for column in ("cohens_d_mean", "cohens_d_sd"):
        assert (both[column].isna() == (both["significant_runs_of_5_y"] == 0)).all()


# Ours beside them -------------------------------------------------------------------------------------


def test_a_cell_of_both_studies():
    table = compare(cell())
    assert list(table.columns) == CONTRACT.schema.names
    row = table.iloc[0]
    assert (row["published_model"], row["published_significant"], row["published_d"]) == ("BERT", 5, -1.68)
    assert row[["within_one", "same_direction", "same_direction_all_seeds"]].all()


@pytest.mark.parametrize(
    "other",
    [
        {"dataset": "own"},
        {"model": "minilm"},
        {"explainer": "random"},
        {"metric": "mass_accuracy"},
        {"level_b": "neutral"},
        {"dataset": "compas", "model": "fresh"},
    ],
)
def test_other_cells_have_no_counterpart(other):
    assert compare(cell(**other)).empty


def test_groups_named_the_other_way_round_give_the_same():
    reverse = cell(level_a="female", level_b="male", mean_d_significant=0.5, mean_d=0.4)
    pd.testing.assert_frame_equal(compare(reverse), compare(cell()))


def test_rows_stand_in_the_order_of_the_configuration():
    order = (("geco_all", "compas"), ("base", "tiny"), ("grad", "lime"), ("sufficiency", "gini"))
    table = compare(*(cell(*names) for names in product(*(part[::-1] for part in order))))
    names = ["dataset", "model", "explainer", "metric"]
    assert list(table[names].itertuples(index=False, name=None)) == list(product(*order))
    assert table.index.tolist() == list(range(16))


@pytest.mark.parametrize(
    ("changed", "selected", "unselected"),
    [
        ({}, True, True),
        ({"mean_d_significant": 0.5, "mean_d": 0.4}, False, False),
        ({"mean_d": 0.1}, True, False),
        ({"mean_d_significant": np.nan, "significant_seeds": 0}, None, True),
        ({"mean_d_significant": -np.inf, "mean_d": -np.inf}, True, True),
        ({"model": "fresh"}, None, None),  # Table 5 prints no effects
        ({"model": "tiny", "explainer": "lime", "metric": "sufficiency"}, None, None),  # printed as .00
        ({"mean_d_significant": 0.0}, None, True),
    ],
)
def test_direction(changed, selected, unselected):
    row = compare(cell(**changed)).iloc[0]
    found = [row[name] for name in ("same_direction", "same_direction_all_seeds")]
    assert [None if pd.isna(value) else bool(value) for value in found] == [selected, unselected]


def test_within_one_is_exact():
    for seeds in range(1, 12):
        for ours, theirs in product(range(seeds + 1), range(6)):
            expected = abs(Fraction(ours, seeds) - Fraction(theirs, 5)) <= Fraction(1, 5)
            assert within_one(ours, seeds, theirs) == expected


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"base": "bert"}, "bert; published are TinyBERT"),
        ({"base": "RoBERTa from scratch"}, r"RoBERTa from scratch;.*BERT from scratch"),
    ],
)
def test_impossible_counterparts_are_refused(models, message):
    with pytest.raises(InputError, match=message):
        counterparts(models, PUBLISHED.cells)


def test_no_counterparts():
    table = join_published(pd.DataFrame([cell()]), PUBLISHED, **NAMES, beside={})
    assert table.empty
    assert list(table.columns) == CONTRACT.schema.names


# Agreement --------------------------------------------------------------------------------------------


def four_cells() -> pd.DataFrame:
    """Published: 5, 5, 0 and 4 runs with d of -1.68, -.06, none and -.61."""
    return compare(
        cell(),  # within one, same direction
        cell(metric="sufficiency", significant_seeds=1, mean_d_significant=0.3, mean_d=-0.1),  # neither
        cell(metric="sparsity", significant_seeds=0, mean_d_significant=np.nan),  # within one, no direction
        cell(metric="sufficiency", explainer="lime", mean_d_significant=0.2, mean_d=0.3),  # .04: same
    )


def test_agreement_worked_by_hand():
    overall = agreement_beside(four_cells(), **NAMES).iloc[0]
    assert overall[["part", "name", "cells", "directed"]].tolist() == ["overall", "all", 4, 3]
    assert overall["within_one"] == 3 / 4
    # Ours 2, 1, 0, 2 of 2 against 5, 5, 0, 5: each 2 is within one of three, the 1 of none, the 0 of one: 7 of 16.
    assert overall["within_one_by_chance"] == 7 / 16
    # Ours -, +, + and theirs -, -, +: two are the same; by chance 2/3 x 1/3 + 1/3 x 2/3.
    assert overall["same_direction"] == pytest.approx(2 / 3)
    assert overall["same_direction_by_chance"] == pytest.approx(4 / 9)
    assert overall["kappa"] == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))
    # Over all seeds ours are -, -, +, which is theirs.
    assert overall["kappa_all_seeds"] == pytest.approx(1)


def as_ours(**changed) -> pd.DataFrame:
    """A summary of ours that equals the published cells of BERT."""
    cells = PUBLISHED.cells[(PUBLISHED.cells["published_model"] == "BERT")]
    cells = cells[(cells["training"] == "finetuned") & cells["explainer"].isin(["Grad", "LIME"])]
    rows = [
        cell(row.dataset, "base", row.explainer.lower(), row.metric)
        | {"seeds": 5, "significant_seeds": row.published_significant, "mean_d_significant": row.published_d}
        | {"mean_d": row.published_d}
        | changed
        for row in cells.itertuples()
    ]
    return pd.DataFrame(rows).astype({"significant_seeds": int})


def test_a_study_agrees_with_itself():
    table = agreement_beside(join_published(as_ours(), PUBLISHED, **NAMES, beside=BESIDE), **NAMES)
    assert table["part"].tolist() == ["overall"] + ["dataset"] * 4 + ["model"] + ["explainer"] * 2 + ["metric"] * 7
    assert (table["within_one"] == 1).all()
    assert (table["same_direction"] == 1).all()
    for part in ("dataset", "model", "explainer", "metric"):
        assert table.loc[table["part"] == part, "cells"].sum() == 4 * 2 * 7


def test_cells_without_a_direction_are_counted_but_not_as_directed():
    neither = cell(significant_seeds=0, mean_d_significant=np.nan, mean_d=np.nan)
    overall = agreement_beside(compare(neither), **NAMES).iloc[0]
    assert overall[["cells", "directed", "directed_all_seeds"]].tolist() == [1, 0, 0]
    assert overall[["same_direction", "kappa", "same_direction_all_seeds"]].isna().all()


def test_one_direction_throughout_has_no_kappa():
    assert np.isnan(agreement_beside(compare(cell()), **NAMES).iloc[0]["kappa"])
    nothing = agreement_beside(compare(cell(dataset="own")), **NAMES)
    assert (len(nothing), list(nothing.columns)) == (0, PUBLISHED_AGREEMENT.schema.names)


# Quality of the models --------------------------------------------------------------------------------


def qualities(groups: str = "male – female") -> pd.DataFrame:
    measures = [
        *[("accuracy", "male", 0.91), ("accuracy", "female", 0.92), ("recall", "no_recidivism", 0.93)],
        *[("recall", "recidivism", 0.94), ("average_prediction_difference", groups, 0.05)],
    ]
    rows = [
        (dataset, "base", measure, subset, 2, mean, 0.01)
        for dataset in ("geco_all", "compas")
        for measure, subset, mean in measures
        if (dataset, measure) != ("compas", "average_prediction_difference")
    ]
    columns = ["dataset", "model", "measure", "subset", "seeds", "mean", "sd"]
    return pd.DataFrame(rows, columns=columns).assign(factor=None)


def beside_quality(*groups: str) -> pd.DataFrame:
    return quality_beside(qualities(*groups), PUBLISHED, datasets=NAMES["datasets"], beside=BESIDE)


@pytest.mark.parametrize("groups", ["male – female", "female – male"])
def test_rates_are_accuracies_of_groups_on_geco_and_recalls_of_classes_elsewhere(groups):
    table = beside_quality(groups).set_index(["dataset", "model", "measure"]).sort_index()
    assert table.loc[("geco_all", "base"), "mean"].tolist() == [0.05, 0.92, 0.91]  # apd, tnr, tpr
    assert table.loc[("geco_all", "base"), "published_mean"].tolist() == [0.006, 0.991, 0.996]
    assert table.loc[("compas", "base"), "mean"].tolist()[1:] == [0.93, 0.94]
    assert np.isnan(table.loc[("compas", "base", "apd"), "mean"])
    assert table.loc[("compas", "base", "apd"), "published_mean"] == 0.230
    assert "fresh" not in table.index.get_level_values("model")  # Table 7 has fine-tuned models


def test_a_model_that_is_for_some_datasets_has_no_row_of_another():
    quality = qualities()
    table = quality_beside(
        quality[quality["dataset"] != "compas"], PUBLISHED, datasets=NAMES["datasets"], beside=BESIDE
    )
    whole = beside_quality()
    pd.testing.assert_frame_equal(
        table, whole[whole["dataset"] == "geco_all"].reset_index(drop=True), check_dtype=False
    )


def test_the_difference_of_other_groups_stands_beside_nothing():
    """Of men and women who are compared both ways round the first counts."""
    quality = qualities()
    [own] = quality.index[quality["measure"] == "average_prediction_difference"]
    others = [
        quality.loc[[own]].assign(subset=subset, mean=mean)
        for subset, mean in (("male – neutral", 0.3), ("female – male", 0.05 + 1e-12))
    ]
    expected = beside_quality()
    for tables_in_order in ([others[0], quality, others[1]], [quality, *others]):
        table = quality_beside(pd.concat(tables_in_order), PUBLISHED, datasets=NAMES["datasets"], beside=BESIDE)
        pd.testing.assert_frame_equal(table, expected)


# Pages ------------------------------------------------------------------------------------------------


def page_with(*cells: dict):
    comparison = compare(*cells)
    quality = beside_quality()
    return page_of("published", comparison, agreement_beside(comparison, **NAMES), quality, **SHOWN)


def cells_of(table) -> list:
    return [cell for _, rows in table.rows for _, cells in rows for cell in cells]


def test_tables_of_the_page():
    page = page_with(cell(), cell(dataset="compas"), cell(model="fresh"), cell(dataset="geco_subj", metric="gini"))
    numbers = [table.caption.split("Table ")[-1].split(" ")[0] for table in page.tables[1:]]
    assert numbers == ["3", "4", "5", "8", "9", "10", "7"]
    assert page.tables[1].columns == [
        ("geco_all: Faithfulness", ["comprehensiveness\N{NO-BREAK SPACE}↑"]),
        ("geco_all: Complexity", ["gini\N{NO-BREAK SPACE}↑"]),
        ("geco_subj: Faithfulness", ["comprehensiveness\N{NO-BREAK SPACE}↑"]),
        ("geco_subj: Complexity", ["gini\N{NO-BREAK SPACE}↑"]),
    ]
    assert page.tables[1].rows[0][0] == "Base | BERT"
    assert [cell.text for cell in cells_of(page.tables[1])] == ["2/2 F | 5 F", "–", "–", "2/2 F | 5 M ≠"]
    assert [cell.text for cell in cells_of(page.tables[3])] == ["2/2 F | 5"]  # from scratch
    assert [cell.text for cell in cells_of(page.tables[4])] == ["(2) −0.50 ± 0.10 | (5) −1.68 ± 1.28"]
    assert [cell.text for cell in cells_of(page.tables[-1])][:2] == ["0.910 ± 0.010", "0.996 ± 0.001"]


@pytest.mark.parametrize(
    ("changed", "text", "bold", "coloured"),
    [
        ({}, "2/2 F | 5 F", True, True),
        ({"mean_d_significant": -0.1}, "2/2 F | 5 F", False, True),
        ({"mean_d_significant": 0.9}, "2/2 M | 5 F ≠", False, True),
        ({"metric": "sufficiency"}, "2/2 F | 5 F", False, True),  # theirs is -.06
        ({"significant_seeds": 0, "mean_d_significant": np.nan}, "0/2 | 5 F", False, False),
        ({"metric": "sparsity"}, "2/2 F | 0", False, True),
    ],
)
def test_cells_of_the_page(changed, text, bold, coloured):
    (found,) = cells_of(page_with(cell(**changed)).tables[1])
    assert (found.text, found.bold, found.background is not None) == (text, bold, coloured)


def test_a_page_without_a_common_cell_says_so():
    comparison = compare(cell(dataset="own"))
    quality = quality_beside(qualities(), PUBLISHED, datasets=[], beside={})
    page = page_of("published", comparison, agreement_beside(comparison, **NAMES), quality, **SHOWN)
    assert "no cell" in page.introduction
    assert page.tables == page.notes == page.legend == []
    assert all("no cell" in form(page) for form in (render, latex))


def test_everything_on_the_page_can_be_printed_by_pdflatex():
    page = page_with(cell(), cell(dataset="compas"), cell(mean_d_significant=np.inf, metric="gini"))
    assert page.notes[: len(NOTES)] == NOTES
    latex(page).encode("ascii")
