"""How many single-seed tests are significant, by the way of testing."""

from collections.abc import Mapping
from typing import ClassVar, Literal

import pandas as pd

from evenlight.core.contracts.results import DISPARITY, TEST_COUNTS
from evenlight.core.tables import Contract
from evenlight.statistics.base import Computed, Inputs, Result

# The tests beside the published one: adjusted for the number of tests, within strata, and of pairs.
TESTS = {
    "mann_whitney": "p",
    "mann_whitney_bh": "p_bh",
    "mann_whitney_holm": "p_holm",
    "van_elteren": "p_stratified",
    "signed_rank": "p_signed_rank",
    "signed_rank_bh": "p_signed_rank_bh",
    "signed_rank_holm": "p_signed_rank_holm",
    "sign_flip": "p_sign_flip",
}


def count_tests(disparity: pd.DataFrame, *, alpha: float) -> pd.DataFrame:
    """One row per dataset and metric from a disparity table.

    ``tests``: rows there, of all models, explainers, seeds and pairs of groups; then how many have p ≤ ``alpha`` by
    each of :data:`TESTS` (NaN where items do not come in pairs, or a dataset has no strata); ``mean_d_significant`` and
    ``mean_d_all``: mean of |Cohen's d| over the significant rows, which selects large effects, and over all rows.
    """
    rows = []
    for (dataset, metric), part in disparity.groupby(["dataset", "metric"], sort=False):
        counts = {
            test: float((part[column] <= alpha).sum()) if part[column].notna().any() else float("nan")
            for test, column in TESTS.items()
        }
        sizes = part["cohens_d"].abs()
        means = {"mean_d_significant": sizes[part["p"] <= alpha].mean(), "mean_d_all": sizes.mean()}
        rows.append({"dataset": dataset, "metric": metric, "tests": len(part)} | counts | means)
    return pd.DataFrame(rows, columns=["dataset", "metric", "tests", *TESTS, "mean_d_significant", "mean_d_all"])


class CountTests(Result):
    """Count what each way of testing single seeds finds, per dataset and metric."""

    tables: ClassVar[Mapping[str, Contract]] = {"tests": TEST_COUNTS}
    reads: ClassVar[Mapping[str, Contract]] = {"disparity": DISPARITY}

    result: Literal["count_tests"]
    alpha: float

    def compute(self, inputs: Inputs) -> Computed:
        """The counts."""
        return Computed([count_tests(inputs.tables[0], alpha=self.alpha)])
