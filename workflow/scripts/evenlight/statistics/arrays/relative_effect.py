"""Texts without pairs: how likely a random text of one group has a higher score than a random one of the other.

The relative effect is θ = P(a > b) + P(a = b) / 2. All here is asymptotic, from about 50 texts a group; levels are
simulated (``make verdicts``). It is not the share of pairs that are won, so that it needs other words.

The variance of its estimate is that of Brunner & Konietschke (2024, arXiv 2409.05038), which is unbiased, also with
ties. The test is C² of Schüürhuis, Konietschke & Brunner (2025, arXiv 2504.01796): the variance, which is at most
θ (1 − θ) / min(n) (Birnbaum & Klose 1957), keeps its estimated ratio to that bound, and θ in the bound is the tested
one. Both formulas were derived from the papers' abstracts, whose texts were out of reach; enumeration in the tests
holds that the variance is unbiased.

A small group that shows none of the rare scores of a large one seems not to vary. So the ratio is never below that of
exchanged groups, of which all scores are one sample (Wilcoxon's variance with ties).
"""

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
        ratio: of the variance to θ (1 − θ), at least that of exchanged groups; its largest possible value where groups
            do not overlap or nothing varies.
        degrees: of freedom (Brunner & Munzel 2000).
        plain_variance: Brunner & Munzel's, which is a little larger.
    """

    effect: np.ndarray
    variance: np.ndarray
    ratio: np.ndarray
    degrees: np.ndarray
    plain_variance: np.ndarray

    def c2(self, effect: ArrayLike = 0.5) -> np.ndarray:
        """(θ̂ − θ)² / (ratio · θ (1 − θ)); 4 θ̂ (1 − θ̂) (θ̂ − 1/2)² / variance at one half, or Wilcoxon's z²."""
        return (self.effect - effect) ** 2 / (self.ratio * effect * (1 - np.asarray(effect)))

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
        return effect_limits(self.effect, self.ratio, tail, self.degrees)


def effect_limits(
    effect: np.ndarray, ratio: np.ndarray, tail: ArrayLike, degrees: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """:meth:`RelativeEffect.limits` by Student's t, of its ``effect``, ``ratio`` and ``degrees``, (…) each."""
    wider = scipy.stats.t.isf(tail, degrees) ** 2 * ratio
    half = np.sqrt(wider * (4 * effect * (1 - effect) + wider))
    return tuple((2 * effect + wider + sign * half) / (2 * (1 + wider)) for sign in (-1, 1))


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
        values = np.where(shares > 0, [getattr(part, name) for part in parts], 0)
        return np.where(total > 0, (shares**power * values).sum(axis=0), np.nan)

    clustered = np.ones(a.shape[1])
    if clusters_a is not None and clusters_b is not None and within:
        pulls = np.concatenate([share * part.pulls for share, part in zip(shares, parts, strict=True)])
        cluster = [of[there] for sides in within for of, there in zip((clusters_a, clusters_b), sides, strict=True)]
        clustered = design_effect(pulls, np.concatenate(cluster))
    effect, plain = added(1, "effect"), clustered * added(2, "plain_variance")
    # Weights add up to 1 but for rounding: an effect of one half is no majority.
    effect = np.where(np.abs(effect - 0.5) < 1e-12, 0.5, effect)
    variance = clustered * added(2, "variance")
    varies = (effect > 0) & (effect < 1) & (variance > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(varies, variance / (effect * (1 - effect)), clustered * added(2, "bound"))
        ratio = np.fmax(ratio, 4 * clustered * added(2, "exchanged"))
        # Of fewer votes: clusters have as many as the texts that would be as certain.
        degrees = np.where(plain > 0, plain**2 / (clustered**3 * added(4, "squares")), np.inf)
    return RelativeEffect(effect, variance, ratio, np.where(total > 0, degrees, np.nan), plain)


@dataclass(frozen=True)
class _Stratum:
    """Of one stratum, (comparisons,) each; ``exchanged`` is the variance of the effect of exchanged groups, ``bound``
    that of the ratio, ``squares`` are for degrees of freedom. ``pulls``, (texts of both groups, comparisons), are what
    each text adds to the effect."""

    effect: np.ndarray
    variance: np.ndarray
    plain_variance: np.ndarray
    exchanged: np.ndarray
    bound: np.ndarray
    squares: np.ndarray
    weight: np.ndarray
    pulls: np.ndarray


def _of_stratum(a: np.ndarray, b: np.ndarray) -> _Stratum:
    known = ~np.isnan(np.concatenate([a, b]))
    sizes = [of.sum(axis=0) for of in np.split(known, [len(a)])]
    ranks, placements, tied_with = (np.where(known, of, np.nan) for of in _placements(a, b))
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
        count = sizes[0] + sizes[1]
        of_ranks = sums_by_comparison((ranks - (count + 1) / 2) ** 2) / (count - 1)
        exchanged = of_ranks / (sizes[0] * sizes[1] * count)
    weight = np.where(np.minimum(*sizes) > 1, stratum_weight(*sizes), 0.0)
    return _Stratum(effect, np.where(variance > 1e-12, variance, 0.0), plain, exchanged, bound, both, weight, pulls)


def _placements(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each score of both groups its mean rank, how many of the other group it is above, ties as half, and its ties.

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
        (first + end + 1) / 2,
        np.where(in_a, (first + end) / 2 - below, below),
        np.where(in_a, end - first - equal, equal),
    )
    for of in found:
        np.put_along_axis(of, order, of.copy(), axis=0)
    return found
