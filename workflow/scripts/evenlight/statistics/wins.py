"""Wins and losses of one group against another, comparison by comparison: what verdicts count.

A unit is won by the group whose score is better, in the direction of the metric, by more than a margin. The methods are
those of :mod:`evenlight.statistics.arrays`; here they meet the scores of a study. Units that share a cluster are one
vote. Scores are means over the seeds that count, so that all is said of these trained models; of answers they are means
of the same draws of both forms. For a mean of few skewed draws is larger than one of many in other shares of questions
than it is smaller, and draws of one number may share what others do not have.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
import pandas as pd
import scipy

from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.limits import as_often_p, net_benefit_limits, share_limits
from evenlight.statistics.arrays.mean import MeanDifference, difference_limits, mean_limits
from evenlight.statistics.arrays.relative_effect import relative_effect
from evenlight.statistics.arrays.repeated import (
    across_seeds_p,
    cluster_means,
    counted_seeds,
    mean_of_known,
    within_strata,
)
from evenlight.statistics.arrays.signs import counted, margins, side_p, signs
from evenlight.statistics.arrays.worst import in_worst, texts_in_worst, worst_side_p
from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.designs import Design, numbered
from evenlight.statistics.robustness import robustness_value
from evenlight.statistics.study import VerdictSettings

PAIRS, CLUSTERS, TEXTS = "pairs", "clusters", "texts"
# With fewer texts of a group nobody has simulated that the level of the relative effect holds.
LEAST_TEXTS = 50
# One-sided p of both sides: of wins, of the worst scores, and of the majorities of seeds.
P_SIDES, P_WORST, P_RETRAINING = ([f"p_{kind}{side}" for side in "ab"] for kind in ("", "worst_", "retraining_"))
P_VALUES = [*P_SIDES, *P_WORST, *P_RETRAINING, "p_as_often"]

# Gives further columns, (comparisons,) each, of the scores of an explainer, a design, both levels' scores
# (comparisons, seeds, units), and which seeds count, bool (comparisons, seeds).
Described = Callable[[ExplainerScores, Design, np.ndarray, np.ndarray, np.ndarray], Mapping]


@dataclass(frozen=True)
class Counted:
    """Comparisons of one explainer and one pair of levels.

    Attributes:
        rows: names, wins and losses or the relative effect, limits of each comparison alone, and the p-values
            :data:`P_VALUES`, from which :func:`evenlight.statistics.verdicts.judged` makes verdicts.
        votes: of pairs the names of their votes.
        signed: of pairs 1, −1, 0 or NaN of each vote, (votes, comparisons).
    """

    rows: pd.DataFrame
    votes: Sequence[tuple] = ()
    signed: np.ndarray | None = None


def counted_wins(
    explainers: Iterable[ExplainerScores],
    designs: Sequence[Design],
    judging: VerdictSettings,
    described: Described | None = None,
    intervals: bool = True,
) -> list[Counted]:
    """The wins of all comparisons of a model, in the order of the tables: design by design.

    Without ``intervals`` the mean has no limits, which verdicts do not need.
    """
    judging = judging if intervals else replace(judging, bootstrap_draws=0)
    by_design: list[list[Counted]] = [[] for _ in designs]
    for scores in explainers:
        for design, found in zip(designs, by_design, strict=True):
            cells, a, b = _with_equal_draws(scores, design).scored(design)
            if cells:
                found.append(_counted(cells, a, b, scores, design, judging, described))
    return [part for of_design in by_design for part in of_design]


def _with_equal_draws(scores: ExplainerScores, design: Design) -> ExplainerScores:
    """The scores of answers as means of the draws that both forms of a pair have; others as they are.

    What draws of one number share, as those of one day, is then the same in both forms. Pairs without a common number
    have as many draws of either form, the first ones.
    """
    if scores.draws is None or not design.paired or not (design.a.has_single_items and design.b.has_single_items):
        return scores
    values = scores.values.copy()
    partner = np.full(values.shape[-1], -1)
    sides = [np.full(len(design.a.items), -1) for _ in "ab"]
    for place, side in zip(sides, (design.a, design.b), strict=True):
        place[side.unit_index] = side.columns
    whole = (sides[0] >= 0) & (sides[1] >= 0)
    partner[sides[0][whole]], partner[sides[1][whole]] = sides[1][whole], sides[0][whole]
    columns = np.flatnonzero(partner >= 0)
    known = ~np.isnan(scores.draws)
    own, other = known[..., columns], known[..., partner[columns]]
    both = own & other
    first = own & (np.cumsum(own, axis=2) <= other.sum(axis=2, keepdims=True))
    taken = np.where(both.any(axis=2, keepdims=True), both, first)
    of_taken = mean_of_known(np.where(taken, scores.draws[..., columns], np.nan), axis=2)
    values[..., columns] = np.where((taken == own).all(axis=2), values[..., columns], of_taken)
    return replace(scores, values=values)


def _counted(
    cells: list[dict],
    a: np.ndarray,
    b: np.ndarray,
    scores: ExplainerScores,
    design: Design,
    judging: VerdictSettings,
    described: Described | None,
) -> Counted:
    strata = None if design.a.strata is None else (design.a.strata, design.b.strata)
    missing = _missing(a, b) if design.paired else (0, 0)
    whole_a, whole_b, codes = within_strata(a, b, design.paired, strata)
    seeds = counted_seeds(whole_a, whole_b)
    further = described(scores, design, a, b, seeds) if described else {}
    # (seeds, units, comparisons), as arrays have them.
    a, b = (np.where(seeds[:, :, None], side, np.nan).transpose(1, 2, 0) for side in (whole_a, whole_b))
    better = np.array([1.0 if judging.higher_is_better.get(cell["metric"], True) else -1.0 for cell in cells])
    if design.paired:
        columns, votes, signed = _of_pairs(a, b, better, cells, scores, design, judging)
    else:
        columns, votes, signed = _of_texts(a, b, better, codes, cells, scores, design, judging), (), None
    columns |= _of_both(a, b, columns, scores, design, judging)
    left_out = [", ".join(str(scores.seeds[seed]) for seed in np.flatnonzero(~of_cell)) for of_cell in seeds]
    columns |= {"seeds": seeds.sum(axis=1), "left_out_seeds": left_out, "paired": design.paired}
    columns |= {"missing_a": missing[0], "missing_b": missing[1]}
    names = {name: [cell[name] for cell in cells] for name in cells[0]}
    return Counted(pd.DataFrame({**names, **columns, **further}, index=range(len(cells))), votes, signed)


def _missing(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In how many pairs the first level alone has no score, and the second alone, from (comparisons, seeds, units)."""
    there_a, there_b = (~np.isnan(side).all(axis=1) for side in (a, b))
    return (~there_a & there_b).sum(axis=1), (there_a & ~there_b).sum(axis=1)


def _of_pairs(
    a: np.ndarray,
    b: np.ndarray,
    better: np.ndarray,
    cells: Sequence[Mapping],
    scores: ExplainerScores,
    design: Design,
    judging: VerdictSettings,
) -> tuple[dict, list[tuple], np.ndarray]:
    """The columns of pairs, (comparisons,) each, and the votes: their names, and signs (votes, comparisons)."""
    codes, first = design.numbered_clusters
    smallest = np.array([judging.smallest_effects.get(cell["metric"], 0.0) for cell in cells])
    margin = margins(a, b, smallest)
    differences = mean_of_known(a - b)
    of_votes = cluster_means(differences, codes)
    signed = better * signs(of_votes, margin)
    wins, losses, ties = counted(signed)
    votes, pairs = wins + losses + ties, (~np.isnan(differences)).sum(axis=0)
    level = 1 - judging.confidence
    share = np.divide(wins, wins + losses, out=np.full(len(cells), np.nan), where=wins + losses > 0)
    ends = share_limits(wins, wins + losses, level / 2), net_benefit_limits(wins, losses, votes, level)
    benefit = np.divide(wins - losses, votes, out=np.full(len(cells), np.nan), where=votes > 0)
    how = judging.confidence, judging.bootstrap_draws

    def mean_of(of_votes: np.ndarray) -> MeanDifference:
        return mean_limits(of_votes, *how, generator_for(0, "mean", scores.dataset, *design.comparison.levels))

    with np.errstate(invalid="ignore"):
        mean = _by_explainer(mean_of, cells, of_votes)
    worst = in_worst(*(cluster_means(mean_of_known(side), codes) for side in (a, b)), better > 0)
    worst_a, worst_b = ((worst == sign).sum(axis=0) for sign in (1, -1))
    by_seed = np.stack([cluster_means(of_seed, codes) for of_seed in a - b])
    columns = {
        "unit": np.where(pairs > votes, CLUSTERS, PAIRS),
        **{"units_a": votes, "units_b": votes, "wins": wins, "losses": losses, "ties": ties, "margin": margin},
        **{"share": share, "low": ends[0][0], "high": ends[0][1]},
        "p_as_often": as_often_p(wins, losses, votes, judging.as_often_bound),
        **{"net_benefit": benefit, "net_benefit_low": ends[1][0], "net_benefit_high": ends[1][1]},
        "most_differ": share_limits(wins + losses, votes, level)[1],
        **dict(zip(P_SIDES, side_p(wins, losses), strict=True)),
        "mean": mean,
        # Which way the mean points, if any.
        "mean_side": np.where(np.abs(mean.value) > margin - smallest, better * np.sign(mean.value), 0),
        **{"worst_a": worst_a, "worst_b": worst_b},
        **dict(zip(P_WORST, side_p(worst_a, worst_b), strict=True)),
        "by_seed": list(mean_of_known(better * signs(by_seed, margin), axis=1).T),
    }
    return columns, [(scores.dataset, name) for name in design.clusters[0][first]], signed


def _by_explainer(
    mean_of: Callable[..., MeanDifference], cells: Sequence[Mapping], *sides: np.ndarray
) -> MeanDifference:
    """The means of comparisons, of each explainer by itself: how a product of matrices is rounded depends on its width.

    So a comparison has the same numbers, to the last digit, whatever else is judged with it.
    """
    of = [(cell["model"], cell["explainer"]) for cell in cells]
    ends = [place for place in range(1, len(of)) if of[place] != of[place - 1]]
    parts = [mean_of(*part) for part in zip(*(np.split(side, ends, axis=1) for side in sides), strict=True)]
    return MeanDifference(*(np.concatenate(values) for values in zip(*map(astuple, parts), strict=True)))


def _of_texts(
    a: np.ndarray,
    b: np.ndarray,
    better: np.ndarray,
    strata: Sequence[np.ndarray] | None,
    cells: Sequence[Mapping],
    scores: ExplainerScores,
    design: Design,
    judging: VerdictSettings,
) -> dict:
    """The columns of texts without pairs: their relative effect; a cluster has a vote in each group and stratum."""
    codes = [_shared(of) for of in strata] if strata else [np.zeros(side.shape[1], dtype=int) for side in (a, b)]
    sides, numbers = [], np.split(design.numbered_clusters[0], [a.shape[1]])
    for side, cluster, code in zip((a, b), numbers, codes, strict=True):
        vote, first = numbered(np.array([f"{stratum} {number}" for stratum, number in zip(code, cluster, strict=True)]))
        # Of strata that both groups have.
        counts = np.isin(code, np.intersect1d(*codes)) & (code >= 0)
        known = np.where(counts[:, None], side, np.nan)
        by_seed = [cluster_means(of_seed, vote) for of_seed in known]
        sides.append((cluster_means(mean_of_known(known), vote), code[first], cluster[first], by_seed))
    (voted_a, code_a, cluster_a, seeds_a), (voted_b, code_b, cluster_b, seeds_b) = sides
    clusters = cluster_a, cluster_b
    effect = relative_effect(better * voted_a, better * voted_b, code_a, code_b, *clusters)
    # Clusters, of which some may have votes in several strata.
    sizes = [
        (~np.isnan(cluster_means(of[1], of[0]))).sum(axis=0) for of in zip(clusters, (voted_a, voted_b), strict=True)
    ]
    asked = np.minimum(*sizes) >= LEAST_TEXTS
    worst, p_worst = _of_worst(voted_a, voted_b, better > 0, (code_a, code_b), clusters)
    low, high = effect.limits((1 - judging.confidence) / 2)
    net_benefit, bound = 2 * effect.effect - 1, judging.as_often_bound
    ends = [scipy.stats.t.sf(np.sqrt(effect.c2((1 + end) / 2)), effect.degrees) for end in (bound, -bound)]
    p_as_often = np.where(asked & (np.abs(net_benefit) < bound), np.nan_to_num(np.maximum(*ends), nan=1.0), 1.0)

    def mean_of(a: np.ndarray, b: np.ndarray) -> MeanDifference:
        generator = generator_for(0, "mean", scores.dataset, *design.comparison.levels)
        how = judging.confidence, judging.bootstrap_draws, generator
        return difference_limits(a, b, code_a, code_b, *how, clusters)

    mean = _by_explainer(mean_of, cells, voted_a, voted_b)
    by_seed = [net_benefit]
    if len(seeds_a) > 1:
        by_seed = [
            2 * relative_effect(better * x, better * y, code_a, code_b).effect - 1
            for x, y in zip(seeds_a, seeds_b, strict=True)
        ]
    nothing = np.full(len(better), np.nan)
    of_pairs = ("wins", "losses", "ties", "margin", "most_differ")
    p_sides = np.where(asked, np.nan_to_num(effect.side_p(), nan=1.0), 1.0)
    return {
        **{"unit": TEXTS, "units_a": sizes[0], "units_b": sizes[1]},
        **dict.fromkeys(of_pairs, nothing),
        **{"share": effect.effect, "low": low, "high": high, "ratio": effect.ratio, "degrees": effect.degrees},
        **{"net_benefit": net_benefit, "net_benefit_low": 2 * low - 1, "net_benefit_high": 2 * high - 1},
        **dict(zip(P_SIDES, p_sides, strict=True)),
        **dict(zip(("worst_a", "worst_b"), worst, strict=True)),
        **dict(zip(P_WORST, p_worst, strict=True)),
        "p_as_often": p_as_often,
        **{"mean": mean, "mean_side": better * np.sign(np.nan_to_num(mean.value))},
        "by_seed": list(np.array(by_seed).T),
    }


def _of_worst(
    a: np.ndarray,
    b: np.ndarray,
    higher_is_better: np.ndarray,
    codes: tuple[np.ndarray, np.ndarray],
    clusters: tuple[np.ndarray, np.ndarray],
) -> tuple[list[np.ndarray], np.ndarray]:
    """How many votes of either group are in the worst tenth, (comparisons,) each, and p of both sides.

    ``a`` and ``b`` are scores (votes, comparisons), ``codes`` their strata. The test takes independent votes: those of
    clusters that have one vote.
    """
    with_vote = [of[~np.isnan(side).all(axis=1)] for of, side in zip(clusters, (a, b), strict=True)]
    votes = np.bincount(np.concatenate(with_vote), minlength=1 + np.concatenate(clusters).max())
    a, b = (np.where((votes[of] == 1)[:, None], side, np.nan) for of, side in zip(clusters, (a, b), strict=True))
    there = [~np.isnan(side) for side in (a, b)]
    worst = texts_in_worst(a, b, higher_is_better)
    asked = np.minimum(*(of.sum(axis=0) for of in there)) >= LEAST_TEXTS
    return [of.sum(axis=0) for of in worst], np.where(asked, worst_side_p(*worst, *there, codes), 1.0)


def _shared(strata: np.ndarray) -> np.ndarray:
    """The stratum that a unit has under all seeds, int (units,), from (seeds, units); −1 where there is none."""
    return np.where((strata == strata[0]).all(axis=0), strata[0], -1)


def _of_both(
    a: np.ndarray,
    b: np.ndarray,
    columns: dict,
    scores: ExplainerScores,
    design: Design,
    judging: VerdictSettings,
) -> dict:
    """What pairs and texts have alike: who was left out, the mean, retraining, and why there is no verdict."""
    left_out = []
    for side, scored in ((design.a, a), (design.b, b)):
        there = np.array([item is not None for item in side.items])
        left_out.append(there.sum() - (~np.isnan(scored)).any(axis=0).sum(axis=0))
    sizes = zip(columns["units_a"], columns["units_b"], strict=True)
    few = [
        f"{min(of_cell)} texts of a group are fewer than {LEAST_TEXTS}" if min(of_cell) < LEAST_TEXTS else None
        for of_cell in sizes
    ]
    return {
        **{"left_out_a": left_out[0], "left_out_b": left_out[1], "repeated": scores.repeated},
        **_of_mean(columns.pop("mean"), _spread(a, b), judging.alpha),
        **dict(zip(P_RETRAINING, across_seeds_p(np.transpose(columns["by_seed"])), strict=True)),
        "reason": [None if design.paired else words for words in few],
    }


def _of_mean(mean: MeanDifference, spread: np.ndarray, alpha: float) -> dict:
    """The mean difference as an effect, in the metric's units and in standard deviations, and its robustness."""
    ends = {"": mean.value, "_low": mean.low, "_high": mean.high}
    with np.errstate(divide="ignore", invalid="ignore"):
        deviate = np.where(mean.error > 0, mean.value / mean.error, np.nan)
        in_sds = {f"standardised{end}": np.where(spread > 0, of / spread, np.nan) for end, of in ends.items()}
    return {
        **{f"difference{end}": of for end, of in ends.items()},
        **{"sd": spread, **in_sds},
        "robustness": robustness_value(deviate, mean.degrees),
        "robustness_significance": robustness_value(deviate, mean.degrees, alpha),
    }


def _spread(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The standard deviation within levels, mean variance over both and over seeds; (comparisons,)."""
    deviations = [side - mean_of_known(side, axis=1)[:, None] for side in (a, b)]
    count = np.concatenate([(~np.isnan(side)).sum(axis=1) for side in deviations])
    squares = np.concatenate([np.nansum(side**2, axis=1) for side in deviations])
    variances = np.divide(squares, count - 1, out=np.full(count.shape, np.nan), where=count > 1)
    return np.sqrt(mean_of_known(variances))
