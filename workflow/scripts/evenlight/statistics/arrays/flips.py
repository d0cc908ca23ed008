"""Both groups exchanged within whole units, in all comparisons at once: what that shows of dependent comparisons.

A flip turns all signs of a unit, so that comparisons stay as dependent as they are, and the number of decided units of
each stays as it is. So the exact p of a comparison in a flip is the binomial one.

What is proven: where the signs of a unit in all comparisons are jointly symmetric, as those of exchanged groups are,
flips are exact (Hemerik & Goeman 2018). Wins that are as likely as losses in each comparison alone are less than that;
for such nulls the methods here are simulated (``make verdicts``).
"""

from collections.abc import Iterator

import numpy as np

from evenlight.statistics.arrays.signs import side_p, sign_p
from evenlight.statistics.blocks import row_blocks
from evenlight.statistics.paired_tests import SignFlips


def flipped_p(signed: np.ndarray, flips: SignFlips) -> Iterator[np.ndarray]:
    """One-sided p of both sides in each flip, float32 (2, some flips, comparisons), in turn.

    Args:
        signed: signs (units, comparisons), NaN where one is missing, as in units of another dataset.
        flips: of as many units. Where they are all that there are, p of tests by them are exact.
    """
    signed = np.nan_to_num(signed).astype(np.float32)
    decided = np.abs(signed).sum(axis=0).astype(int)
    # The p of every number of wins among every number of decided units that there is, one after the other.
    counts, of_comparison = np.unique(decided, return_inverse=True)
    starts = (np.cumsum(counts + 1) - counts - 1)[of_comparison]
    wins = np.concatenate([np.arange(count + 1) for count in counts])
    tables = side_p(wins, np.repeat(counts, counts + 1) - wins).astype(np.float32)
    for block in flips.blocks():
        for rows in row_blocks(len(block), 4 * len(decided)):
            excess = block[rows].astype(np.float32) @ signed
            places = ((decided + excess) / 2).astype(np.int32) + starts.astype(np.int32)
            yield np.stack([table[places] for table in tables])


def step_down(signed: np.ndarray, flips: SignFlips) -> np.ndarray:
    """Adjusted p of the likelier side by step-down min-p, float (comparisons,); never below the exact two-sided p.

    Westfall & Young (1993), Algorithm 2.8, over both sides of each comparison: one that is found leaves the family, its
    other side stays (:mod:`evenlight.statistics.arrays.holm`). It finds more than Holm's method where comparisons
    repeat one another. The observed signs are one of the flips, so that no p is 0 (Phipson & Smyth 2010).

    Args: as for :func:`flipped_p`.
    """
    counts = [(signed == sign).sum(axis=0) for sign in (1, -1)]
    observed = side_p(*counts).astype(np.float32)
    likelier, side = observed.min(axis=0), observed.argmin(axis=0)
    order = np.argsort(likelier, kind="stable")
    columns, as_small = np.arange(len(order)), np.zeros(len(order))
    for block in flipped_p(signed, flips):
        p = block[..., order]
        # Both sides of this comparison and of those after it; the other sides of those before it.
        after = np.minimum.accumulate(p.min(axis=0)[:, ::-1], axis=1)[:, ::-1]
        other = np.minimum.accumulate(p[1 - side[order], :, columns].T, axis=1)
        smallest = after.copy()
        smallest[:, 1:] = np.minimum(after[:, 1:], other[:, :-1])
        as_small += (smallest <= likelier[order]).sum(axis=0)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(as_small / flips.rows)
    return np.maximum(adjusted, sign_p(*counts))


def simes_thresholds(signed: np.ndarray, flips: SignFlips, alpha: float) -> np.ndarray:
    """For :func:`evenlight.statistics.arrays.discoveries.at_least`: the largest uλ / 2m that flips rarely pass, (2 m,).

    In at most ``alpha`` of flips are there u one-sided p, for any u, that are no larger than the threshold of u
    (Andreella et al. 2023, pARI, with the template of Simes). λ is 0 where so few units show nothing.

    Args: as for :func:`flipped_p`, and the level.
    """
    ranks = np.arange(1, 2 * signed.shape[1] + 1)
    least = []
    for block in flipped_p(signed, flips):
        p = np.sort(np.concatenate(list(block), axis=1), axis=1)
        least.append((p / ranks).min(axis=1))
    least = np.sort(np.concatenate(least)).astype(float)
    # Just below the first that is one too many; also where others are equal to it but for rounding.
    allowed = int(np.floor(alpha * len(least) + 1e-9))
    return ranks * least[allowed] * (1 - 1e-5) if allowed < len(least) else np.ones(len(ranks))
