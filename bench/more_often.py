"""How often verdicts of "more often" are wrong, and how much they find, on made shapes: seconds, for developers.

Each line is a share of studies, or of comparisons that differ, which depend on one another. Student's t asks of the
mean, which is not 0 where scores are skewed. ``PYTHONPATH=workflow/scripts python bench/more_often.py [studies]``
"""

import sys
from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import norm, t, ttest_1samp

from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.discoveries import at_least
from evenlight.statistics.arrays.discoveries import simes_thresholds as plain_thresholds
from evenlight.statistics.arrays.flips import simes_thresholds, step_down
from evenlight.statistics.arrays.holm import sides_adjusted
from evenlight.statistics.arrays.limits import family_limits
from evenlight.statistics.arrays.mean import mean_limits
from evenlight.statistics.arrays.relative_effect import relative_effect
from evenlight.statistics.arrays.repeated import LEAST_CLUSTERS, cluster_means, cluster_sums_p
from evenlight.statistics.arrays.signs import counted, side_p, signs
from evenlight.statistics.many_groups import holm
from evenlight.statistics.paired_tests import SignFlips

COMPARISONS, DRAWS, ALPHA = 100, 499, 0.05


def dependent(generator: np.random.Generator, units: int) -> np.ndarray:
    """Normal numbers, of which ten comparisons in a row share most."""
    common = np.repeat(generator.normal(size=(units, COMPARISONS // 10)), 10, axis=1)
    return np.sqrt(0.7) * common + np.sqrt(0.3) * generator.normal(size=(units, COMPARISONS))


def skewed(generator: np.random.Generator, units: int) -> np.ndarray:
    """Differences with median 0: wins as likely as losses, and larger."""
    return np.exp(1.2 * dependent(generator, units)) - 1


def tied(generator: np.random.Generator, units: int) -> np.ndarray:
    """The same, of which six in ten are ties, together in all comparisons."""
    return skewed(generator, units) * (generator.uniform(size=(units, 1)) > 0.6)


def planted(share: float) -> Callable:
    """The first half of the comparisons won in so many units, the others in half of them."""

    def made(generator: np.random.Generator, units: int) -> np.ndarray:
        won = np.where(np.arange(COMPARISONS) < COMPARISONS // 2, share, 0.5)
        wins = norm.cdf(dependent(generator, units)) < won
        return np.where(wins, 1, -1) * np.abs(skewed(generator, units))

    return made


def shifted(generator: np.random.Generator, units: int) -> np.ndarray:
    """Normal differences, of which the first half is shifted by five standard errors: the ground of the mean."""
    return dependent(generator, units) + np.where(np.arange(COMPARISONS) < COMPARISONS // 2, 5 / np.sqrt(units), 0)


def all_a_little(generator: np.random.Generator, units: int) -> np.ndarray:
    """All won in .58 of units: no side but the first is right."""
    return np.where(norm.cdf(dependent(generator, units)) < 0.58, 1.0, -1.0)


def of_pairs(made: Callable, units: int, studies: int) -> Iterator[list[np.ndarray]]:
    """Of each study which comparisons every method finds, as signs, and the count of either side less the truth."""
    for study in range(studies):
        differences = made(generator_for("more often", made.__name__, units, study), units)
        signed = signs(differences)
        wins, losses, _ = counted(signed)
        side, p = np.where(wins > losses, 1, -1), side_p(wins, losses)
        flips = SignFlips(units, DRAWS, ("more often", units, study))
        by_t = np.sign(differences.mean(axis=0)) * (holm(ttest_1samp(differences, 0).pvalue) <= ALPHA)
        adjusted = sides_adjusted(p)
        low, high = family_limits(wins, losses, adjusted, ALPHA)
        yield [
            side * (adjusted <= ALPHA),
            side * (step_down(signed, flips) <= ALPHA),
            by_t,
            at_least(p, simes_thresholds(signed, flips, ALPHA))[0],
            at_least(p, plain_thresholds(p, ALPHA))[0],
            np.stack([low, high]),
        ]


def pairs(studies: int) -> None:
    """Family-wise error, wrong sides, limits, and what is found of planted effects."""
    print("pairs: sign + Holm, flips, t + Holm | count by flips, plain, too large | some limit wrong | found")
    laws = [(skewed, 0.5), (tied, 0.5), (planted(0.8), 0.8), (planted(0.9), 0.9), (all_a_little, 0.58)]
    for units in (24, 100):
        for made, share in [*laws, (shifted, norm.cdf(5 / np.sqrt(units)))]:
            truth = np.full(COMPARISONS, share)
            truth[COMPARISONS // 2 :] = share if made is all_a_little else 0.5
            *found, flipped, plain, limits = zip(*of_pairs(made, units, studies), strict=True)
            differing = np.sign(truth - 0.5)
            wrong = [np.mean([(part * (part != differing)).any() for part in method]) for method in found]
            large = [np.mean(np.array(counts) > (differing > 0).sum()) for counts in (flipped, plain)]
            missed = np.mean([((low > truth) | (high < truth)).any() for low, high in limits])
            right = [
                np.mean([part[differing > 0] > 0 for part in method]) if differing.any() else 0 for method in found
            ]
            counts = [np.mean(counts) for counts in (flipped, plain)]
            print(made.__name__, share, units, np.round(wrong, 3), np.round(large, 3), missed.round(3), end=" ")
            print(np.round(right, 3), "counts", np.round(counts, 1))


def texts(studies: int) -> None:
    """One-sided error of C² at small levels, with groups of unequal size and spread and θ = 1/2."""
    print("texts: two-sided error over level, by chi-squared and t, at .05, .005, .0005; coverage of 95 %; strata")
    for size_a, size_b, spread in [(24, 24, 3), (50, 50, 3), (100, 100, 3), (300, 60, 3), (60, 300, 3), (50, 50, 1)]:
        generator = generator_for("texts", size_a, size_b, spread)
        a, b = generator.normal(size=(size_a, 100 * studies)), spread * generator.normal(size=(size_b, 100 * studies))
        a, b = (np.sign(part) * np.expm1(np.abs(part)) for part in (a, b))
        found = relative_effect(a, b)
        strata = relative_effect(a, b, np.arange(size_a) % 2, np.arange(size_b) % 2)
        row = []
        for effect, student in [(found, False), (found, True), (strata, False)]:
            p = 2 * effect.side_p(student).min(axis=0)
            row.append([round(float((p <= level).mean() / level), 2) for level in (0.05, 0.005, 0.0005)])
        plain = 2 * t.sf(np.abs(found.effect - 0.5) / np.sqrt(found.plain_variance), found.degrees)
        low, high = found.limits(0.025)
        munzel = [round(float((plain <= level).mean() / level), 2) for level in (0.05, 0.005, 0.0005)]
        print(size_a, size_b, spread, *row, "Brunner-Munzel", munzel, "covers", ((low <= 0.5) & (high >= 0.5)).mean())


def clusters(studies: int) -> None:
    """Errors of claims on units by sums of clusters, where size tells nothing and where it does, and of votes."""
    print("clusters of 1 to 12 units: sums + Holm where sizes tell nothing, and where large ones win more; votes")
    # A cluster wins or loses as a whole, the larger the likelier; on average over units half are won.
    tells = np.arange(1, 13) / 12
    tells = tells - np.average(tells, weights=np.arange(1, 13)) + 0.5
    for count in (10, 20, 100, 300):
        wrong = np.zeros(3)
        for study in range(studies):
            generator = generator_for("clusters", count, study)
            sizes = generator.integers(1, 13, size=count)
            cluster, drawn = np.repeat(np.arange(count), sizes), generator.uniform(size=(count, 24))
            alone = generator.uniform(size=(len(cluster), 24))
            for number, won in enumerate((alone < drawn[cluster], (drawn < tells[sizes - 1][:, None])[cluster])):
                signed = np.where(won, 1.0, -1.0)
                member = np.stack([np.bincount(cluster, column) for column in signed.T], axis=1)
                p = cluster_sums_p(signed, cluster) if count >= LEAST_CLUSTERS else _student(member)
                wrong[number] += (sides_adjusted(p) <= ALPHA).any()
                if number == 0:
                    votes = counted(signs(cluster_means(signed, cluster)))[:2]
                    wrong[2] += (sides_adjusted(side_p(*votes)) <= ALPHA).any()
        print(count, np.round(wrong / studies, 3))


def _student(values: np.ndarray) -> np.ndarray:
    return np.stack([ttest_1samp(values, 0, alternative=side).pvalue for side in ("greater", "less")])


def means(studies: int) -> None:
    """How often the studentised bootstrap of a mean holds, shape by shape, beside Student's interval."""
    print("coverage of 95 % of the mean: studentised bootstrap (below, above), Student's")
    shapes = {
        "normal": (lambda g, size: g.normal(size=size), 0),
        "lognormal": (lambda g, size: np.exp(g.normal(size=size)), np.exp(0.5)),
        "one in ten": (lambda g, size: g.normal(1, 1, size=size) * (g.uniform(size=size) < 0.1), 0.1),
        "t of 3 degrees": (lambda g, size: g.standard_t(3, size=size), 0),
    }
    for name, (draw, truth) in shapes.items():
        for units in (24, 100):
            generator = generator_for("means", name, units)
            values = draw(generator, (units, 20 * studies))
            mean, low, high = mean_limits(values, 0.95, 999, generator)
            half = t.isf(0.025, units - 1) * values.std(axis=0, ddof=1) / np.sqrt(units)
            known = ~np.isnan(low)
            share = np.mean([low > truth, high < truth, np.abs(mean - truth) <= half], axis=1, where=known).round(3)
            width = np.median((high - low)[known] / (2 * half[known])).round(2)
            print(name, units, np.round(1 - share[0] - share[1], 3), share, "width", width)


if __name__ == "__main__":
    for part in (pairs, texts, clusters, means):
        part(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
