"""Confidence intervals of effect sizes that are averaged over seeds.

The same units (pairs, or items) are scored in every seed, so a resample draws units with all their seeds, and in a
paired design with both forms: scores of one unit are not independent. Where units belong to clusters, these are drawn.
The intervals are about further units, not about retraining.

That of d is bias-corrected and accelerated (BCa; Efron 1987, with the acceleration of two samples as in Davison
& Hinkley 1997, Section 5.3.2), at levels that make good for the bootstrap's variance, which is too small by
(n - 1) / n, and for its being estimated (Hesterberg 2015, Section 4.1.3). That of delta needs no resamples: Student's
interval with the variance of the jackknife, on Fisher's scale, so that it stays within -1 and 1. It covers what it
states also where most scores are 0. What was measured stands in docs/definitions.md
(``bench/verdicts/measure_coverage.py``).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evenlight.statistics.arrays.blocks import NUMBERS
from evenlight.statistics.arrays.resamples import remembered
from evenlight.statistics.arrays.units import numbered, settled, stratum_weight

EFFECTS = ["cohens_d", "cliffs_delta"]

# Resamples that are computed together: their weights stay in the processor's cache, and of many units in memory.
BLOCK = 250


@dataclass(frozen=True)
class Interval:
    """An effect, the mean of the seeds' effects, and the ends of its confidence interval."""

    estimate: float
    low: float
    high: float


def bootstrap_intervals(
    a: ArrayLike,
    b: ArrayLike,
    paired: bool,
    draws: int,
    confidence: float,
    generator: np.random.Generator,
    strata: tuple[np.ndarray, np.ndarray] | None = None,
    clusters: tuple[np.ndarray, np.ndarray] | None = None,
) -> dict[str, Interval]:
    """Intervals of the effects named in :data:`EFFECTS` from scores of shape (seeds, units), NaN where undefined.

    In a paired design column i of both arrays is one pair. A score that is NaN is left out of its group and seed, the
    unit's other scores are not. In a resample d may be infinite (groups constant at different values): it counts as
    such, and an end of the interval may be infinite. It may be undefined (a group without scores in some seed, or
    seeds infinite in both directions): that resample is left out. Where the estimate is undefined so is the interval.
    Groups that do not overlap at all have a delta of ±1 and an interval without width. There is none where a group has
    scores of one unit, or of one cluster: nobody knows how others would differ from it.

    With ``strata``, int (seeds, units) of both groups and below 0 for a unit in none, the effects are those within
    strata: means of the strata's differences and deltas with the weights n_a n_b / (n_a + n_b + 1), d in units of the
    root of the variances' mean with these weights. Strata that are the same under all seeds keep their units in every
    resample. With ``clusters``, (units,) of both groups, a resample draws clusters with all their units. Without a seed
    nothing is defined.
    """
    a, b = settled(a, b)
    if not len(a):
        return dict.fromkeys(EFFECTS, Interval(*[float("nan")] * 3))
    drawn = _drawn(a.shape[1], b.shape[1], paired, strata, clusters)
    by_stratum = [(a, b)] if strata is None else _by_stratum(a, b, *strata)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimates = _left_out(by_stratum, False, False)[:, 0]
        scored = [of[~np.isnan(side).all(axis=0)] for of, side in ((drawn.of_a, a), (drawn.of_b, b))]
        if min(len(np.unique(of)) for of in scored) < 2:
            return {name: Interval(float(of), np.nan, np.nan) for name, of in zip(EFFECTS, estimates, strict=True)}
        influences = _influences(by_stratum, paired, drawn)
        by_seed = [[_Powers.of(a[seed], b[seed]) for a, b in by_stratum] for seed in range(len(a))]
        resampled = np.concatenate(
            [_standardised(by_seed, *weights) for weights in _resamples(drawn, draws, generator)]
        )
        d = _accelerated(estimates[0], resampled, influences[0], drawn.blocks, confidence)
        delta = _fishers(estimates[1], influences[1], drawn.blocks, confidence)
    return dict(zip(EFFECTS, (d, delta), strict=True))


@dataclass(frozen=True)
class _Drawn:
    """What a resample draws: ``of_a`` and ``of_b``, int (units,), say which of them each unit goes with.

    ``blocks`` have the numbers of those among which is drawn, int (their number,) each.
    """

    of_a: np.ndarray
    of_b: np.ndarray
    blocks: list[np.ndarray]

    @cached_property
    def are_units(self) -> bool:
        """Whether what is drawn are the units of the first group, in their order."""
        return sum(map(len, self.blocks)) == len(self.of_a) and bool((self.of_a == np.arange(len(self.of_a))).all())


def _drawn(
    units_a: int,
    units_b: int,
    paired: bool,
    strata: tuple[np.ndarray, np.ndarray] | None,
    clusters: tuple[np.ndarray, np.ndarray] | None,
) -> _Drawn:
    """Units, or clusters of them; of both groups together where they share any, within strata that do not vary."""
    if clusters is None:
        of_a = np.arange(units_a)
        of_b = of_a if paired else units_a + np.arange(units_b)
    else:
        codes, _ = numbered(np.concatenate([np.asarray(part).astype(str) for part in clusters]))
        of_a, of_b = codes[:units_a], codes[units_a:]
    together = np.concatenate([of_a, of_b])
    count = together.max() + 1
    # What is drawn is alike in the groups and strata that it has units of.
    kinds = np.repeat([0, 0 if paired or np.intersect1d(of_a, of_b).size else 1], [units_a, units_b])
    if strata is not None and all((part == part[0]).all() for part in strata):
        kinds = 2 * (1 + np.concatenate([part[0] for part in strata])) + kinds
    _, kinds = np.unique(kinds, return_inverse=True)
    has = np.zeros((count, kinds.max() + 1), dtype=bool)
    has[together, kinds] = True
    block = np.unique(has[:, ::-1], axis=0, return_inverse=True)[1].ravel()
    return _Drawn(of_a, of_b, [np.flatnonzero(block == number) for number in range(block.max() + 1)])


def _resamples(drawn: _Drawn, draws: int, generator: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """How often each unit is in each resample, (units, resamples) for both groups, in blocks."""
    block = max(1, min(BLOCK, NUMBERS // max(len(drawn.of_a), len(drawn.of_b))))
    for start in range(0, draws, block):
        size = min(block, draws - start)
        of_blocks = [_counts(len(members), size, generator) for members in drawn.blocks]
        # Of one block, its members are all in order, and of pairs each is a unit of both groups: nothing is copied.
        counts = of_blocks[0] if len(of_blocks) == 1 else _put_together(of_blocks, drawn.blocks)
        of_a = counts if drawn.are_units else counts[drawn.of_a]
        yield of_a, of_a if drawn.of_b is drawn.of_a else counts[drawn.of_b]


def _put_together(counts: list[np.ndarray], blocks: list[np.ndarray]) -> np.ndarray:
    """The counts of all that is drawn, (what is drawn, resamples), from those of blocks."""
    together = np.zeros((sum(map(len, blocks)), counts[0].shape[1]))
    for members, of_block in zip(blocks, counts, strict=True):
        together[members] = of_block
    return together


@remembered
def _counts(units: int, draws: int, generator: np.random.Generator) -> np.ndarray:
    chosen = generator.integers(0, units, size=(units, draws)) * draws + np.arange(draws)
    return np.bincount(chosen.ravel(), minlength=units * draws).reshape(units, draws).astype(float)


def _by_stratum(
    a: np.ndarray, b: np.ndarray, strata_a: np.ndarray, strata_b: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The scores of every stratum that both groups have, those of the others undefined."""
    shared = np.intersect1d(strata_a[strata_a >= 0], strata_b[strata_b >= 0])
    parts = [(np.where(strata_a == code, a, np.nan), np.where(strata_b == code, b, np.nan)) for code in shared]
    return parts or [(np.full(a.shape, np.nan), np.full(b.shape, np.nan))]


def _left_out(by_stratum: list[tuple[np.ndarray, np.ndarray]], from_a: bool, from_b: bool) -> np.ndarray:
    """The effects with each unit of the named groups left out in turn, or with none, means over seeds; (effects, n)."""
    effects, seeds = np.zeros(1), range(len(by_stratum[0][0]))
    for seed in seeds:
        parts = [_sums_left(a[seed], b[seed], from_a, from_b) for a, b in by_stratum]
        effects = effects + np.vstack([_from_sums([part[1:] for part in parts]), _delta(parts)])
    return effects / len(seeds)


def _influences(by_stratum: list[tuple[np.ndarray, np.ndarray]], paired: bool, drawn: _Drawn) -> np.ndarray:
    """How much each effect falls when what is drawn together is left out, (effects, what is drawn); mean 0 in a block.

    Units are left out in turn, and what those do that are drawn together is added up. Without one of n units the others
    weigh n / (n - 1) times as much, without one of fewer clusters more.
    """
    count = sum(map(len, drawn.blocks))
    block = np.empty(count, dtype=int)
    for number, members in enumerate(drawn.blocks):
        block[members] = number
    influences = np.zeros((len(EFFECTS), count))
    sides = [(True, True, drawn.of_a)] if paired else [(True, False, drawn.of_a), (False, True, drawn.of_b)]
    for from_a, from_b, numbers in sides:
        left_out = _left_out(by_stratum, from_a, from_b)
        units = np.bincount(block[numbers], minlength=len(drawn.blocks))[block[numbers]]
        of_units = (left_out.mean(axis=1, keepdims=True) - left_out) * (units - 1) / units
        influences += [np.bincount(numbers, effect, minlength=count) for effect in of_units]
    for members in drawn.blocks:
        of_block = influences[:, members]
        scale = len(members) / max(len(members) - 1, 1)
        influences[:, members] = (of_block - of_block.mean(axis=1, keepdims=True)) * scale
    return influences


@dataclass(frozen=True)
class _Powers:
    """Of one seed and stratum what no resample changes: which units have a score, and :func:`_powers` of these.

    ``known_a`` and ``known_b`` are bool (units,), None where all have one.
    """

    known_a: np.ndarray | None
    known_b: np.ndarray | None
    a: np.ndarray
    b: np.ndarray

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray) -> "_Powers":
        """Those of scores (units,) of both groups."""
        known_a, known_b = ~np.isnan(a), ~np.isnan(b)
        powers = _powers(a[known_a], b[known_b])
        return cls(None if known_a.all() else known_a, None if known_b.all() else known_b, *powers)


def _standardised(by_seed: list[list[_Powers]], weights_a: np.ndarray, weights_b: np.ndarray) -> np.ndarray:
    """d of weighted units, means over seeds: of each seed its strata, weights (units, n) -> (n,)."""
    d = (_from_sums([_sums(part, weights_a, weights_b) for part in of]) for of in by_seed)
    return sum(d, np.zeros(1)) / len(by_seed)


def _sums(part: _Powers, weights_a: np.ndarray, weights_b: np.ndarray) -> tuple:
    """What :func:`_from_sums` takes of one seed and stratum: weights (units, n)."""
    of_a = weights_a if part.known_a is None else weights_a[part.known_a]
    of_b = weights_b if part.known_b is None else weights_b[part.known_b]
    size_a = of_a.sum(axis=0)
    return size_a, size_a if of_b is of_a else of_b.sum(axis=0), part.a @ of_a, part.b @ of_b


def _sums_left(a: np.ndarray, b: np.ndarray, from_a: bool, from_b: bool) -> tuple:
    """Of one seed and stratum, with each unit of the named groups left out in turn, or with none.

    How often a score of the first group is above one of the second, twice where it is and once where they are equal;
    and as :func:`_sums`. What a unit adds to each sum is taken from the whole. Without a score it adds nothing.
    """
    known_a, known_b = ~np.isnan(a), ~np.isnan(b)
    scores_a, scores_b = a[known_a], b[known_b]
    wins_a, losses_b = (np.add(*_ranked(*scores)) for scores in ((scores_a, scores_b), (scores_b, scores_a)))
    units = len(a) if from_a else len(b) if from_b else 1
    size_a, size_b, wins = known_a.sum(), known_b.sum(), np.full(units, float(wins_a.sum()))
    powers_a, powers_b = _powers(scores_a, scores_b)
    sums_a, sums_b = (np.repeat(powers.sum(axis=1, keepdims=True), units, axis=1) for powers in (powers_a, powers_b))
    if from_a:
        wins[known_a] -= wins_a
        sums_a[:, known_a] -= powers_a
    if from_b:
        wins[known_b] -= 2 * size_a - losses_b
        sums_b[:, known_b] -= powers_b
    if from_a and from_b:
        # A pair's own comparison was taken away twice.
        whole = known_a & known_b
        wins[whole] += 1 + np.sign(a[whole] - b[whole])
    return wins, size_a - known_a if from_a else size_a, size_b - known_b if from_b else size_b, sums_a, sums_b


def _ranked(scores: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each score, how many of the others are below it, and how many are not above it."""
    others = np.sort(others)
    return np.searchsorted(others, scores, "left"), np.searchsorted(others, scores, "right")


def _powers(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores, their squares, their ranks among all scores and the squares of these; (4, units) of either group."""
    # As in cohens_d, constancy is asked by the values. Their ranks are whole numbers, sums of which have no rounding.
    values, ranks = np.unique(np.concatenate([a, b]), return_inverse=True)
    origin, ranks = np.median(values) if len(values) else 0.0, ranks.astype(float)
    of_a, of_b = (
        np.stack([scores - origin, (scores - origin) ** 2, rank, rank**2])
        for scores, rank in ((a, ranks[: len(a)]), (b, ranks[len(a) :]))
    )
    return of_a, of_b


def _from_sums(strata: list[tuple]) -> np.ndarray:
    """d (n,) from the sizes of both groups, sums of weights (n,), and their sums of :func:`_powers`, (4, n)."""
    total = difference = spread = np.zeros(1)
    for size_a, size_b, sums_a, sums_b in strata:
        pairs = size_a * size_b
        weight = stratum_weight(size_a, size_b)
        mean_a, variance_a, rank_a = _moments(sums_a, size_a)
        mean_b, variance_b, rank_b = _moments(sums_b, size_b)
        shift = np.where((variance_a == 0) & (variance_b == 0) & (rank_a == rank_b), 0.0, mean_a - mean_b)
        there = pairs > 0
        total = total + weight
        difference = difference + np.where(there, weight * shift, 0)
        spread = spread + np.where(there, weight * (variance_a + variance_b) / 2, 0)
    difference = difference / total
    d = difference / np.sqrt(spread / total)
    # No difference at all is no effect, also where there is no variance either.
    return np.where(difference == 0, 0.0, d)


def _delta(strata: list[tuple]) -> np.ndarray:
    """Cliff's delta (n,) from what :func:`_sums_left` gives of each stratum."""
    total = delta = np.zeros(1)
    for wins, size_a, size_b, *_ in strata:
        pairs = size_a * size_b
        weight = stratum_weight(size_a, size_b)
        total = total + weight
        delta = delta + np.where(pairs > 0, weight * (wins / pairs - 1), 0)
    return delta / total


def _moments(sums: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance, exactly 0 where all ranks are one, and the mean rank, from sums of :func:`_powers`."""
    total, squares, rank, rank_squares = sums
    mean = total / size
    variance = np.where(size * rank_squares == rank**2, 0.0, np.maximum(squares / size - mean**2, 0))
    return mean, variance, rank / size


def _spread(influence: np.ndarray, blocks: list[np.ndarray]) -> tuple[float, float, float]:
    """The jackknife's variance of an effect, its degrees of freedom (Satterthwaite), and the bootstrap's variance.

    The bootstrap's is too small by (n - 1) / n for each block of n that it draws from.
    """
    sizes = np.array([len(members) for members in blocks])
    squares = np.array([(influence[members] ** 2).sum() for members in blocks])
    variances = squares * (sizes - 1) / sizes
    degrees = variances.sum() ** 2 / (variances[sizes > 1] ** 2 / (sizes[sizes > 1] - 1)).sum()
    return variances.sum(), degrees, (variances * (sizes - 1) / sizes).sum()


def _accelerated(
    estimate: float, resampled: np.ndarray, influence: np.ndarray, blocks: list[np.ndarray], confidence: float
) -> Interval:
    resampled = resampled[~np.isnan(resampled)]
    if np.isnan(estimate) or len(resampled) == 0:
        return Interval(float(estimate), float("nan"), float("nan"))
    below = ((resampled < estimate).mean() + (resampled <= estimate).mean()) / 2
    # Never beyond what so many resamples can tell, where the estimate is outside of all of them.
    bias = scipy.stats.norm.ppf(np.clip(below, 0.5 / len(resampled), 1 - 0.5 / len(resampled)))
    acceleration = np.nan_to_num((influence**3).sum() / (influence**2).sum() ** 1.5 / 6)
    variance, degrees, of_resamples = _spread(influence, blocks)
    wider = np.sqrt(variance / of_resamples) * scipy.stats.t.ppf((1 + confidence) / 2, degrees)
    # Where nothing changes, or by how much is not known, there is nothing to make wider.
    half = wider if np.isfinite(wider) else scipy.stats.norm.ppf((1 + confidence) / 2)
    z = bias + half * np.array([-1, 1])
    levels = scipy.stats.norm.cdf(bias + z / (1 - acceleration * z))
    # Order statistics, since there is nothing between infinite ones.
    low, high = np.quantile(resampled, levels, method="inverted_cdf")
    return Interval(float(estimate), float(low), float(high))


def _fishers(estimate: float, influence: np.ndarray, blocks: list[np.ndarray], confidence: float) -> Interval:
    """The interval of an effect between -1 and 1: Student's, on the scale of its inverse hyperbolic tangent."""
    variance, degrees, _ = _spread(influence, blocks)
    if np.isnan(estimate) or variance == 0 or abs(estimate) == 1:
        return Interval(float(estimate), *[float(estimate)] * 2)
    half = scipy.stats.t.ppf((1 + confidence) / 2, degrees) * np.sqrt(variance) / (1 - estimate**2)
    low, high = np.tanh(np.arctanh(estimate) + half * np.array([-1, 1]))
    return Interval(float(estimate), float(low), float(high))
