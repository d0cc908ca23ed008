"""Disputed definitions: what each finds, and where two agree."""

import numpy as np
import pandas as pd
import pytest

from evenlight.core.contracts.results import DEFINITIONS
from evenlight.statistics.analyses.definitions import definitions_table

MODELS = {"small": "Small", "large": "Large"}
EXPLAINERS = {"ig": "Integrated Gradients", "lime": "LIME"}
DISPUTED = {"sparsity": ["tau", "tau_paper"]}
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
