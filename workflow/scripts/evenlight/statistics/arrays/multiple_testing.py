"""What may be claimed of many comparisons at once: Holm's method, joint flips of units, counts by closed testing.

"Group a wins more often" rejects the null P(win) ≤ P(loss), and "group b does" its mirror image: 2 m nulls of m
comparisons. Holm (1979) over all of them is wrong about any *side* in at most alpha of studies, however comparisons
depend on one another. For with T true nulls the first wrong rejection needs one of these below alpha / T.

Holm over m two-sided nulls, and then the side of the majority, is proven for sides in its first step alone: of a
comparison that is found, the other side's null stays true and is no more counted. Shaffer (1980) proves later steps of
independent comparisons only. So after k findings a side needs alpha / (2 m − k) here, and alpha / (2 m − 2 k) there;
the first step is the same. This one is the verdict.

A flip exchanges both groups within a whole unit, in all comparisons, so that comparisons stay as dependent as they are,
and each has as many decided units as before: its exact p in a flip is the binomial one. Where the signs of a unit in
all comparisons are jointly symmetric, as those of exchanged groups are, flips are exact (Hemerik & Goeman 2018). Wins
that are as likely as losses in each comparison alone are less than that; for such nulls flips are simulated
(``make verdicts``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, expm1, log1p, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.exact_tests import share_limits, side_p, two_sided

OBRIEN_FLEMING, POCOCK = "obrien_fleming", "pocock"
# The configuration takes no plan of fewer pairs.
LEAST_PLANNED = 8
# Flips that are computed at once, so that those of 50,000 units fit into memory. The generator fills four bytes at a
# time: a multiple of four rows draws what one matrix would.
FLIPS_AT_ONCE = 64


def holm(p: ArrayLike) -> np.ndarray:
    """Holm's (1979) adjusted p of one family; those that are NaN do not count and stay so.

    As statsmodels' ``multipletests(p, method="holm")``, which is thousands of times slower for a few p, because it
    collects garbage first.

    >>> holm([0.01, float("nan"), 0.04, 0.03]).tolist()
    [0.03, nan, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # NaN are sorted to the end
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return adjusted


def sides_adjusted(p_sides: np.ndarray) -> np.ndarray:
    """Holm's adjusted p over both sides, that of the likelier side, float (comparisons,).

    The verdict: where it is at most alpha, the group with more wins wins more often. Comparisons without decided units
    count, with a p of 1; the family is all columns, so leave none out by what was seen. A NaN counts, too, and stays.

    Args:
        p_sides: one-sided p, float (2, comparisons), from :func:`evenlight.statistics.arrays.exact_tests.side_p`.

    >>> sides_adjusted(np.array([[0.001, 0.99, 1], [0.999, 0.01, 1]])).round(3).tolist()
    [0.006, 0.05, 1.0]
    """
    likelier = np.min(p_sides, axis=0)
    order = np.argsort(likelier, kind="stable")
    left = 2 * len(order) - np.arange(len(order))
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(likelier[order] * left), 1)
    return adjusted


# Interim analyses ----------------------------------------------------------------------------------------------------
# Who looks at a result, asks for more units and looks again, has several chances to be wrong. A plan says before the
# first look how many units each look has. A spending function says what part of the level is spent by each (Lan &
# DeMets 1983). It is a function of the planned numbers alone, so no result of a look can change it.

# What is spent of the level by a share of the units.
SPENDING: Mapping[str, Callable[[float, float], float]] = {
    # Four upper tails of the normal distribution.
    OBRIEN_FLEMING: lambda alpha, share: 2 * erfc(-NormalDist().inv_cdf(alpha / 4) / sqrt(2 * share)),
    POCOCK: lambda alpha, share: alpha * log1p(expm1(1) * share),
}


@dataclass(frozen=True)
class Looks:
    """A plan, up to the look that is made.

    Attributes:
        planned: how many pairs, or texts, each look of the plan has; rising.
        made: which of them were made, by number from 0, the present one last; a look that was skipped spends nothing.
        spending: ``obrien_fleming``, ``pocock``, or the part of the level that is spent by each look, rising to 1.
    """

    planned: tuple[int, ...] = (1,)
    made: tuple[int, ...] = (0,)
    spending: str | tuple[float, ...] = OBRIEN_FLEMING

    @property
    def is_one(self) -> bool:
        """Whether there is one look, which spends all: a study without a plan."""
        return len(self.planned) == 1

    @property
    def units(self) -> tuple[int, ...]:
        """Those of the looks that were made."""
        return tuple(self.planned[number] for number in self.made)

    def spent(self, alpha: float) -> np.ndarray:
        """What is spent of ``alpha`` by each of the looks that were made, float (looks,)."""
        shares = np.array(self.units) / self.planned[-1]
        return np.array([self._spent(alpha, *of_look) for of_look in zip(self.made, shares, strict=True)])

    def increments(self, alpha: float) -> np.ndarray:
        """The part of ``alpha`` that each of the looks that were made has to itself, float (looks,)."""
        return np.diff(self.spent(alpha), prepend=0.0)

    def _spent(self, alpha: float, number: int, share: float) -> float:
        if isinstance(self.spending, str):
            return SPENDING[self.spending](alpha, share)
        return alpha * self.spending[number]


ONE_LOOK = Looks()


class Found(NamedTuple):
    """What is found of comparisons, (comparisons,) each.

    Attributes:
        side: 1, −1 or 0 for none.
        analysis: that has found it first, from 1; 0 for none.
        p, p_adjusted: of the present analysis, two-sided and by :func:`sides_adjusted`.
    """

    side: np.ndarray
    analysis: np.ndarray
    p: np.ndarray
    p_adjusted: np.ndarray


def over_analyses(p_sides: Sequence[np.ndarray], increments: Iterable[float]) -> Found:
    """What one or several analyses have found, the present one last.

    Each has Holm's method at the increment of the spent level. What was found before stays found and counts as the
    first steps. This is exact by Bonferroni over analyses: with T true nulls the first wrong finding, at analysis k,
    has a p of at most increment k / T, and these chances add up to the whole level. It needs no independence.

    Args:
        p_sides: of each analysis, float (2, comparisons), p of all units so far.
        increments: what each spends of the level; they add up to at most alpha.
    """
    side, analysis = np.zeros((2, np.shape(p_sides[0])[1]), dtype=int)
    for number, (p, level) in enumerate(zip(p_sides, increments, strict=True), start=1):
        before = analysis > 0
        now = ~before & (sides_adjusted(np.where(before, 0, p)) <= level) & (level > 0)
        side[now], analysis[now] = np.where(p[0, now] < p[1, now], 1, -1), number
    return Found(side, analysis, two_sided(p_sides[-1]), sides_adjusted(p_sides[-1]))


def family_limits(
    wins: np.ndarray, losses: np.ndarray, adjusted: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the share of wins among decided units, for all m comparisons at once.

    They are those of alpha / m (Bonferroni), without 1/2 inside where the verdict finds a side, and only there. A
    comparison that Holm's method finds in its first step has limits without 1/2, since both ask whether the one-sided p
    is at most alpha / 2 m. One that a later step finds ends at 1/2.

    All limits hold at once in 1 − alpha of studies, and so do all verdicts. Where F of the m comparisons truly differ,
    verdicts and limits hold together in 1 − alpha (1 + F / 2 m), which is more than 1 − 1.5 alpha (Bonferroni).

    Args:
        wins, losses: int (comparisons,).
        adjusted: p of the verdict (:func:`sides_adjusted`, or :func:`step_down`).
        alpha: the level of the family.
    """
    low, high = share_limits(wins, np.add(wins, losses), alpha / (2 * len(wins)))
    found, first = adjusted <= alpha, np.greater(wins, losses)
    # What flips did not find, by chance of their draws, has 1/2 inside.
    return (
        np.where(found & first, np.maximum(low, 0.5), np.minimum(low, 0.5)),
        np.where(found & ~first, np.minimum(high, 0.5), np.maximum(high, 0.5)),
    )


# Flips ---------------------------------------------------------------------------------------------------------------


def sign_flips(units: int, draws: int, seed: Sequence[str | int]) -> Iterator[np.ndarray]:
    """Rows of signs that turn units, ±1 of shape (some rows, units): at most :data:`FLIPS_AT_ONCE` in turn.

    All 2^``units`` rows where they are at most ``draws``; else ``draws`` rows, random but for the first, which turns
    nothing. ``seed`` are the parts of the generator's seed.
    """
    every, generator = 2 ** int(units), generator_for(*seed)
    for start in range(0, min(every, draws), FLIPS_AT_ONCE):
        numbers = np.arange(start, min(start + FLIPS_AT_ONCE, every, draws))
        if every <= draws:
            turned = numbers[:, None] >> np.arange(units)[::-1] & 1
        else:
            turned = generator.integers(0, 2, size=(len(numbers), units), dtype=np.int8)
        turned[numbers == 0] = 0
        yield 1 - 2 * turned.astype(np.float32)


def flipped_p(signed: np.ndarray, draws: int, seed: Sequence[str | int]) -> Iterator[np.ndarray]:
    """One-sided p of both sides in each flip, float32 (2, some flips, comparisons), in turn.

    Args:
        signed: signs (units, comparisons), NaN where one is missing, as in units of another dataset.
        draws, seed: of the flips (:func:`sign_flips`). Where they are all that there are, tests by them are exact.
    """
    signed = np.nan_to_num(signed).astype(np.float32)
    decided = np.abs(signed).sum(axis=0).astype(int)
    # The p of every number of wins among every number of decided units that there is, one after the other.
    counts, of_comparison = np.unique(decided, return_inverse=True)
    starts = (np.cumsum(counts + 1) - counts - 1)[of_comparison]
    wins = np.concatenate([np.arange(count + 1) for count in counts])
    tables = side_p(wins, np.repeat(counts, counts + 1) - wins).astype(np.float32)
    for flips in sign_flips(len(signed), draws, seed):
        places = ((decided + flips @ signed) / 2).astype(np.int32) + starts.astype(np.int32)
        yield np.stack([table[places] for table in tables])


def step_down(signed: np.ndarray, draws: int, seed: Sequence[str | int]) -> np.ndarray:
    """Adjusted p of the likelier side by step-down min-p, float (comparisons,); never below the exact two-sided p.

    Westfall & Young (1993), Algorithm 2.8, over both sides of each comparison: one that is found leaves the family, its
    other side stays. It finds more than Holm's method where comparisons repeat one another. The observed signs are one
    of the flips, so that no p is 0 (Phipson & Smyth 2010).

    Args: as for :func:`flipped_p`.
    """
    counts = [(signed == sign).sum(axis=0) for sign in (1, -1)]
    exact = side_p(*counts)
    observed = exact.astype(np.float32)
    likelier, side = observed.min(axis=0), observed.argmin(axis=0)
    order = np.argsort(likelier, kind="stable")
    columns, as_small, flips = np.arange(len(order)), np.zeros(len(order)), 0
    for block in flipped_p(signed, draws, seed):
        p = block[..., order]
        # Both sides of this comparison and of those after it; the other sides of those before it.
        after = np.minimum.accumulate(p.min(axis=0)[:, ::-1], axis=1)[:, ::-1]
        other = np.minimum.accumulate(p[1 - side[order], :, columns].T, axis=1)
        smallest = after.copy()
        smallest[:, 1:] = np.minimum(after[:, 1:], other[:, :-1])
        as_small += (smallest <= likelier[order]).sum(axis=0)
        flips += len(smallest)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(as_small / flips)
    return np.maximum(adjusted, two_sided(exact))


# Counts of sets ------------------------------------------------------------------------------------------------------


def simes_thresholds(p_sides: np.ndarray, alpha: float) -> np.ndarray:
    """Below which u true nulls rarely are, for each u: u alpha / h, (2 m,); ARI (Rosenblatt et al. 2018).

    h is Hommel's (1988), the size of the largest set that Simes' test does not reject. Proven where p-values of
    comparisons are independent or positively dependent (PRDS); both sides of one are never small together.
    :func:`flip_thresholds` know how comparisons depend.

    Args:
        p_sides: one-sided p, float (2, comparisons).
        alpha: the level.
    """
    p = np.sort(p_sides, axis=None)
    ranks = np.arange(1, len(p) + 1)
    # Of a comparison one side is at least 1/2, so that there is such a set.
    largest = next(h for h in ranks[::-1] if (p[len(p) - h :] * h > ranks[:h] * alpha).all())
    return ranks * alpha / largest


def flip_thresholds(signed: np.ndarray, draws: int, seed: Sequence[str | int], alpha: float) -> np.ndarray:
    """For :func:`at_least`: the largest uλ / 2m that flips rarely pass, (2 m,).

    In at most ``alpha`` of flips are there u one-sided p, for any u, that are no larger than the threshold of u
    (Andreella et al. 2023, pARI, with the template of Simes). λ is 0 where so few units show nothing.

    Args: as for :func:`flipped_p`, and the level.
    """
    ranks = np.arange(1, 2 * signed.shape[1] + 1)
    of_blocks = []
    for block in flipped_p(signed, draws, seed):
        p = np.sort(np.concatenate(list(block), axis=1), axis=1)
        of_blocks.append((p / ranks).min(axis=1))
    least = np.sort(np.concatenate(of_blocks)).astype(float)
    # Just below the first that is one too many; also where others are equal to it but for rounding.
    allowed = int(np.floor(alpha * len(least) + 1e-9))
    return ranks * least[allowed] * (1 - 1e-5) if allowed < len(least) else np.ones(len(ranks))


def at_least(p_sides: np.ndarray, thresholds: np.ndarray, chosen: np.ndarray | None = None) -> tuple[int, int, int]:
    """In how many of the chosen comparisons, at least, either group wins more often, the first, and the second.

    Closed testing gives all such counts at once: in 1 − alpha of studies none is too large, whatever was chosen when
    all was known (Goeman & Solari 2011; Goeman, Meijer, Krebs & Solari 2019). The nulls are both sides of every
    comparison, so that counts of either side, and of both, are true together.

    Each is the most of 1 − u + (how many p are at most the threshold of u), over u.

    Args:
        p_sides: one-sided p, float (2, comparisons).
        thresholds: rising, (2 m,), by Simes or by flips.
        chosen: bool (comparisons,); all by default.

    >>> p = np.array([[0.001, 0.001, 0.9, 0.5], [0.999, 0.999, 0.1, 0.5]])
    >>> at_least(p, simes_thresholds(p, 0.05))
    (2, 2, 0)
    """
    p = np.asarray(p_sides) if chosen is None else np.asarray(p_sides)[:, chosen]
    first, second = (_at_least(side, thresholds) for side in p)
    # Both counts are true at once, so that their sum is, too.
    return max(_at_least(p, thresholds), first + second), first, second


def _at_least(p: np.ndarray, thresholds: np.ndarray) -> int:
    below = np.searchsorted(np.sort(p, axis=None), thresholds, side="right")
    return int(max(0, (below - np.arange(len(thresholds))).max(initial=0)))
