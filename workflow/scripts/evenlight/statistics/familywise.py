"""Which of many cells differ, for these trained models: a studentised bootstrap of the largest statistic, step by step.

Units are drawn again, for all cells at once, since cells have the same units. Each resample gives every cell a
statistic, how far its difference is from the real one in its own standard errors, and the largest of them shows how far
the largest of so many, and so dependent, cells gets by chance (Romano & Wolf 2005). A cell whose real statistic is
larger differs. Cells that differ are then taken out, and the next ones are held against the rest.

Samples of skewed scores often lack the rare large ones, and look regular. Three things keep such cells from being
called different. The real statistic has a reserve for a unit that nobody saw (:func:`evenlight.statistics.pooled.
reserve_of`). Resamples are counted on the side to which a cell's reach farther, and twice. And cells of one metric stay
on one scale, so that those whose samples hold rare scores speak for those whose samples lack them (:func:`scales`).

A resample gives each cluster of units a weight from a Poisson distribution with mean 1, how often it is drawn (Hanley &
MacGibbon 2006). The weight is a function of the cluster's name and the resample's number alone: it is the same in all
cells, and in datasets that have the same units, and no weight is stored. Resamples are used in the place of exchanged
signs or labels, because those test another hypothesis, that the whole distribution is the same: with skewed differences
they find something in most studies in which no mean differs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import poisson

from evenlight.core.seeds import derived_seed
from evenlight.statistics.blocks import row_blocks
from evenlight.statistics.pooled import Estimate, Part

# Of a resample that leaves nothing to estimate a variance with: it says that anything may be.
LARGEST = 1e6
# Between the counters of one cluster: the golden ratio of 2⁶⁴, as in SplitMix64.
STEP = np.uint64(0x9E3779B97F4A7C15)
# The weight of each 16-bit number: the quantiles of the Poisson distribution, right to 2⁻¹⁶.
WEIGHTS = poisson.ppf((np.arange(2**16) + 0.5) / 2**16, 1).astype(np.int8)
PER_NUMBER = 4  # 16-bit numbers in a 64-bit one
# Resamples that reach farther than all but this share of them show to which side, and how far, a cell may err.
RARELY = 0.01
# Cells of a metric that are enough to tell how far such cells may err.
LEAST_ALIKE = 6


def keys_of(names: Sequence) -> np.ndarray:
    """A number for each cluster from its name; uint64 (clusters,)."""
    return np.array([derived_seed("resample", name) for name in names], dtype=np.uint64)


def weights(keys: np.ndarray, first: int, draws: int) -> np.ndarray:
    """How often each cluster is in some resamples, int8 (draws, clusters).

    Args:
        keys: from :func:`keys_of`.
        first: number of the first of these resamples, a multiple of four.
        draws: how many.
    """
    counters = np.arange(first // PER_NUMBER, -(-(first + draws) // PER_NUMBER), dtype=np.uint64)
    numbers = random_numbers(keys, counters)
    quarters = [(numbers >> np.uint64(16 * part)).astype(np.uint16) for part in range(PER_NUMBER)]
    return WEIGHTS[np.stack(quarters, axis=1).reshape(-1, len(keys))[:draws]]


def random_numbers(keys: np.ndarray, counters: np.ndarray) -> np.ndarray:
    """A random number for each counter and key, uint64 (counters, keys): SplitMix64 (Steele, Lea & Flood 2014)."""
    numbers = keys + counters.astype(np.uint64)[:, None] * STEP
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def normal_deviate(square: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """The normal deviate that is as rare as a t whose square is given.

    Wallace's (1959) formula (8ν + 1) / (8ν + 3) √(ν log(1 + t² / ν)), right to 0.06 for ν ≥ 5 degrees of freedom and t
    up to 8. So cells with few and with many units are on one scale.
    """
    return (8 * degrees + 1) / (8 * degrees + 3) * np.sqrt(degrees * np.log1p(square / degrees))


def t_of_deviate(deviate: np.ndarray | float, degrees: np.ndarray | float) -> np.ndarray:
    """The t, at least 0, whose :func:`normal_deviate` this is; infinite where it has no number."""
    with np.errstate(over="ignore"):
        return np.sqrt(degrees * np.expm1((deviate * (8 * degrees + 3) / (8 * degrees + 1)) ** 2 / degrees))


def deviate_of(p: np.ndarray) -> np.ndarray:
    """The normal deviate with this two-sided p."""
    return -ndtri(np.asarray(p) / 2)


@dataclass(frozen=True)
class _Level:
    """What is summed over clusters, each float (clusters, cells), or (clusters, 1) where all cells have the same."""

    share: np.ndarray
    known: np.ndarray
    added: np.ndarray
    left_out: np.ndarray
    ratio: np.ndarray  # share / (1 - share)
    factor: np.ndarray  # ((K − 1) / K)², (cells,)
    means: np.ndarray  # (cells,)

    @classmethod
    def of(cls, part: Part) -> "_Level":
        alike = (part.share == part.share[:1]).all()
        share, ratio = (values[:1] if alike else values for values in (part.share, part.share * part.ratio))
        return cls(
            share.T, (share > 0).T.astype(float), part.added.T, part.left_out.T, ratio.T, part.factor**2, part.means
        )

    def degrees(self, drawn: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Those of :attr:`evenlight.statistics.pooled.Part.degrees`, of clusters as often as they are drawn."""
        return np.maximum(total**2 / (drawn @ self.share**2) - self.means, 1)


def real_deviates(estimate: Estimate, signed: bool = False) -> np.ndarray:
    """How far each estimate is from zero: the normal deviate that is as rare as its t; (cells,).

    t is that of :attr:`evenlight.statistics.pooled.Estimate.beyond_reserve`. The deviate is not larger than that of
    :attr:`evenlight.statistics.pooled.Estimate.rarest`; 0 where the estimate is, or is not known.

    Args:
        estimate: of some cells.
        signed: whether it has the sign of the value, for the claim that a value is above zero.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        deviates = normal_deviate(estimate.beyond_reserve**2 / estimate.units_variance, estimate.degrees)
    deviates = np.where(estimate.value == 0, 0, np.nan_to_num(deviates, nan=0, posinf=LARGEST))
    deviates = np.minimum(deviates, deviate_of(estimate.rarest))
    return np.where(estimate.value < 0, -deviates, deviates) if signed else deviates


def resampled_deviates(parts: Sequence[Part], names: Sequence[Sequence], draws: int) -> np.ndarray:
    """How far resamples of each estimate are from it, float32 (draws, cells).

    Each is the normal deviate that is as rare as the resample's t, whose variance is that of
    :func:`evenlight.statistics.pooled.unit_variances`, of a resample with clusters as often as they are drawn, as are
    the degrees of freedom, which of two levels are Welch's. It has a sign: above zero is the side to which resamples
    of this cell reach farther. Of skewed scores that is the side to which samples err that lack the rare large ones.
    Estimates that do not vary have 0 in all resamples, a resample without a variance has :data:`LARGEST`.

    Args:
        parts: what clusters add, of pairs or of either level.
        names: of the clusters of each part; the same in both where levels have a cluster in common.
        draws: resamples.
    """
    levels = [_Level.of(part) for part in parts]
    joined = len(parts) == 2 and not set(names[0]).isdisjoint(names[1])
    varies = np.max([np.abs(part.added).max(axis=1, initial=0) for part in parts], axis=0) > 0
    result = np.empty((draws, len(varies)), dtype=np.float32)
    for rows, drawn in _drawn(names, draws, joined):
        mean, variance, degrees = _moments(levels, drawn, joined)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviates = normal_deviate(mean**2 / variance, degrees)
        known = np.isfinite(deviates)
        result[rows] = np.where(varies, np.where(known, np.sign(mean) * deviates, LARGEST), 0)
    turned = np.where(_turned(result) & (result < LARGEST), -1, 1)
    return result * turned.astype(np.float32)


def _turned(resampled: np.ndarray) -> np.ndarray:
    """Whether the resamples that are known reach farther below zero than above, bool (cells,)."""
    known = resampled < LARGEST
    # Quantiles of the known ones, as order statistics: what is unknown stands at the end of each column.
    ordered, counts = np.sort(np.where(known, resampled, np.inf), axis=0), known.sum(axis=0)
    lower = np.floor(RARELY * np.maximum(counts - 1, 0)).astype(int)
    # As many lie beyond the one as beyond the other, so that a cell that is reversed has the other answer.
    ends = np.take_along_axis(ordered, np.stack([lower, np.maximum(counts - 1 - lower, 0)]), axis=0)
    return -ends[0] > ends[1]


def _drawn(names: Sequence[Sequence], draws: int, joined: bool) -> Iterator[tuple[slice, list[np.ndarray]]]:
    """Some resamples at a time, and the weights of the clusters of each level."""
    keys = [keys_of(part) for part in names[: 1 if joined else None]]
    for rows in row_blocks(draws, sum(map(len, keys))):
        drawn = [weights(part, rows.start, rows.stop - rows.start).astype(float) for part in keys]
        yield rows, drawn * 2 if joined else drawn


def _moments(
    levels: Sequence[_Level], drawn: Sequence[np.ndarray], joined: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D* − D of each resample, its variance and degrees of freedom, each (resamples, cells)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        totals = [weight @ level.share for level, weight in zip(levels, drawn, strict=True)]
        means = [weight @ level.added / total for level, weight, total in zip(levels, drawn, totals, strict=True)]
        factors = []
        for level, weight in zip(levels, drawn, strict=True):
            count = weight @ level.known
            # What is drawn once, and alone, has no variance.
            factors.append(np.where(count > 1, count / (count - 1), 0) * level.factor)
        variances = []
        for level, weight, total, mean, factor in zip(levels, drawn, totals, means, factors, strict=True):
            # Σ m (left out − mean · ratio)², where m are the weights; 0 where it is rounding of its terms.
            whole = weight @ level.left_out**2
            squares = whole - 2 * mean * (weight @ (level.left_out * level.ratio)) + mean**2 * (weight @ level.ratio**2)
            variances.append(np.where(squares > 1e-12 * whole, squares, 0) / total**2 * factor)
        degrees = [level.degrees(weight, total) for level, weight, total in zip(levels, drawn, totals, strict=True)]
        if len(levels) == 1:
            return means[0], variances[0], degrees[0]
        variance, fewest = sum(variances), np.minimum(*degrees)
        if joined:
            products = _products(*levels, drawn[0], *means) / np.prod(totals, axis=0)
            return sum(means), variance + 2 * np.sqrt(np.prod(factors, axis=0)) * products, fewest
        spread = sum(part**2 / number for part, number in zip(variances, degrees, strict=True))
        return sum(means), variance, np.where(spread > 0, variance**2 / spread, fewest)


def _products(first: _Level, second: _Level, weight: np.ndarray, mean: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Σ m (left out − mean · ratio) of the one level times that of the other."""
    return (
        weight @ (first.left_out * second.left_out)
        - other * (weight @ (first.left_out * second.ratio))
        - mean * (weight @ (second.left_out * first.ratio))
        + mean * other * (weight @ (first.ratio * second.ratio))
    )


def step_down_p(statistics: np.ndarray) -> np.ndarray:
    """The adjusted p of each cell (cells,), from statistics (1 + draws, cells), the real ones first.

    Romano & Wolf 2005, Algorithm 4.1 with Westfall and Young's way from large to small; the real one counts as one of
    the resamples, so that no p is 0. A p is twice the share of resamples that are as large, since resamples have their
    sign, and the side on which a cell errs is not known of samples that lack its rare scores.
    """
    order = np.argsort(statistics[0], kind="stable")
    p = np.empty(len(order))
    largest = np.full(len(statistics), -np.inf, dtype=statistics.dtype)
    for cell in order:
        np.maximum(largest, statistics[:, cell], out=largest)
        # Equal but for rounding counts as equally large.
        p[cell] = min(1, 2 * (largest >= statistics[0, cell] - 1e-5 * abs(statistics[0, cell])).mean())
    # The larger the statistic, the smaller p: from the largest down, no p is below that of a larger one.
    p[order[::-1]] = np.maximum.accumulate(p[order[::-1]])
    return p


def single_p(real: np.ndarray, resampled: np.ndarray) -> np.ndarray:
    """What :func:`step_down_p` is of each cell alone, (cells,), from (cells,) and (draws, cells)."""
    beyond = (resampled >= real - 1e-5 * np.abs(real)).sum(axis=0)
    return np.minimum(1, 2 * (1 + beyond) / (1 + len(resampled)))


def critical_deviate(resampled: np.ndarray, alpha: float) -> float:
    """The normal deviate beyond which any of these cells would be found at this level in the first step."""
    return float(critical_deviates(resampled.max(axis=1, keepdims=True), alpha)[0])


def critical_deviates(resampled: np.ndarray, alpha: float) -> np.ndarray:
    """The normal deviate of each cell beyond which it would be found alone, (cells,), from (draws, cells)."""
    draws = len(resampled)
    place = max(int(np.floor(alpha * (draws + 1) / 2 + 1e-9)) - 1, 0)
    return np.partition(resampled, draws - 1 - place, axis=0)[draws - 1 - place].astype(float)


def scales(resampled: np.ndarray, alike: Sequence | None = None) -> np.ndarray:
    """By what the statistics of each cell, real and resampled, are to be divided; (cells,).

    Cells that are ``alike`` stay on one scale, in which the one that shows how far such cells may err speaks for those
    that do not: samples that lack the rare scores have the shortest reach, and it is too short. Groups of such cells
    are brought to one reach (Beran 1988), since of a group in which few clusters carry all, resamples reach so far
    that no cell of another would ever be found. Groups of fewer than six cells know too little of themselves, and are
    one group.

    Args:
        resampled: float (draws, cells).
        alike: a name for each cell, that of its metric; None where all are alike.
    """
    groups = groups_of(alike, resampled.shape[1])
    result = np.ones(resampled.shape[1])
    for group in np.unique(groups):
        cells = groups == group
        reach = critical_deviates(resampled[:, cells].max(axis=1, keepdims=True), 2 * RARELY).item()
        result[cells] = reach if reach > 0 else 1
    return result


def groups_of(alike: Sequence | None, cells: int) -> np.ndarray:
    """A number for the group of each cell, int (cells,); groups of fewer than six are one.

    >>> groups_of(["gini"] * 6 + ["sparsity"] * 7 + ["flip", "flip", "mass"], 16).tolist()
    [2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 0, 0, 0]
    """
    if alike is None:
        return np.zeros(cells, dtype=int)
    codes, counts = np.unique(np.asarray(alike, dtype=str), return_inverse=True, return_counts=True)[1:]
    return np.where(counts[codes] < LEAST_ALIKE, 0, 1 + codes)
