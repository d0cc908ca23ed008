"""One difference from all seeds: how large it is, and what would change with further units and retraining.

Every unit (a pair of sentences, or a text) is scored in every seed, so neither the tests of the seeds nor all scores
together are independent. The difference D is the mean over seeds of the difference of the levels' means. Two things
make it uncertain, and each is measured by itself:

- **units**: what each unit, with all its seeds, adds to D (:class:`Part`). Units of one cluster (a theme, a book) are
  added up first, as they depend on one another. The variance is the jackknife's over clusters, so that clusters may
  differ in size (Bell & McCaffrey 2002, CR3). Units that are no pairs have a variance for each level, so that the
  levels may vary differently;
- **trainings**: how the seeds' differences vary, divided by their number. It holds some of what the units add, too.

The sum of these variances is at least that of D. A statement about these trained models, and further units, rests on
the first alone, one about the mean across retraining on all of them. With variances v with ν degrees of freedom
each, D² is held against Σ t²(ν) v, the t quantiles of the level that is asked for: Banerjee (1960) proved that for
normal scores this is never liberal, at any level, whatever the true variances are. Approximations by one number of
degrees of freedom (Satterthwaite 1946) are, and so are variances that are pooled where they happen to look alike: far
out, where a study with hundreds of cells asks, they are wrong by orders of magnitude. Nor is the seeds' variance of a
cell moderated by that of others: where few cells vary with the seed these would be found.

Where scores are means of draws, as of answers to one question, and there is one seed, draws take the place of
trainings: what a draw of some number adds to D, in all units together, is what it is measured by. Draws that are
independent from unit to unit are in the variance over units already. What draws of one number have in common, such as a
day, is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit

from evenlight.statistics.counted import counted_seeds, within_strata
from evenlight.statistics.effect_sizes import stratum_weight
from evenlight.statistics.resamples import carriers, reserve
from evenlight.statistics.rounding import threshold

# Below it a p is given as this number.
SMALLEST = 1e-100


@dataclass(frozen=True)
class Variance:
    """A variance and the degrees of freedom that it was estimated with, float (cells,) both."""

    value: np.ndarray
    degrees: np.ndarray


@dataclass(frozen=True)
class Part:
    """What each cluster adds to the mean of a level, or to that of pairs' differences, for some cells.

    Attributes:
        added: beyond the mean, float (cells, clusters); adds up to zero.
        share: what part of the mean is the cluster's, float (cells, clusters); adds up to one.
        means: how many means were taken away, those of the strata; (cells,).
    """

    added: np.ndarray
    share: np.ndarray
    means: np.ndarray

    @property
    def clusters(self) -> np.ndarray:
        """How many clusters have a score, (cells,)."""
        return (self.share > 0).sum(axis=1)

    @property
    def left_out(self) -> np.ndarray:
        """How the mean changes where each cluster is left out: ``added`` / (1 − ``share``)."""
        return self.added * self.ratio

    @property
    def ratio(self) -> np.ndarray:
        """1 / (1 − ``share``); 0 where a cluster is all that there is."""
        rest = 1 - self.share
        return np.divide(1.0, rest, out=np.zeros_like(rest), where=rest > 1e-9)

    @property
    def factor(self) -> np.ndarray:
        """(K − 1) / K of the jackknife over K clusters."""
        return 1 - 1 / np.maximum(self.clusters, 1)

    @property
    def moved(self) -> np.ndarray:
        """What each cluster adds to the root of the jackknife's variance, (cells, clusters)."""
        return np.sqrt(self.factor)[:, None] * self.left_out

    @property
    def effective(self) -> np.ndarray:
        """1 / Σ share², (cells,): K where K clusters are of one size."""
        squares = (self.share**2).sum(axis=1)
        return np.divide(1, squares, out=np.zeros_like(squares), where=squares > 0)

    @property
    def degrees(self) -> np.ndarray:
        """:attr:`effective` less the means: K − 1 where clusters are of one size; at least 1."""
        return np.maximum(self.effective - self.means, 1)


@dataclass(frozen=True)
class Estimate:
    """Means over seeds of something that is computed of many units, for some cells.

    Attributes:
        value: float (cells,).
        units: the parts of its variance over units.
        trainings: that over seeds, or over the draws of a single one; NaN where there is one of these, or where they do
            not differ at all.
        rarest: the least p that a test by exchange of so few clusters could have; (cells,). It is p where clusters do
            not vary at all, which is no certainty.
        parts: what clusters add to it, of pairs or of either level; with the same clusters where a cluster is in both.
        reserve: for units that nobody saw, from :func:`reserve_of`; (cells,).
    """

    value: np.ndarray
    units: Sequence[Variance]
    trainings: Variance
    rarest: np.ndarray
    parts: Sequence[Part]
    reserve: np.ndarray

    @property
    def units_variance(self) -> np.ndarray:
        """Over units, (cells,)."""
        return sum(part.value for part in self.units)

    @property
    def degrees(self) -> np.ndarray:
        """Of :attr:`units_variance`, Welch's (1947) where two levels vary apart; (cells,)."""
        fewest = np.min([part.degrees for part in self.units], axis=0)
        spread = sum(part.value**2 / part.degrees for part in self.units)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(spread > 0, self.units_variance**2 / spread, fewest).astype(float)

    @property
    def beyond_reserve(self) -> np.ndarray:
        """√(value² − reserve²), 0 where the reserve is larger: what the variances have to explain; (cells,)."""
        return np.sqrt(np.maximum(self.value**2 - self.reserve**2, 0))

    def variances(self, trainings: bool, wider: np.ndarray | float = 1.0) -> Sequence[Variance]:
        """Those that count for a statement about further ``trainings``, or about these trained models alone.

        ``wider``, (cells,), is by what the variances over units are multiplied, where resamples of skewed scores reach
        farther than Student's t.
        """
        units = [Variance(part.value * wider, part.degrees) for part in self.units]
        return [*units, self.trainings] if trainings else units

    def half_width(self, confidence: float, trainings: bool, wider: np.ndarray | float = 1.0) -> np.ndarray:
        """Half the interval with this confidence, (cells,)."""
        return np.hypot(_spread((1 - confidence) / 2, self.variances(trainings, wider)), self.reserve)

    def p(self, trainings: bool, wider: np.ndarray | float = 1.0) -> np.ndarray:
        """The two-sided p of the claim that the value is not zero, (cells,)."""
        return self._certain(2 * _tail(self.beyond_reserve, self.variances(trainings, wider)))

    def p_above(self, trainings: bool, wider: np.ndarray | float = 1.0) -> np.ndarray:
        """The one-sided p of the claim that the value is above zero, (cells,)."""
        tail = _tail(self.beyond_reserve, self.variances(trainings, wider))
        return self._certain(np.where(self.value >= 0, tail, 1 - tail))

    def _certain(self, p: np.ndarray) -> np.ndarray:
        return np.where(self.units_variance == 0, np.maximum(p, self.rarest), p)


def reserve_of(parts: Sequence[Part], seen: np.ndarray | float = 0.0) -> np.ndarray:
    """By how much a mean, or a difference of two, would change with three more units that lie far off; (cells,).

    They lie seven standard deviations of the units from the mean, those of the level whose units vary more, or, where
    that is more, as far as the farthest unit that was ``seen``. They join the level that has fewer units.

    Args:
        parts: what clusters add, of pairs or of either level; a cluster counts as a unit of its size.
        seen: how far the farthest unit lies from the mean of its cell, in the units of the scores, of all cells that
            are known to be alike, (cells,): see :func:`farthest_unit`.
    """
    fewest = np.min([part.effective for part in parts], axis=0)
    sd = np.max([np.sqrt((part.moved**2).sum(axis=1) * part.effective) for part in parts], axis=0)
    return reserve(sd, fewest, seen)


def farthest_unit(parts: Sequence[Part]) -> np.ndarray:
    """How far the farthest unit lies from the mean of its level, in the units of the scores; (cells,).

    Of clusters of unequal size it is how much the farthest adds, as if all had the same size.
    """
    return np.max([np.abs(part.added).max(axis=1, initial=0) * part.effective for part in parts], axis=0)


def carriers_of(parts: Sequence[Part], joined: bool) -> np.ndarray:
    """On about how many clusters the variance rests, (Σ c²)² / Σ c⁴ of what each adds; (cells,).

    K where all of K lie equally far from the mean, K / 3 where they are normal, 1 where one carries all; 0 where none
    varies.
    """
    return carriers(np.concatenate(_moved(parts, joined), axis=1) ** 2)


def _moved(parts: Sequence[Part], joined: bool) -> list[np.ndarray]:
    """:attr:`Part.moved` of either level, or, where levels have a cluster in common, of both together."""
    moved = [part.moved for part in parts]
    return [sum(moved)] if joined else moved


def _spread(tail: float | np.ndarray, variances: Sequence[Variance]) -> np.ndarray:
    return np.sqrt(sum(stdtrit(part.degrees, tail) ** 2 * part.value for part in variances))


def _tail(distance: np.ndarray, variances: Sequence[Variance]) -> np.ndarray:
    """The share of one tail at which :func:`_spread` reaches ``distance``; NaN where a variance is."""
    if len(variances) == 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(distance == 0, 0.5, stdtr(variances[0].degrees, -distance / np.sqrt(variances[0].value)))
    low, high = np.full(distance.shape, np.log(SMALLEST)), np.full(distance.shape, np.log(0.5))
    # Bisection: the spread grows as the tail gets smaller. 32 halvings of 230 leave 10⁻⁷ of p.
    for _ in range(32):
        middle = (low + high) / 2
        beyond = _spread(np.exp(middle), variances) > distance
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.where(np.isnan(_spread(0.25, variances)), np.nan, np.exp(high))


@dataclass(frozen=True)
class PooledEffects:
    """The differences of two levels over all seeds, for some cells; arrays (cells,) unless said otherwise.

    Attributes:
        difference: of the scores, first level minus second, in the metric's own units.
        joined: whether a cluster is in both levels of a design without pairs.
        sd: the standard deviation within levels, mean over seeds of the root of the mean of both levels' variances
            (divisor n − 1).
        above, below: ``difference`` + bound and bound − ``difference``, where the bound is a number or, as an estimate
            that varies too, a number of ``sd``. Both are above zero where the levels are equivalent.
        by_seed: ``difference`` of each seed, float (cells, seeds); NaN where it does not count.
        counted: which seeds count, bool (cells, seeds).
        units_a, units_b: that have scores; of pairs both count the same.
        left_out_a, left_out_b: that have none.
        clusters: the fewest clusters of a level that have scores.
        differing: how many clusters differ: pairs whose forms are scored otherwise, texts with other scores than most.
        carriers: on about how many clusters the variance over units rests (:func:`carriers_of`).
        effective: clusters of the level that has fewer, as if all had one size.
        farthest: how far the farthest unit lies from the mean of its level (:func:`farthest_unit`).
        same: whether no two scores differ by more than rounding.
    """

    difference: Estimate
    joined: bool
    sd: np.ndarray
    above: Estimate
    below: Estimate
    by_seed: np.ndarray
    counted: np.ndarray
    units_a: np.ndarray
    units_b: np.ndarray
    left_out_a: np.ndarray
    left_out_b: np.ndarray
    clusters: np.ndarray
    differing: np.ndarray
    carriers: np.ndarray
    effective: np.ndarray
    farthest: np.ndarray
    same: np.ndarray

    def p_equivalence(self, trainings: bool, wider: np.ndarray | float = 1.0) -> np.ndarray:
        """The p of the claim that the difference is within the bound: the larger of two one-sided tests.

        Schuirmann 1987.
        """
        return np.maximum(self.above.p_above(trainings, wider), self.below.p_above(trainings, wider))

    def within(self) -> Estimate:
        """How far the difference is within the bound, on the side that is less sure."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t_above, t_below = (side.value / np.sqrt(side.units_variance) for side in (self.above, self.below))
        above = t_above < t_below

        def chosen(first: np.ndarray, second: np.ndarray) -> np.ndarray:
            return np.where(above if first.ndim == 1 else above[:, None], first, second)

        def either(first: Variance, second: Variance) -> Variance:
            return Variance(chosen(first.value, second.value), first.degrees)

        return Estimate(
            chosen(self.above.value, self.below.value),
            [either(*units) for units in zip(self.above.units, self.below.units, strict=True)],
            either(self.above.trainings, self.below.trainings),
            self.above.rarest,
            [
                Part(chosen(first.added, second.added), first.share, first.means)
                for first, second in zip(self.above.parts, self.below.parts, strict=True)
            ],
            chosen(self.above.reserve, self.below.reserve),
        )

    def alike(self, seen: np.ndarray) -> "PooledEffects":
        """The same with a reserve for units as far off as the farthest that was ``seen`` in cells alike, (cells,)."""
        known = reserve(0.0, self.effective, seen)
        of_all = {
            name: replace(estimate, reserve=np.maximum(estimate.reserve, known))
            for name, estimate in (("difference", self.difference), ("above", self.above), ("below", self.below))
        }
        return replace(self, **of_all)

    def without_parts(self) -> "PooledEffects":
        """The same without what single clusters add, which is most of it."""
        of_all = {
            name: replace(estimate, parts=[])
            for name, estimate in (("difference", self.difference), ("above", self.above), ("below", self.below))
        }
        return replace(self, **of_all)


def pooled_effects(
    a: np.ndarray,
    b: np.ndarray,
    paired: bool,
    bound: float | np.ndarray,
    *,
    in_sds: bool | np.ndarray = True,
    clusters: tuple[Sequence, Sequence] | None = None,
    strata: tuple[np.ndarray, np.ndarray] | None = None,
    sd_of: tuple[np.ndarray, np.ndarray] | None = None,
    draws: tuple[np.ndarray, np.ndarray] | None = None,
) -> PooledEffects:
    """The pooled effects of scores (cells, seeds, units), NaN where one is undefined.

    A unit counts in the seeds in which it has a score, a pair where both forms have one. Which seeds count,
    :func:`evenlight.statistics.counted.counted_seeds` says. A cell without any seed is NaN.

    Args:
        a, b: the scores of both levels; in a paired design column i of both is one pair.
        paired: whether it is one.
        bound: the smallest effect of interest, in units of the scores or, ``in_sds``, of the standard deviation;
            numbers or (cells,).
        in_sds: what ``bound`` counts.
        clusters: names of the clusters of the units of ``a`` and of ``b``, of pairs the same; by default each unit is
            one.
        strata: of the units of ``a`` and of ``b``, int (units,) or (seeds, units), −1 for none. Levels are compared
            within each stratum, D = Σ w (mean a − mean b) with w in the ratio of n_a n_b / (n_a + n_b + 1) (van Elteren
            1960); units without a stratum and strata with fewer than two units of a level are left out. A pair counts
            where both forms are in one stratum.
        sd_of: the scores whose standard deviation counts, where these are not ``a`` and ``b``, which were computed from
            them and others.
        draws: the draws whose means ``a`` and ``b`` are, (cells, seeds, draws, units), NaN where there is none. The
            standard deviation is then that of single draws, where ``sd_of`` says of nothing else.
    """
    a, b, codes = within_strata(a, b, paired, strata)
    counted = counted_seeds(a, b)
    if codes is not None:
        # A seed without a stratum that both levels have compares nothing.
        counted &= _weighed([a, b], codes)[0][0].any(axis=2)
    a, b = (np.where(counted[:, :, None], side, np.nan) for side in (a, b))
    seeds = counted.sum(axis=1)
    tables = [a - b] if paired else [a, -b]
    weights, deviations = _weighed(tables, codes)
    rounding = threshold(a.reshape(len(a), -1), b.reshape(len(b), -1))[:, 0]
    # Beyond the means of draws, where these are what the standard deviation is of.
    beyond = None if draws is None or sd_of is not None else list(map(_beyond_means, draws))
    if sd_of is None:
        sd_of = a, b
    else:
        sd_of = tuple(np.where(np.isnan(side), np.nan, of) for side, of in zip((a, b), sd_of, strict=True))
        rounding = np.maximum(rounding, threshold(*(of.reshape(len(a), -1) for of in sd_of))[:, 0])
    members, joined = _members(clusters or tuple(np.arange(side.shape[2]) for side in (a, b)), paired, clusters is None)

    by_seed = sum((weight * np.nan_to_num(table)).sum(axis=2) for weight, table in zip(weights, tables, strict=True))
    by_seed[~counted] = np.nan
    means = np.ones(len(a)) if codes is None else _strata_of(weights[0], codes[0])
    once = np.maximum(seeds, 1)[:, None]
    shares = [_summed(weight.sum(axis=1) / once, member) for weight, member in zip(weights, members, strict=True)]
    added = [
        _summed((weight * deviation).sum(axis=1) / once, member)
        for weight, deviation, member in zip(weights, deviations, members, strict=True)
    ]
    constant = np.max(
        [_range(deviation, weight) for deviation, weight in zip(deviations, weights, strict=True)], axis=0
    )
    if joined:
        # What a cluster adds to one level, it may take from the other, but for the last digits.
        constant = np.minimum(constant, np.abs(sum(added)).max(axis=1, initial=0) * added[0].shape[1])
    for values in added:
        values[constant <= rounding] = 0
    sd_by_seed, of_sd = _within(*sd_of, paired, beyond)
    of_draws = None if draws is None or a.shape[1] > 1 else _over_draws(draws, weights * (2 if paired else 1))
    of_sd = [_summed(values.sum(axis=1) / once, member) for values, member in zip(of_sd, members, strict=True)]
    parts = [Part(values, share, means) for values, share in zip(added, shares, strict=True)]
    differing = _differing(a, b, rounding, paired, members, joined)
    rarest = _rarest(parts, differing, paired or joined)
    scale, fixed = np.where(in_sds, bound, 0.0), np.where(in_sds, 0.0, bound)

    def estimate(sign: float, scale: np.ndarray, fixed: np.ndarray) -> Estimate:
        scale, fixed = (np.broadcast_to(np.reshape(number, (-1, 1)), (len(a), 1)) for number in (scale, fixed))
        values = sign * by_seed + scale * sd_by_seed + fixed
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.nansum(values, axis=1) / seeds
            variance = np.nansum((values - mean[:, None]) ** 2, axis=1) / (seeds - 1) / seeds
        alike = np.nan_to_num(np.abs(values - mean[:, None])).max(axis=1) <= rounding
        trainings = Variance(np.where((seeds > 1) & ~alike, variance, np.nan), np.maximum(seeds - 1, 1))
        if of_draws is not None:
            # That draws move the standard deviation, too, is far less than what they do to the difference.
            trainings = Variance(np.where(of_draws.value > rounding**2, of_draws.value, np.nan), of_draws.degrees)
        of_bound = [
            Part(sign * part.added + scale * values, part.share, part.means)
            for part, values in zip(parts, of_sd, strict=True)
        ]
        of_unseen = reserve_of(of_bound, farthest_unit(of_bound))
        return Estimate(mean, unit_variances(of_bound, joined), trainings, rarest, of_bound, of_unseen)

    known = [(share.sum(axis=1) > 0) for share in weights] * (2 if paired else 1)
    sizes = [units.sum(axis=1) for units in known]
    with np.errstate(invalid="ignore"):
        difference = estimate(1.0, 0 * scale, 0 * fixed)
        return PooledEffects(
            difference,
            joined,
            np.nansum(sd_by_seed, axis=1) / np.where(seeds > 0, seeds, np.nan),
            estimate(1.0, scale, fixed),
            estimate(-1.0, scale, fixed),
            by_seed,
            counted,
            *sizes,
            *(side.shape[2] - size for side, size in zip((a, b), sizes, strict=True)),
            np.min([part.clusters for part in parts], axis=0),
            differing,
            carriers_of(parts, joined),
            np.min([part.effective for part in parts], axis=0),
            farthest_unit(parts),
            (constant <= rounding) & (np.nan_to_num(np.abs(by_seed)).max(axis=1, initial=0) <= rounding),
        )


def farthest(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which number of each row lies farthest from their mean, and how likely so far is one of as many normal numbers.

    Args:
        values: float (cells, numbers), NaN where there is none.

    Returns:
        its column, int (cells,), and the p of Grubbs' (1969) test, at most too large, (cells,): NaN where there are
        fewer than three numbers, or all are the same.
    """
    count = (~np.isnan(values)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.nansum(values, axis=1, keepdims=True) / count[:, None]
        squares = np.nan_to_num((values - mean) ** 2)
        square = squares.max(axis=1) / (squares.sum(axis=1) / (count - 1))
        t = np.sqrt(count * (count - 2) * square / np.maximum((count - 1) ** 2 - count * square, 0))
        return squares.argmax(axis=1), np.where(count > 2, np.minimum(1, 2 * count * stdtr(count - 2, -t)), np.nan)


def _weighed(tables: list[np.ndarray], codes: list[np.ndarray] | None) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The weight of each unit in its seed's mean, and by how much it moves this mean, over its weight."""
    known = [~np.isnan(table) for table in tables]
    if codes is None:
        weights = [part / np.maximum(part.sum(axis=2, keepdims=True), 1) for part in known]
        scores = [np.nan_to_num(table) for table in tables]
        means = [(weight * score).sum(axis=2, keepdims=True) for weight, score in zip(weights, scores, strict=True)]
        return weights, [
            np.where(part, score - mean, 0) for part, score, mean in zip(known, scores, means, strict=True)
        ]
    weights, deviations = ([np.zeros(table.shape) for table in tables] for _ in range(2))
    total, of_strata = np.zeros((*tables[0].shape[:2], 1)), []
    for stratum in np.unique(np.concatenate([code[code >= 0] for code in codes])):
        masks = [part & (code == stratum) for part, code in zip(known, codes, strict=True)]
        counts = [mask.sum(axis=2, keepdims=True) for mask in masks]
        size = np.where(np.minimum(*counts) > 1, stratum_weight(*counts), 0)
        total += size
        means = []
        for level, (mask, count) in enumerate(zip(masks, counts, strict=True)):
            scores = np.where(mask, tables[level], 0)
            means.append(scores.sum(axis=2, keepdims=True) / np.maximum(count, 1))
            count = np.maximum(count, 2)
            # So that the variance of few units is right once clusters have their (K − 1) / K.
            few = np.sqrt(count / (count - 1))
            weights[level] += mask * size / count
            deviations[level] += np.where(mask, few * (scores - means[level]), 0)
        of_strata.append((masks, counts, size, sum(means)))
    total = np.where(total > 0, total, 1)
    weights = [weight / total for weight in weights]
    _add_sizes(deviations, weights, of_strata, sum(size * apart for _, _, size, apart in of_strata) / total)
    return weights, deviations


def _add_sizes(
    deviations: list[np.ndarray], weights: list[np.ndarray], of_strata: list, difference: np.ndarray
) -> None:
    """Add to what units deviate that strata of further units have other sizes, and so other weights.

    A unit more of one level makes the weight n_a n_b / (n_a + n_b + 1) of its stratum larger by (n_b + 1) / (n_a + n_b
    + 1) of what the unit has of it, and the mean moves towards the difference of this stratum.

    Args:
        deviations: of each level, (cells, seeds, units), which are changed.
        weights: of each level.
        of_strata: masks and counts of either level, the weight, and the difference, of each stratum.
        difference: of all strata together, (cells, seeds, 1).
    """
    for masks, counts, size, apart in of_strata:
        moves = np.where(size > 0, (apart - difference) / (sum(counts) + 1), 0)
        for level, mask in enumerate(masks):
            deviations[level] += mask * (counts[1 - level] + 1) * moves
    for deviation, weight in zip(deviations, weights, strict=True):
        # They add up to zero in each level.
        deviation -= (weight > 0) * (weight * deviation).sum(axis=2, keepdims=True)


def _strata_of(weights: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """In how many strata levels are compared, the most of any seed, (cells,)."""
    there = [((weights > 0) & (codes == stratum)).any(axis=2) for stratum in np.unique(codes[codes >= 0])]
    return np.maximum(np.sum(there, axis=0).max(axis=1), 1).astype(float)


@dataclass(frozen=True)
class _Members:
    """Which cluster each unit is in, int (units,), and of how many clusters."""

    codes: np.ndarray
    count: int


def _members(names: tuple[Sequence, Sequence], paired: bool, single: bool) -> tuple[list[_Members], bool]:
    """The clusters of the units of each table; whether levels that are no pairs have clusters in common."""
    if single:
        return [_Members(np.arange(len(part)), len(part)) for part in names[: 1 if paired else 2]], False
    names = names[: 1 if paired else 2]
    joined = len(names) == 2 and not set(names[0]).isdisjoint(names[1])
    listing = cluster_names(names, joined)
    number = [{name: code for code, name in enumerate(part)} for part in listing]
    return [
        _Members(np.array([index[name] for name in part], dtype=int), len(index))
        for part, index in zip(names, number, strict=True)
    ], joined


def cluster_names(names: Sequence[Sequence], joined: bool) -> list[list]:
    """The clusters of each level in the order in which :class:`Part` has them."""
    together = [[name for part in names for name in part]] * len(names) if joined else names
    return [list(dict.fromkeys(part)) for part in together]


def _summed(values: np.ndarray, members: _Members) -> np.ndarray:
    """Sums over the units of each cluster, (cells, clusters), from (cells, units)."""
    if members.count == len(members.codes) and (np.diff(members.codes) == 1).all():
        return values
    order = np.argsort(members.codes, kind="stable")
    codes = members.codes[order]
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    result = np.zeros((len(values), members.count))
    result[:, codes[starts]] = np.add.reduceat(values[:, order], starts, axis=1)
    return result


def unit_variances(parts: Sequence[Part], joined: bool) -> list[Variance]:
    """The variances of the mean over further units: one, or, of levels without common clusters, one for each."""
    few = np.min([part.clusters for part in parts], axis=0) < 2
    degrees = [part.degrees for part in parts]
    if joined:
        # Levels that have a cluster in common are not independent; the smaller one says how much is known.
        degrees = [np.min(degrees, axis=0)]
    return [
        Variance(np.where(few, np.nan, (values**2).sum(axis=1)), count)
        for values, count in zip(_moved(parts, joined), degrees, strict=True)
    ]


def _over_draws(draws: Sequence[np.ndarray], weights: Sequence[np.ndarray]) -> Variance:
    """The variance of a difference of means over draws, the draws of one number being one repetition.

    The variance of a unit's mean over n draws is Σ e² / (n (n − 1)), with the deviations e of its draws. Here what the
    draws of one number deviate by is added up over units and both levels before it is squared. Units with one draw of a
    level are taken to vary as its others do, and to share as much of it, if that is more. Degrees of freedom are those
    of the level with fewer draws. NaN where a level has no unit with two.

    Args:
        draws: of both levels, (cells, 1, draws, units).
        weights: of the units in the mean of their level, (cells, 1, units).
    """
    moved, degrees = 0.0, []
    for sign, level, weight in zip((1, -1), draws, weights, strict=True):
        level, weight = level[:, 0], weight[:, 0, None]
        known = ~np.isnan(level)
        count = known.sum(axis=1, keepdims=True)
        several = weight * (count > 1)
        mean = np.nan_to_num(level).sum(axis=1, keepdims=True) / np.maximum(count, 1)
        deviation = np.where(known, level - mean, 0) / np.sqrt(np.maximum(count * (count - 1), 1))
        share = (several * known / np.maximum(count, 1)).sum(axis=2)
        squares = [(part**2 / np.maximum(count, 1)).sum(axis=(1, 2)) for part in (weight, several)]
        carried = (weight * known / np.maximum(count, 1)).sum(axis=2)
        carried[:, 0] += (weight * (count == 0)).sum(axis=(1, 2))
        with np.errstate(divide="ignore", invalid="ignore"):
            # Of draws that are independent, or that move all units alike: the larger one.
            alike = (carried**2).sum(axis=1) / (share**2).sum(axis=1)
            more = np.sqrt(np.maximum(squares[0] / squares[1], alike))[:, None]
            moved = moved + sign * (several * deviation).sum(axis=2) * more
            degrees.append(share.sum(axis=1) ** 2 / (share**2).sum(axis=1) - 1)
    return Variance((moved**2).sum(axis=1), np.maximum(np.min(degrees, axis=0), 1))


def _beyond_means(draws: np.ndarray) -> np.ndarray:
    """By how much a single draw varies more than the mean of a unit's, (cells, seeds, units), from its draws.

    s² (1 − 1/n) of n draws; 0 of one, which is its own mean.
    """
    known = ~np.isnan(draws)
    count = np.maximum(known.sum(axis=2, keepdims=True), 1)
    mean = np.nan_to_num(draws).sum(axis=2, keepdims=True) / count
    return (np.where(known, draws - mean, 0) ** 2).sum(axis=2) / count[:, :, 0]


def _within(
    a: np.ndarray, b: np.ndarray, paired: bool, more: Sequence[np.ndarray] | None = None
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The standard deviation within levels, (cells, seeds), 0 where it is rounding, and what units add to its mean.

    ``more`` is a variance of each unit of either level beyond its score, (cells, seeds, units).
    """
    known = [~np.isnan(side) for side in (a, b)]
    counts = [np.maximum(part.sum(axis=2, keepdims=True), 1) for part in known]
    scores = [np.nan_to_num(side) for side in (a, b)]
    squares = [
        np.where(part, score - score.sum(axis=2, keepdims=True) / count, 0) ** 2
        for part, score, count in zip(known, scores, counts, strict=True)
    ]
    if more is not None:
        squares = [
            square + np.where(part, variance, 0) * (count - 1) / count
            for square, part, variance, count in zip(squares, known, more, counts, strict=True)
        ]
    variances = [
        square.sum(axis=2, keepdims=True) / np.maximum(count - 1, 1)
        for square, count in zip(squares, counts, strict=True)
    ]
    sd = np.sqrt(sum(variances) / 2)
    sd = np.where(sd > threshold(a, b), sd, 0)
    # The derivative of a root: 1 / (2 sd), of half the sum of two variances: 1 / 2.
    slope = np.divide(0.25, sd, out=np.zeros_like(sd), where=sd > 0)
    added = [
        slope * np.where(part, count / np.maximum(count - 1, 1) * square - variance, 0) / count
        for part, count, square, variance in zip(known, counts, squares, variances, strict=True)
    ]
    sd = np.where(known[0].any(axis=2), sd[:, :, 0], np.nan)
    return sd, [added[0] + added[1]] if paired else added


# What decides nothing --------------------------------------------------------------------------------------------


def _range(deviations: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The largest deviation from a mean, (cells,)."""
    return np.where(weights > 0, np.abs(deviations), 0).max(axis=(1, 2), initial=0)


def _differing(
    a: np.ndarray, b: np.ndarray, rounding: np.ndarray, paired: bool, members: list[_Members], joined: bool
) -> np.ndarray:
    """How many clusters differ in some seed, (cells,).

    Pairs whose forms are scored alike do not, nor do texts at the score that most have, as at the floor of a metric.
    """
    result = np.zeros(len(a), dtype=int)
    for cell, step in enumerate(rounding):
        if paired:
            differs = [(np.abs(a[cell] - b[cell]) > step).any(axis=0)]
        else:
            scores = np.hstack([a[cell], b[cell]])
            values = np.sort(scores[~np.isnan(scores)])
            if not len(values):
                continue
            groups = np.cumsum(np.diff(values, prepend=values[0]) > step)
            most = values[groups == np.bincount(groups).argmax()][0]
            differs = [(np.abs(side[cell] - most) > step).any(axis=0) for side in (a, b)]
        codes = [np.unique(member.codes[part]) for member, part in zip(members, differs, strict=True)]
        result[cell] = len(np.unique(np.concatenate(codes))) if joined else sum(map(len, codes))
    return result


def _rarest(parts: Sequence[Part], differing: np.ndarray, in_pairs: bool) -> np.ndarray:
    """The least p that a test by exchange of the levels could have, (cells,).

    Of pairs 2 · 2⁻ᵏ where k differ. Without pairs it is the chance that all that differ are in one level, or that all
    of a level do.
    """
    if in_pairs:
        return np.minimum(1, 2 * 0.5**differing)
    sizes = [part.clusters for part in parts]
    return np.minimum(1, sum(np.exp(_log_chance(np.minimum(differing, size), size, sum(sizes))) for size in sizes))


def _log_chance(drawn: np.ndarray, size: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The logarithm of the chance that all of ``drawn`` clusters are among the ``size`` of ``total``."""
    return _log_choices(size, drawn) - _log_choices(total, drawn)


def _log_choices(total: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    return gammaln(total + 1) - gammaln(drawn + 1) - gammaln(total - drawn + 1)
