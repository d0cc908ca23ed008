"""Studies drawn at random, of which it is known who wins more often: from populations of real scores, and made ones.

A law draws one study of so many units: ``law(generator, units)``, for texts ``law(generator, texts_a, texts_b)``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.units import mean_of_known

# An explainer whose scores are random; its cells are no hypothesis.
RANDOM = "random"
POPULATIONS = Path(__file__).parents[2] / "resources" / "populations"
COMPARISONS = 100
# A difference that is the same in so many units is a tie.
LEAST_TIES = 0.02
# Planted effects: standard errors of a shift, and the share of decided units that one group wins.
SHIFT, WON = 5.0, 0.8


@dataclass(frozen=True)
class Study:
    """The scores of a study and its truth.

    Attributes:
        a, b: scores of both groups, float (comparisons, seeds, units); of pairs, unit i is one and the same.
        truth: 1 where the first group wins more often, −1 where the second does, else 0; (comparisons,).
        share: of decided pairs that the first group wins, NaN where it is not told; (comparisons,).
        clusters: of pairs, int (units,).
        strata: of texts of both groups, int (units,) each.
    """

    a: np.ndarray
    b: np.ndarray
    truth: np.ndarray
    share: np.ndarray
    clusters: np.ndarray | None = None
    strata: tuple[np.ndarray, np.ndarray] | None = None


Law = Callable[..., Study]


def of_pairs(differences: np.ndarray, share: np.ndarray | float = 0.5, **other: np.ndarray) -> Study:
    """A study of pairs with these differences, (comparisons, units) or (comparisons, seeds, units)."""
    differences = differences if differences.ndim == 3 else differences[:, None]
    share = np.broadcast_to(np.asarray(share, dtype=float), len(differences))
    return Study(differences / 2, -differences / 2, np.sign(share - 0.5), share, **other)


def of_texts(a: np.ndarray, b: np.ndarray, truth: np.ndarray | None = None, strata: tuple | None = None) -> Study:
    """A study of texts with these scores, (comparisons, units) each; without a difference where no truth is told."""
    truth = np.zeros(len(a)) if truth is None else truth
    return Study(a[:, None], b[:, None], truth, np.full(len(a), np.nan), strata=strata)


# Real scores ----------------------------------------------------------------------------------------------------------


@cache
def population(name: str, seeds: int) -> tuple[pd.DataFrame, np.ndarray]:
    """The level and stratum of each unit, and its scores (comparisons, seeds, units), ties of pairs as 0.

    Files have no means (:mod:`write_populations`): of a column in which many units are equal, these are the ties.
    """
    table = pd.read_parquet(POPULATIONS / f"{name}.parquet")
    names = list(dict.fromkeys(column.rsplit("/", 1)[0] for column in table.columns[2:]))
    columns = [[f"{of}/{seed}" for seed in range(seeds)] for of in names if f"/{RANDOM}/" not in of]
    scores = np.stack([table[of].to_numpy(float).T for of in columns if set(of) <= set(table.columns)])
    if table["level"].nunique() == 1:
        scores = np.apply_along_axis(_with_ties, 2, scores)
    return table[["level", "stratum"]], scores


def _with_ties(values: np.ndarray) -> np.ndarray:
    found, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return values - found[counts.argmax()] if counts.max() >= LEAST_TIES * len(values) else values


@cache
def equal(name: str, seeds: int = 1) -> np.ndarray:
    """Differences whose wins equal losses in each comparison, skewed and dependent as they are, like ``population``.

    Where there are few ties all units are shifted by the median; the smallest of a majority that is left are turned.
    """
    scores = population(name, seeds)[1].copy()
    for of in scores:
        mean = mean_of_known(of)
        if _is_tie(mean).mean() < LEAST_TIES:
            of -= np.nanmedian(mean)
        of[:, _is_tie(mean_of_known(of))] = 0
        mean = mean_of_known(of)
        surplus = (mean > 0).sum() - (mean < 0).sum()
        majority = np.flatnonzero(mean * np.sign(surplus) > 0)
        smallest = majority[np.argsort(np.abs(mean[majority]))]
        of[:, smallest[: abs(surplus) // 2]] *= -1
        of[:, smallest[abs(surplus) // 2 :][: surplus % 2]] = 0
    return scores


def _is_tie(mean: np.ndarray) -> np.ndarray:
    """What is left of float32 numbers: more than what verdicts take for rounding, and less than what decides."""
    return np.abs(mean) <= 1e-5 * np.nanmax(np.abs(mean))


def flipped(name: str, seeds: int = 1) -> Law:
    """Units of a population with both groups exchanged at random: jointly symmetric, beside what forms share."""

    def law(generator: np.random.Generator, units: int) -> Study:
        scores = population(name, seeds)[1]
        drawn = scores[:, :, generator.integers(scores.shape[2], size=units)]
        study = of_pairs(drawn * generator.choice([-1, 1], size=units))
        common = np.nanstd(scores, axis=2, keepdims=True) * generator.normal(size=units)
        return Study(study.a + common, study.b + common, study.truth, study.share)

    return law


def as_many(name: str, seeds: int = 1) -> Law:
    """Units of a population whose wins equal losses."""

    def law(generator: np.random.Generator, units: int) -> Study:
        scores = equal(name, seeds)
        return of_pairs(scores[:, :, generator.integers(scores.shape[2], size=units)])

    return law


def planted(name: str, kind: str) -> Law:
    """The same, of which half of the comparisons have an effect: ``shift``, ``turned``, ``size`` or ``rare losses``.

    A shift of five standard errors; one group wins .8 of decided units; its wins are three times as large, and as many;
    it wins .8 by so little that the mean is 0.
    """

    def law(generator: np.random.Generator, units: int) -> Study:
        scores = _with_effect(name, kind, units)
        has = generator.random(len(scores)) < 0.5
        whole = np.where(has[:, None, None], scores, equal(name))
        wins, losses = ((sign * whole > 0).sum(axis=(1, 2)) for sign in (1, -1))
        share = np.where(has & (kind != "size"), wins / np.maximum(wins + losses, 1), 0.5)
        return of_pairs(whole[:, :, generator.integers(whole.shape[2], size=units)], share)

    return law


@cache
def _with_effect(name: str, kind: str, units: int) -> np.ndarray:
    scores = equal(name)
    if kind == "shift":
        return scores + SHIFT / np.sqrt(units) * np.nanstd(scores, axis=2, keepdims=True)
    if kind == "size":
        return np.where(scores > 0, 3 * scores, scores)
    turned = generator_for("turned", name).random(scores.shape[2]) < 2 * WON - 1
    scores = np.where(turned & (scores < 0), -scores, scores)
    if kind == "turned":
        return scores
    won, lost = (np.nansum(np.maximum(sign * scores, 0), axis=2, keepdims=True) for sign in (1, -1))
    return np.where(scores < 0, scores * won / np.maximum(lost, 1e-12), scores)


def exchanged(name: str) -> Law:
    """Texts of a population, whatever their group, within its strata."""

    def law(generator: np.random.Generator, texts_a: int, texts_b: int) -> Study:
        units, scores = population(name, 1)
        drawn = generator.integers(len(units), size=texts_a + texts_b)
        return _drawn(units, scores[:, 0], np.split(drawn, [texts_a]))

    return law


def of_levels(name: str, shift: float = 0.0) -> Law:
    """Texts of both groups of a population, shifted so that θ is 1/2 in each stratum; comparisons without many ties.

    Half of the comparisons of the first group are shifted by so many standard deviations, divided by the root of the
    number of texts of the smaller group.
    """

    def law(generator: np.random.Generator, texts_a: int, texts_b: int) -> Study:
        units, scores = _centred(name)
        level = units["level"].to_numpy()
        drawn = [generator.choice(np.flatnonzero(level == of), size) for of, size in enumerate((texts_a, texts_b))]
        has = (generator.random(len(scores)) < 0.5) & (shift > 0)
        study = _drawn(units, scores, drawn)
        by = has * shift / np.sqrt(min(texts_a, texts_b)) * scores.std(axis=1)
        return of_texts(study.a[:, 0] + by[:, None], study.b[:, 0], has.astype(float), study.strata)

    return law


@cache
def _centred(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """A population of texts with θ = 1/2 in each stratum."""
    units, scores = population(name, 1)
    scores = scores[[np.unique(of, return_counts=True)[1].max() < LEAST_TIES * len(units) for of in scores[:, 0]], 0]
    level, stratum = units["level"].to_numpy(), units["stratum"].to_numpy()
    for code in np.unique(stratum):
        first, second = ((level == of) & (stratum == code) for of in (0, 1))
        for of in scores:
            of[first] -= np.median(of[first][:, None] - of[second])
    return units, scores


def _drawn(units: pd.DataFrame, scores: np.ndarray, drawn: list[np.ndarray]) -> Study:
    stratum = units["stratum"].to_numpy()
    strata = tuple(stratum[of] for of in drawn) if (stratum >= 0).any() else None
    return of_texts(*(scores[:, of] for of in drawn), strata=strata)


# Made scores ----------------------------------------------------------------------------------------------------------


def dependent(generator: np.random.Generator, units: int) -> np.ndarray:
    """Normal numbers (comparisons, units), of which ten comparisons in a row share most."""
    common = np.repeat(generator.normal(size=(COMPARISONS // 10, units)), 10, axis=0)
    return np.sqrt(0.7) * common + np.sqrt(0.3) * generator.normal(size=(COMPARISONS, units))


def _skewed(z: np.ndarray) -> np.ndarray:
    """Median 0, so that wins are as likely as losses, and larger."""
    return np.exp(1.2 * z) - 1


def normal(generator: np.random.Generator, units: int) -> Study:
    """Normal differences."""
    return of_pairs(dependent(generator, units))


def skewed(generator: np.random.Generator, units: int) -> Study:
    """Wins larger than losses, and as many."""
    return of_pairs(_skewed(dependent(generator, units)))


def tied(generator: np.random.Generator, units: int) -> Study:
    """The same; six units in ten are ties, in all comparisons together, and others in one comparison alone."""
    there = (generator.random(units) > 0.6) & (generator.random((COMPARISONS, units)) > 0.2)
    return of_pairs(_skewed(dependent(generator, units)) * there)


def levels(generator: np.random.Generator, units: int) -> Study:
    """Whole numbers, most of them 0."""
    return of_pairs(np.round(0.6 * dependent(generator, units)))


def missing(generator: np.random.Generator, units: int) -> Study:
    """Skewed differences, a fifth of which are missing."""
    differences = _skewed(dependent(generator, units))
    return of_pairs(np.where(generator.random(differences.shape) < 0.2, np.nan, differences))


def products(latent: int) -> Law:
    """All products of some fair signs: comparisons independent two by two, and dependent by threes."""
    subsets = (np.arange(1, 2**latent)[:, None] >> np.arange(latent)) & 1

    def law(generator: np.random.Generator, units: int) -> Study:
        return of_pairs(1.0 - 2 * ((subsets @ generator.integers(2, size=(latent, units))) % 2))

    return law


def all_at_once(generator: np.random.Generator, units: int) -> Study:
    """Some units are won by one group in all comparisons, others are as they come."""
    own = generator.choice([-1.0, 1.0], size=(COMPARISONS, units))
    return of_pairs(np.where(generator.random(units) < 0.5, generator.choice([-1.0, 1.0], size=units), own))


def wins_together(ties: float) -> Law:
    """A tenth of the units are won in all comparisons. Else so many are ties, and losses make up for these wins."""

    def law(generator: np.random.Generator, units: int) -> Study:
        together, decided = 0.1, 1 - ties
        lost = (together / (1 - together) + decided) / 2
        u = generator.random((COMPARISONS, units))
        own = np.select([u < lost, u < decided], [-1.0, 1.0], 0.0)
        return of_pairs(np.where(generator.random(units) < together, 1.0, own))

    return law


def ties_that_tell(generator: np.random.Generator, units: int) -> Study:
    """Where the first comparison is won, half of the others are decided, and where it is lost, the other half."""
    own = generator.choice([-1.0, 1.0], size=(COMPARISONS, units))
    decided = np.where(np.arange(COMPARISONS)[:, None] % 2, own[0] > 0, own[0] < 0)
    decided[0] = True
    return of_pairs(own * decided)


def clustered(kind: str) -> Law:
    """Clusters of one to twelve pairs: ``whole`` ones that agree, ``half`` of the variance, larger ones that win more
    often (``size``). The numbers are those of clusters, and so is the truth."""

    def law(generator: np.random.Generator, count: int) -> Study:
        sizes = generator.integers(1, 13, size=count)
        cluster = np.repeat(np.arange(count), sizes)
        values = dependent(generator, count)
        if kind == "half":
            return of_pairs(values[:, cluster] + dependent(generator, len(cluster)), clusters=cluster)
        if kind == "size":
            values = values + norm.ppf((sizes + 5.5) / 24)
        return of_pairs(_skewed(values)[:, cluster], clusters=cluster)

    return law


def retrained(kind: str, seeds: int, comparisons: int, shift: float = 0.0) -> Law:
    """Models trained with so many seeds, of which as many favour either group.

    Trainings add a normal number, or the one group wins by a little and the other by much (``uneven``), in all
    comparisons. Half of the comparisons have a net benefit of ``shift``.
    """

    def law(generator: np.random.Generator, units: int) -> Study:
        if kind == "normal":
            effects = 2 * norm.cdf(
                0.5 * (generator.normal(size=(1, seeds)) + generator.normal(size=(comparisons, seeds)))
            )
            effects = effects - 1
        else:
            effects = np.where(generator.random((1, seeds)) < 0.5, -0.9, 0.3) * np.ones((comparisons, 1))
        has = (generator.random(comparisons) < 0.5) & (shift != 0)
        won = (1 + np.clip(effects + shift * has[:, None], -1, 1)) / 2
        wins = generator.random((comparisons, seeds, units)) < won[:, :, None]
        return of_pairs(np.where(wins, 1.0, -1.0), 0.5 + shift * has / 2)

    return law


def net_benefit(benefit: float, ties: float) -> Law:
    """All comparisons with this net benefit, and so many ties."""

    def law(generator: np.random.Generator, units: int) -> Study:
        u = norm.cdf(dependent(generator, units))
        wins = (1 - ties + benefit) / 2
        return of_pairs(np.select([u < wins, u < 1 - ties], [1.0, -1.0], 0.0), wins / (1 - ties))

    return law


def two_levels(of_a: float, of_b: float) -> Law:
    """Texts with a high score or a low one, in each comparison by itself; of each group so many have the high one."""

    def law(generator: np.random.Generator, texts_a: int, texts_b: int) -> Study:
        sides = [
            1.0 * (generator.random((COMPARISONS, size)) < share) for size, share in ((texts_a, of_a), (texts_b, of_b))
        ]
        return of_texts(*sides, np.full(COMPARISONS, np.sign(of_a - of_b)))

    return law


def spread(texts_sd: float, skew: bool = False, strata: bool = False, shift: float = 0.0) -> Law:
    """Texts of two groups, the second with so many times the standard deviation; symmetric, so that θ is 1/2.

    The first group is shifted by ``shift`` in half of the comparisons. With ``strata`` the groups have more of one and
    of the other, and scores differ by two standard deviations.
    """

    def law(generator: np.random.Generator, texts_a: int, texts_b: int) -> Study:
        sides, codes = [], []
        for size, sd, share in ((texts_a, 1.0, 0.3), (texts_b, texts_sd, 0.6)):
            code = (generator.random(size) < share).astype(int)
            z = sd * dependent(generator, size)
            sides.append((np.sign(z) * np.expm1(np.abs(z)) if skew else z) + 2 * code * strata)
            codes.append(code)
        truth = 1.0 * (shift != 0) * (np.arange(COMPARISONS) % 2)
        sides[0] = sides[0] + shift * truth[:, None]
        return of_texts(*sides, truth, strata=tuple(codes) if strata else None)

    return law


def one_in_strata(generator: np.random.Generator, texts_a: int, texts_b: int) -> Study:
    """Clusters of four texts with one score, one text in each of four strata."""
    sides = [np.repeat(dependent(generator, texts // 4), 4, axis=1) for texts in (texts_a, texts_b)]
    strata = tuple(np.arange(texts) % 4 for texts in (texts_a, texts_b))
    return replace(of_texts(*sides, strata=strata), clusters=np.arange(max(texts_a, texts_b)) // 4)
