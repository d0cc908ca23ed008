"""Pairs of alike texts from two groups that have no counterparts: optimal matching within a caliper.

Groups of people differ in more than the attribute that names them. A text of the one group is set beside one of the
other that is like it in what may matter besides: exactly alike in some respects, and as near as possible in others.
The pairs have the smallest sum of distances of all matchings with as many pairs (Rosenbaum 1989), a distance being the
sum over covariates of absolute differences in standard deviations, none above the caliper (Cochran & Rubin 1973). Texts
without a counterpart stay alone.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

# In standard deviations of a covariate, the mean of both groups' variances being one.
CALIPER = 0.2


def matched_pairs(a: pd.DataFrame, b: pd.DataFrame, exact: Sequence[str]) -> list[tuple[int, int]]:
    """Rows of ``a`` and of ``b`` (by position) that make the pairs, in the order of ``a``.

    Both have the same columns: those in ``exact``, which must be equal, and covariates, numbers.

    >>> a = pd.DataFrame({"label": [0, 0, 1], "priors": [0.0, 5.0, 2.0]})
    >>> b = pd.DataFrame({"label": [0, 0, 0], "priors": [9.0, 0.0, 5.0]})
    >>> matched_pairs(a, b, ["label"])
    [(0, 1), (1, 2)]
    """
    covariates = [name for name in a.columns if name not in exact]
    spread = _spread(a[covariates], b[covariates])
    keys_a, keys_b = (part.groupby(list(exact)).indices if exact else {(): np.arange(len(part))} for part in (a, b))
    pairs = []
    for key in keys_a.keys() & keys_b.keys():
        rows_a, rows_b = keys_a[key], keys_b[key]
        far = np.zeros((len(rows_a), len(rows_b)))
        allowed = np.ones(far.shape, dtype=bool)
        for name in covariates:
            apart = np.abs(np.subtract.outer(a[name].to_numpy(float)[rows_a], b[name].to_numpy(float)[rows_b]))
            distance = (
                np.where(apart > 0, apart / spread[name], 0) if spread[name] > 0 else np.where(apart > 0, np.inf, 0)
            )
            allowed &= distance <= CALIPER
            far += np.where(allowed, distance, 0)
        # What is not allowed costs more than all pairs together, so that there are as many pairs as can be.
        chosen = linear_sum_assignment(np.where(allowed, far, 1 + len(covariates) * CALIPER * min(far.shape)))
        pairs += [(int(rows_a[i]), int(rows_b[j])) for i, j in zip(*chosen, strict=True) if allowed[i, j]]
    return sorted(pairs)


def mean_differences(a: pd.DataFrame, b: pd.DataFrame, spread: pd.Series | None = None) -> pd.Series:
    """Standardised mean differences of the columns, ``a`` less ``b``; 0 where nothing varies.

    In units of ``spread``, by default the root of the mean of both variances. What is left after matching is given in
    units of the spread before it (Stuart 2010).
    """
    spread = _spread(a, b) if spread is None else spread
    return ((a.mean() - b.mean()) / spread.where(spread > 0)).fillna(0.0)


def _spread(a: pd.DataFrame, b: pd.DataFrame) -> pd.Series:
    return np.sqrt((a.var() + b.var()) / 2)


def balance(a: pd.DataFrame, b: pd.DataFrame, pairs: Sequence[tuple[int, int]]) -> str:
    """The mean differences of all columns before and after matching, as a text.

    >>> a, b = pd.DataFrame({"priors": [0.0, 2.0, 4.0]}), pd.DataFrame({"priors": [0.0, 1.0, 2.0]})
    >>> balance(a, b, [(0, 0), (1, 2)])
    'priors 0.63 before and 0.00 after'
    """
    before = mean_differences(a, b)
    chosen = a.iloc[[i for i, _ in pairs]], b.iloc[[j for _, j in pairs]]
    after = mean_differences(*chosen, _spread(a, b)) if pairs else before
    return ", ".join(f"{name} {before[name]:z.2f} before and {after[name]:z.2f} after" for name in a.columns)
