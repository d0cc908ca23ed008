"""How many single-seed tests are significant, worked by hand."""

import numpy as np
import pytest
from disparity_rows import disparity_rows

from evenlight.core.contracts.results import TEST_COUNTS
from evenlight.statistics.counts import count_tests


def test_counts_by_hand():
    def row(p: float, d: float, **others) -> dict:
        return {"dataset": "plots", "model": "small", "metric": "gini", "p": p, "cohens_d": d} | others

    table = disparity_rows(
        [
            row(0.01, 0.5, p_bh=0.03, p_holm=0.03, p_signed_rank=0.2, p_sign_flip=0.05),
            row(0.04, -0.3, p_bh=0.06, p_holm=0.08, p_signed_rank=0.01, p_sign_flip=0.01),
            row(0.60, 0.1, p_bh=0.60, p_holm=0.60, p_signed_rank=0.6, p_sign_flip=0.6),
        ]
    ).assign(p_signed_rank_bh=np.nan)
    [counts] = count_tests(table, alpha=0.05).to_dict("records")
    assert (counts["tests"], counts["mann_whitney"], counts["mann_whitney_bh"], counts["mann_whitney_holm"]) == (
        3,
        2,
        1,
        1,
    )
    assert (counts["signed_rank"], counts["sign_flip"]) == (1, 2)
    assert np.isnan(counts["signed_rank_bh"])
    assert counts["mean_d_significant"] == pytest.approx(0.4)
    assert counts["mean_d_all"] == pytest.approx(0.3)


def test_counts_have_a_row_for_each_dataset_and_metric_in_the_order_of_the_table():
    cells = [("reviews", "gini", 0.05, -0.5), ("plots", "sparsity", 0.2, 0.1), ("reviews", "gini", 0.051, 0.9)]
    table = disparity_rows(
        [
            {"dataset": dataset, "model": "small", "metric": metric, "p": p, "cohens_d": d}
            for dataset, metric, p, d in cells
        ]
    )
    counts = count_tests(table, alpha=0.05)
    assert list(counts.columns) == TEST_COUNTS.schema.names
    assert counts[["dataset", "metric", "tests", "mann_whitney"]].to_numpy().tolist() == [
        ["reviews", "gini", 2, 1],
        ["plots", "sparsity", 1, 0],
    ]
    assert counts["mean_d_significant"][0] == 0.5
    assert np.isnan(counts["mean_d_significant"][1])
    # Where nothing was tested there is a table without rows.
    assert list(count_tests(table.head(0), alpha=0.05).columns) == list(counts.columns)
