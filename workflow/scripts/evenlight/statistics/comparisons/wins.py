"""Who wins how often, comparison by comparison: what verdicts are made of.

A vote is won by the group whose score is better, in the direction of the metric, by more than a margin. Pairs have a
vote each, and so have texts; units that share a cluster are one vote. Scores are means over the seeds that count, so
that all is said of these trained models. The methods are those of :mod:`evenlight.statistics.arrays`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np
import pandas as pd

from evenlight.statistics.arrays.exact_tests import (
    as_often_p,
    counted,
    in_worst,
    margins,
    net_benefit_limits,
    share_limits,
    side_p,
    signs,
    texts_in_worst,
    worst_side_p,
)
from evenlight.statistics.arrays.relative_effect import relative_effect
from evenlight.statistics.arrays.units import cluster_means, cluster_sums, mean_of_known, numbered
from evenlight.statistics.comparisons.cells import CELL, Design, ExplainerScores, by_comparison
from evenlight.statistics.comparisons.study import LEAST_TEXTS, REPETITIONS, VerdictSettings, hypothesis_family

PAIRS, CLUSTERS = "pairs", "clusters"
# What has a vote where there are no pairs.
ALONE = tuple(dict.fromkeys(repetition.units for repetition in REPETITIONS.values()))
# A seed counts in a comparison where it has scores of so many units, and of this share of the most of any seed.
LEAST_UNITS = 6
LEAST_SHARE = 0.5
# How the variance of a relative effect is where that is another one.
MOVED = [f"{part}_{way}" for way in ("up", "down") for part in ("value", "gained", "lost")]
# One-sided p of both sides: of wins, of the worst scores, and of the majorities of seeds.
P_SIDES, P_WORST, P_RETRAINING = ([f"p_{kind}{side}" for side in "ab"] for kind in ("", "worst_", "retraining_"))


@dataclass(frozen=True)
class Votes:
    """The votes of a level of texts without pairs: a cluster has one in each stratum.

    Attributes:
        scores: means over seeds, float (votes, comparisons), NaN where there is none.
        strata, clusters: of each vote, int (votes,); clusters have the same numbers for both levels.
        by_seed: the scores of each seed.
    """

    scores: np.ndarray
    strata: np.ndarray
    clusters: np.ndarray
    by_seed: Sequence[np.ndarray]


@dataclass(frozen=True)
class LevelScores:
    """The scores of both levels of a design, in all comparisons of one explainer, and which of them count.

    Attributes:
        scores, design: of which explainer, and of which levels.
        cells: the names of each comparison.
        a, b: all scores that there are, float (comparisons, seeds, units), NaN where there is none.
    """

    scores: ExplainerScores
    design: Design
    cells: Sequence[Mapping[str, str]]
    a: np.ndarray
    b: np.ndarray

    @cached_property
    def _whole(self) -> tuple[np.ndarray, np.ndarray]:
        """The scores of whole pairs whose forms are in one stratum, or of texts that are in one; NaN for the others."""
        if not self.design.paired:
            sides = ((self.a, self.design.a.strata), (self.b, self.design.b.strata))
            a, b = (of if strata is None else np.where(strata >= 0, of, np.nan) for of, strata in sides)
            return a, b
        whole, same = ~np.isnan(self.a) & ~np.isnan(self.b), self.design.same_stratum
        whole = whole if same is None else whole & same
        return np.where(whole, self.a, np.nan), np.where(whole, self.b, np.nan)

    @cached_property
    def seeds(self) -> np.ndarray:
        """Which seeds count in each comparison, bool (comparisons, seeds).

        Those that have scores of at least six units of either level, and of half as many as the seed that has the most;
        where no seed has six, by the half alone.
        """
        counts = np.ones(self.a.shape[:2], dtype=bool)
        for side in self._whole:
            known = (~np.isnan(side)).sum(axis=2)
            most = known.max(axis=1, keepdims=True, initial=0)
            counts &= known >= np.maximum(np.minimum(LEAST_UNITS, most), LEAST_SHARE * most)
            counts &= known > 0
        return counts

    @cached_property
    def counting(self) -> tuple[np.ndarray, np.ndarray]:
        """The scores of both levels that count, (seeds, units, comparisons) as arrays have them, NaN for the others."""
        a, b = (np.where(self.seeds[:, :, None], side, np.nan).transpose(1, 2, 0) for side in self._whole)
        return a, b

    @cached_property
    def differences(self) -> np.ndarray:
        """Of pairs the difference of each vote, (votes, comparisons): a mean over seeds and the pairs of a cluster."""
        a, b = self.counting
        return cluster_means(mean_of_known(a - b), self.design.numbered_clusters[0])

    @cached_property
    def votes(self) -> tuple[Votes, Votes]:
        """Of texts without pairs the votes of both levels, in the strata that both have."""
        clusters = np.split(self.design.numbered_clusters[0], [self.a.shape[2]])
        of_seeds = [
            np.zeros(side.shape[:2], dtype=int) if of.strata is None else of.strata
            for side, of in zip(self.counting, (self.design.a, self.design.b), strict=True)
        ]
        # The stratum that a unit has under all seeds; −1 where there is none.
        strata = [np.where((of == of[0]).all(axis=0), of[0], -1) for of in of_seeds]
        both = np.intersect1d(strata[0], strata[1])
        a, b = map(_votes, self.counting, strata, clusters, (both[both >= 0],) * 2)
        return a, b


def _votes(scores: np.ndarray, strata: np.ndarray, clusters: np.ndarray, shared: np.ndarray) -> Votes:
    """The votes of scores (seeds, texts, comparisons) in the strata that both levels have."""
    vote, first = numbered(strata * (1 + clusters.max()) + clusters)
    known = np.where(np.isin(strata, shared)[:, None], scores, np.nan)
    by_seed = [cluster_means(of_seed, vote) for of_seed in known]
    return Votes(cluster_means(mean_of_known(known), vote), strata[first], clusters[first], by_seed)


# Gives further columns of the comparisons, (comparisons,) each.
Described = Callable[[LevelScores], Mapping]


@dataclass(frozen=True)
class Counted:
    """Comparisons of one explainer and one pair of levels.

    Attributes:
        rows: names and family, wins and losses or the relative effect, limits of each comparison alone, and the
            p-values from which :func:`evenlight.statistics.comparisons.verdicts.judged` makes verdicts.
        signed: of pairs 1, −1, 0 or NaN of each vote in each comparison, by the dataset and the name of the vote.
    """

    rows: pd.DataFrame
    signed: pd.DataFrame | None = None


def counted_wins(
    explainers: Iterable[ExplainerScores],
    designs: Sequence[Design],
    judging: VerdictSettings,
    described: Described | None = None,
) -> list[Counted]:
    """The wins of all comparisons of a model, in the order of the tables: design by design.

    ``described`` gives what else a table has of them, such as effects.
    """

    def of_design(scores: ExplainerScores, design: Design) -> Iterator[Counted]:
        levels = LevelScores(scores, design, *scores.scored(design))
        if not levels.cells:
            return
        metrics = [cell["metric"] for cell in levels.cells]
        better = np.array([1.0 if judging.higher_is_better.get(metric, True) else -1.0 for metric in metrics])
        if design.paired:
            smallest = np.array([judging.smallest_effects.get(metric, 0.0) for metric in metrics])
            columns, signed = _of_pairs(levels, better, smallest, judging)
        else:
            columns, signed = _of_texts(levels, better, judging), None
        further = described(levels) if described else {}
        yield Counted(pd.DataFrame({**_of_both(levels, judging), **columns, **further}), signed)

    return by_comparison(explainers, designs, of_design)


def _of_pairs(
    levels: LevelScores, better: np.ndarray, smallest: np.ndarray, judging: VerdictSettings
) -> tuple[dict, pd.DataFrame]:
    """The columns of pairs, (comparisons,) each, and the signs of their votes."""
    (a, b), (codes, first) = levels.counting, levels.design.numbered_clusters
    margin = margins(a, b, smallest)
    signed = better * signs(levels.differences, margin)
    wins, losses, ties = counted(signed)
    decided, votes, level = wins + losses, wins + losses + ties, 1 - judging.confidence
    low, high = share_limits(wins, decided, level / 2)
    benefit_low, benefit_high = net_benefit_limits(wins, losses, votes, level)
    of_a, of_b = (cluster_means(mean_of_known(side), codes) for side in (a, b))
    worst_a, worst_b, _ = counted(in_worst(of_a, of_b, better > 0))
    there_a, there_b = (~np.isnan(side).all(axis=1).T for side in (levels.a, levels.b))
    missing_a, missing_b, _ = counted(np.sign(cluster_sums(there_b.astype(float) - there_a, codes)))
    by_seed = np.stack([cluster_means(of_seed, codes) for of_seed in a - b])
    benefits = mean_of_known(better * signs(by_seed, margin), axis=1)
    with np.errstate(invalid="ignore"):
        share, net_benefit = wins / decided, (wins - losses) / votes
    columns = {
        "unit": np.where((~np.isnan(a)).any(axis=0).sum(axis=0) > votes, CLUSTERS, PAIRS),
        **{"units_a": votes, "units_b": votes, "wins": wins, "losses": losses, "ties": ties, "margin": margin},
        **{"share": share, "low": low, "high": high},
        "net_benefit": net_benefit,
        **{"net_benefit_low": benefit_low, "net_benefit_high": benefit_high},
        "most_differ": share_limits(decided, votes, level)[1],
        **{"worst_a": worst_a, "worst_b": worst_b, "reason": None},
        "seeds_agree": (np.sign(benefits) == np.sign(net_benefit)).sum(axis=0),
        # Votes of pairs, or of most in a cluster, in which this level alone has no score.
        **{"missing_a": missing_a, "missing_b": missing_b},
        **_p_values(side_p(wins, losses), side_p(worst_a, worst_b), benefits),
        "p_as_often": as_often_p(wins, losses, votes, judging.as_often_bound),
    }
    names = [(levels.scores.dataset, name) for name in levels.design.clusters[0][first]]
    return columns, pd.DataFrame(signed, index=pd.Index(names, tupleize_cols=False))


def _p_values(p_sides: np.ndarray, p_worst: np.ndarray, benefits: np.ndarray) -> dict[str, np.ndarray]:
    """One-sided p of both sides, by column; ``benefits`` are net benefits of seeds, (seeds, comparisons).

    Across retraining it is the sign test of the majorities of seeds: exact for these units, if trainings are
    independent. Student's t of net benefits would find more with few seeds. But where one training in ten goes wrong it
    is wrong in up to 0.4 of studies of 100 comparisons.
    """
    kinds = ((P_SIDES, p_sides), (P_WORST, p_worst), (P_RETRAINING, side_p(*counted(signs(benefits))[:2])))
    return {name: of_side for names, of_kind in kinds for name, of_side in zip(names, of_kind, strict=True)}


def _of_texts(levels: LevelScores, better: np.ndarray, judging: VerdictSettings) -> dict:
    """The columns of texts without pairs: their relative effect; a cluster has a vote in each group and stratum."""
    a, b = levels.votes
    strata, clusters = (a.strata, b.strata), (a.clusters, b.clusters)
    effect = relative_effect(better * a.scores, better * b.scores, *strata, *clusters)
    # Clusters, of which some may have votes in several strata.
    sizes = [(~np.isnan(cluster_means(of.scores, of.clusters))).sum(axis=0) for of in (a, b)]
    fewest = np.minimum(*sizes)
    worst, p_worst = _of_worst(a, b, better > 0)
    low, high = effect.limits((1 - judging.confidence) / 2)
    units = REPETITIONS[levels.scores.repeated].units
    by_seed = [2 * effect.effect - 1]
    if len(a.by_seed) > 1:
        of_seeds = zip(a.by_seed, b.by_seed, strict=True)
        by_seed = [2 * relative_effect(better * x, better * y, *strata).effect - 1 for x, y in of_seeds]
    p_sides, p_as_often = (
        np.where(fewest >= LEAST_TEXTS, np.nan_to_num(p, nan=1.0), 1.0)
        for p in (effect.side_p(), effect.as_often_p(judging.as_often_bound))
    )
    return {
        **{"unit": units, "units_a": sizes[0], "units_b": sizes[1], "missing_a": 0, "missing_b": 0},
        **dict.fromkeys(("wins", "losses", "ties", "margin", "most_differ"), np.full(len(better), np.nan)),
        **{"share": effect.effect, "low": low, "high": high, "ratio": effect.ratio, "degrees": effect.degrees},
        **dict(zip(MOVED, effect.moved.reshape(len(MOVED), -1), strict=True)),
        **{"net_benefit": 2 * effect.effect - 1, "net_benefit_low": 2 * low - 1, "net_benefit_high": 2 * high - 1},
        **{"worst_a": worst[0], "worst_b": worst[1]},
        "seeds_agree": (np.sign(by_seed) == np.sign(2 * effect.effect - 1)).sum(axis=0),
        **_p_values(p_sides, p_worst, np.array(by_seed)),
        "p_as_often": p_as_often,
        "reason": [
            f"{count} {units} of a group are fewer than {LEAST_TEXTS}" if count < LEAST_TEXTS else None
            for count in fewest
        ],
    }


def _of_worst(a: Votes, b: Votes, higher_is_better: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """How many votes of either group are in the worst tenth, (comparisons,) each, and p of both sides.

    The test takes independent votes: those of clusters that have one vote.
    """
    known = np.concatenate([~np.isnan(of.scores) for of in (a, b)]).astype(float)
    votes = cluster_sums(known, np.concatenate([a.clusters, b.clusters]))
    alone = [np.where(votes[of.clusters] == 1, of.scores, np.nan) for of in (a, b)]
    there = [~np.isnan(side) for side in alone]
    worst = texts_in_worst(alone[0], alone[1], higher_is_better)
    asked = np.minimum(*(of.sum(axis=0) for of in there)) >= LEAST_TEXTS
    p = np.where(asked, worst_side_p(*worst, there[0], there[1], (a.strata, b.strata)), 1.0)
    return [of.sum(axis=0) for of in worst], p


def _of_both(levels: LevelScores, judging: VerdictSettings) -> dict:
    """The columns that pairs and texts have alike: names, what of them counts, and what was left out."""
    seeds = levels.scores.seeds
    left_out = [
        sum(item is not None for item in side.items) - (~np.isnan(scores)).any(axis=0).sum(axis=0)
        for side, scores in zip((levels.design.a, levels.design.b), levels.counting, strict=True)
    ]
    return {
        **{name: [cell[name] for cell in levels.cells] for name in CELL},
        "family": [hypothesis_family(cell, judging.primary, judging.noise) for cell in levels.cells],
        **{"paired": levels.design.paired, "left_out_a": left_out[0], "left_out_b": left_out[1]},
        **{"repeated": levels.scores.repeated, "seeds": levels.seeds.sum(axis=1)},
        "left_out_seeds": [", ".join(map(str, compress(seeds, ~of))) for of in levels.seeds],
    }
