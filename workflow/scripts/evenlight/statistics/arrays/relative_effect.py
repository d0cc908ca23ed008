"""Texts without pairs: how likely a random text of one group has a higher score than a random one of the other.

The relative effect is θ = P(a > b) + P(a = b) / 2. All here is asymptotic, from about 50 texts a group; levels are
simulated (``make verdicts``). It is not the share of pairs that are won, so that it needs other words.

The variance of its estimate is that of Brunner & Konietschke (2024, arXiv 2409.05038), which is unbiased, also with
ties. The test is C² of Schüürhuis, Konietschke & Brunner (2025, arXiv 2504.01796): the variance, which is at most
θ (1 − θ) / min(n) (Birnbaum & Klose 1957), keeps its estimated ratio to that bound, and θ in the bound is the tested
one. Both formulas were derived from the papers' abstracts, whose texts were out of reach; enumeration in the tests
holds that the variance is unbiased.

Scores that show few of the rare ones seem to vary too little, and so do those of a small group that has none of them.
Where θ is what is tested they would vary more. So the variance is at least that of the same placements, with one more
at the end towards θ, weighted so that their mean effect is θ: weights that are linear in the placements and change as
little as can be (the least chi-squared, as in Euclidean likelihood, Owen 1991). With a skewness it grows as θ moves
away. Of scores with two levels it is the variance of a score test. Levels and power are simulated, like all here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evenlight.statistics.arrays.units import design_effect, settled, stratum_weight, sums_by_comparison


@dataclass(frozen=True)
class RelativeEffect:
    """Estimates of some comparisons, float (comparisons,) each; NaN where a group has fewer than two scores.

    Attributes:
        effect: θ.
        variance: of its estimate, unbiased.
        ratio: of the variance to θ (1 − θ); its largest possible value where groups do not overlap.
        degrees: of freedom (Brunner & Munzel 2000).
        plain_variance: Brunner & Munzel's, which is a little larger.
        moved: of what the variance is where θ is another one, float (2, 3, comparisons): for a larger and a smaller θ
            its value, what it gains and what it loses (:func:`variance_at`).
    """

    effect: np.ndarray
    variance: np.ndarray
    ratio: np.ndarray
    degrees: np.ndarray
    plain_variance: np.ndarray
    moved: np.ndarray

    def c2(self, effect: float = 0.5) -> np.ndarray:
        """(θ̂ − θ)² / the variance at θ; 4 θ̂ (1 − θ̂) (θ̂ − 1/2)² / variance at one half, where that is the larger."""
        return (self.effect - effect) ** 2 / variance_at(effect, self.effect, self.ratio, self.moved)

    def side_p(self) -> np.ndarray:
        """One-sided p of both sides, (2, comparisons): that the first group is no higher, that it is no lower.

        By Student's t of C with :attr:`degrees`, which is more careful than the chi-squared of C².
        """
        half = scipy.stats.t.sf(np.sqrt(self.c2()), self.degrees)
        return np.where(self.effect > 0.5, [half, 1 - half], [1 - half, half])

    def as_often_p(self, bound: float) -> np.ndarray:
        """p of the claim *as often*, (comparisons,): that the net benefit, 2 θ − 1, is within ± ``bound``.

        Two one-sided tests (Schuirmann 1987); 1 where the estimate is not within.
        """
        ends = [scipy.stats.t.sf(np.sqrt(self.c2((1 + end) / 2)), self.degrees) for end in (bound, -bound)]
        return np.where(np.abs(2 * self.effect - 1) < bound, np.maximum(*ends), 1.0)

    def limits(self, tail: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Both limits of θ, each wrong in about ``tail`` of studies: all θ with a smaller C². Within 0 and 1."""
        return effect_limits(self.effect, self.ratio, self.moved, tail, self.degrees)


def variance_at(tested: float, effect: np.ndarray, ratio: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """The variance of the estimate if θ were ``tested``, from what :class:`RelativeEffect` has of it, (comparisons,).

    ``ratio`` · θ (1 − θ), or if larger v + g d − l d², where θ is d away from the estimate, and v, g and l are
    ``moved`` of that direction.
    """
    value, gained, lost = np.where(tested > effect, *moved)
    away = np.abs(tested - effect)
    return np.fmax(ratio * tested * (1 - tested), value + away * (gained - away * lost))


def effect_limits(
    effect: np.ndarray, ratio: np.ndarray, moved: np.ndarray, tail: ArrayLike, degrees: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """:meth:`RelativeEffect.limits` by Student's t, of its ``effect``, ``ratio``, ``moved`` and ``degrees``."""
    t2 = scipy.stats.t.isf(tail, degrees) ** 2
    wider = t2 * ratio
    half = np.sqrt(wider * (4 * effect * (1 - effect) + wider))
    ends = [(2 * effect + wider + sign * half) / (2 * (1 + wider)) for sign in (-1, 1)]
    value, gained, lost = moved.swapaxes(0, 1) * t2
    away = (gained + np.sqrt(gained**2 + 4 * (1 + lost) * value)) / (2 * (1 + lost))
    return np.clip(np.fmin(ends[0], effect - away[1]), 0, 1), np.clip(np.fmax(ends[1], effect + away[0]), 0, 1)


def relative_effect(
    a: np.ndarray,
    b: np.ndarray,
    strata_a: np.ndarray | None = None,
    strata_b: np.ndarray | None = None,
    clusters_a: np.ndarray | None = None,
    clusters_b: np.ndarray | None = None,
) -> RelativeEffect:
    """θ of scores of two independent groups, float (texts, comparisons), NaN where one is missing.

    With strata, int (texts,), below 0 for a text in none, θ is the mean of the strata's, with the weights of van
    Elteren (:func:`evenlight.statistics.arrays.units.stratum_weight`). The variances add up; strata with fewer than two
    scores of a group do not count.

    With clusters, int (texts,), the same numbers for both groups, the variances are those of sums over clusters where
    these are larger (:func:`evenlight.statistics.arrays.units.design_effect`): a cluster may have scores in several
    strata and in both groups.
    """
    a, b = (scores.T for scores in settled(a.T, b.T))
    if strata_a is None or strata_b is None:
        strata_a, strata_b = np.zeros(len(a), dtype=int), np.zeros(len(b), dtype=int)
    shared = np.intersect1d(strata_a[strata_a >= 0], strata_b[strata_b >= 0])
    # Of a stratum without texts nothing is known.
    within = [(strata_a == code, strata_b == code) for code in shared]
    parts = [_of_stratum(a[in_a], b[in_b]) for in_a, in_b in within] or [_of_stratum(a[:0], b[:0])]
    weights = np.stack([part.weight for part in parts])
    total = weights.sum(axis=0)
    shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)

    def added(power: int, name: str) -> np.ndarray:
        return sum_of(power, [getattr(part, name) for part in parts])

    def sum_of(power: int, values: Sequence[np.ndarray]) -> np.ndarray:
        there = np.where(shares > 0, np.moveaxis(np.array(values), 0, -2), 0)
        return np.where(total > 0, (shares**power * there).sum(axis=-2), np.nan)

    clustered = np.ones(a.shape[1])
    if clusters_a is not None and clusters_b is not None and within:
        pulls = np.concatenate([share * part.pulls for share, part in zip(shares, parts, strict=True)])
        cluster = [of[there] for sides in within for of, there in zip((clusters_a, clusters_b), sides, strict=True)]
        clustered = design_effect(pulls, np.concatenate(cluster))
    effect, plain = added(1, "effect"), clustered * added(2, "plain_variance")
    # Weights add up to 1 but for rounding: an effect of one half is no majority.
    effect = np.where(np.abs(effect - 0.5) < 1e-12, 0.5, effect)
    variance = clustered * added(2, "variance")
    overlap = (effect > 0) & (effect < 1)
    # Groups and strata share a shift as they share the variance, so that what each gains has more powers of its weight.
    value, gained, lost = (sum_of(power, [part.moved[:, power - 2] for part in parts]) for power in (2, 3, 4))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(overlap, variance / (effect * (1 - effect)), clustered * added(2, "bound"))
        moved = clustered * np.stack([value, gained / value, lost / value**2], axis=1)
        # Of fewer votes: clusters have as many as the texts that would be as certain.
        degrees = np.where(plain > 0, plain**2 / (clustered**3 * added(4, "squares")), np.inf)
    return RelativeEffect(effect, variance, ratio, np.where(total > 0, degrees, np.nan), plain, moved)


@dataclass(frozen=True)
class _Stratum:
    """Of one stratum, (comparisons,) each; ``bound`` is that of the ratio, ``squares`` are for degrees of freedom.
    ``moved`` are sums over both groups, (2, 3, comparisons), of :func:`_moved`. ``pulls``, (texts of both groups,
    comparisons), are what each text adds to the effect."""

    effect: np.ndarray
    variance: np.ndarray
    plain_variance: np.ndarray
    bound: np.ndarray
    squares: np.ndarray
    weight: np.ndarray
    moved: np.ndarray
    pulls: np.ndarray


def _of_stratum(a: np.ndarray, b: np.ndarray) -> _Stratum:
    known = ~np.isnan(np.concatenate([a, b]))
    sizes = [of.sum(axis=0) for of in np.split(known, [len(a)])]
    placements, tied_with = (np.where(known, of, np.nan) for of in _placements(a, b))
    above, below = np.split(placements, [len(a)])
    ties = sums_by_comparison(tied_with[: len(a)])
    with np.errstate(divide="ignore", invalid="ignore"):
        placed = above / sizes[1], below / sizes[0]
        effect, tied = sums_by_comparison(placed[0]) / sizes[0], ties / (sizes[0] * sizes[1])
        squares = [
            sums_by_comparison((placements - mean) ** 2)
            for placements, mean in zip(placed, (effect, 1 - effect), strict=True)
        ]
        of_a, of_b = (square / (size * (size - 1)) for square, size in zip(squares, sizes, strict=True))
        plain = of_a + of_b
        # What the two groups' parts count twice: the mean square of what neither placement explains.
        rest = effect * (1 - effect) - tied / 4 - squares[0] / sizes[0] - squares[1] / sizes[1]
        variance = plain - rest / ((sizes[0] - 1) * (sizes[1] - 1))
        both = of_a**2 / (sizes[0] - 1) + of_b**2 / (sizes[1] - 1)
        bound = 1 / (np.minimum(*sizes) - 1)
        pulls = np.concatenate([(placed[0] - effect) / sizes[0], (1 - effect - placed[1]) / sizes[1]])
        moved = _moved(placed[0], sizes[0]) + _moved(1 - placed[1], sizes[1])
    weight = np.where(np.minimum(*sizes) > 1, stratum_weight(*sizes), 0.0)
    return _Stratum(effect, np.where(variance > 1e-12, variance, 0.0), plain, bound, both, weight, moved, pulls)


def _moved(placed: np.ndarray, size: np.ndarray) -> np.ndarray:
    """What the variance of a mean of placements is where the mean is a larger or a smaller one, (2, 3, comparisons).

    With one more placement at that end: the variance v / n; its gain, the third central moment, where it is towards
    that end, as max(m, 0) / n²; and its loss, v² / n³ where there is a gain.

    Args:
        placed: float (texts, comparisons), NaN where there is none; their mean is θ in both groups.
        size: how many there are.
    """
    found = []
    for end, sign in ((1.0, 1), (0.0, -1)):
        mean = (sums_by_comparison(placed) + end) / (size + 1)
        second, third = (
            (sums_by_comparison((placed - mean) ** power) + (end - mean) ** power) / (size + 1) for power in (2, 3)
        )
        gain = np.maximum(sign * third, 0)
        found.append([second / size, gain / size**2, np.where(gain > 0, second**2, 0) / size**3])
    return np.array(found)


def _placements(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each score of both groups how many of the other group it is above, ties as half, and its ties.

    (texts of both groups, comparisons) each. All is counted in one order of all scores; NaN are the last.
    """
    together = np.concatenate([a, b])
    together = np.where(np.isnan(together), np.inf, together)
    order = np.argsort(together, axis=0)
    ranked, place = np.take_along_axis(together, order, axis=0), np.arange(len(order))[:, None]
    begins = np.ones((len(order) + 1, order.shape[1]), dtype=bool)
    begins[1:-1] = ranked[1:] != ranked[:-1]
    # Equal scores are those from the first one to the one before the end.
    first = np.maximum.accumulate(np.where(begins[:-1], place, 0), axis=0)
    end = np.minimum.accumulate(np.where(begins[1:], place + 1, len(order))[::-1], axis=0)[::-1]
    of_a = np.zeros(begins.shape, dtype=int)
    of_a[1:] = np.cumsum(order < len(a), axis=0)
    before, equal = (np.take_along_axis(of_a, at, axis=0) for at in (first, end))
    equal -= before
    in_a, below = order < len(a), before + equal / 2
    found = (
        np.where(in_a, (first + end) / 2 - below, below),
        np.where(in_a, end - first - equal, equal),
    )
    for of in found:
        np.put_along_axis(of, order, of.copy(), axis=0)
    return found
