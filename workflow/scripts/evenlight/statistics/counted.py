"""Which scores of a comparison count: whole pairs, those within strata, and the seeds that have enough of them."""

import numpy as np

# A seed counts in a cell where it has scores of so many units, and of this share of the most of any seed.
LEAST_UNITS = 6
LEAST_SHARE = 0.5


def within_strata(
    a: np.ndarray, b: np.ndarray, paired: bool, strata: tuple[np.ndarray, np.ndarray] | None
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray] | None]:
    """The scores that count, NaN for others, and the strata of the units of each level, where these are no pairs.

    Args:
        a, b: scores (cells, seeds, units); in a paired design column i of both is one pair.
        paired: whether it is one. A pair counts where it has both scores and both forms are in one stratum.
        strata: of the units of each level, int (units,) or (seeds, units), −1 for none.

    Returns:
        Both scores, and the strata, each int (seeds, units); None of pairs, and without strata.
    """
    codes = None
    if strata is not None:
        codes = [np.broadcast_to(code, side.shape[1:]) for code, side in zip(strata, (a, b), strict=True)]
        a, b = (np.where(code >= 0, side, np.nan) for code, side in zip(codes, (a, b), strict=True))
    if not paired:
        return a, b, codes
    whole = ~np.isnan(a) & ~np.isnan(b)
    if codes is not None:
        whole &= codes[0] == codes[1]
    return np.where(whole, a, np.nan), np.where(whole, b, np.nan), None


def counted_seeds(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which seeds count in a cell, bool (cells, seeds), of scores (cells, seeds, units) of both levels.

    A seed counts where it has scores of at least six units of either level, and of half as many as the seed that has
    the most; where no seed has six, by the half alone.
    """
    counted = np.ones(a.shape[:2], dtype=bool)
    for side in (a, b):
        known = (~np.isnan(side)).sum(axis=2)
        most = known.max(axis=1, keepdims=True, initial=0)
        counted &= known >= np.maximum(np.minimum(LEAST_UNITS, most), LEAST_SHARE * most)
        counted &= known > 0
    return counted
