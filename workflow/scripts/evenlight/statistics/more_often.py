"""How often one group is explained better: the verdict *more often* on all comparisons of a study, and counts of them.

A unit is won by the group whose score is better, in the direction of the metric, by more than a margin. The methods are
those of :mod:`evenlight.statistics.arrays`; here they meet the scores of a study. Units that share a cluster are one
vote. Scores are means over the seeds that count, so that all is said of these trained models.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from evenlight.core.contracts.results import MORE_OFTEN, MORE_OFTEN_COUNTS
from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.discoveries import at_least, simes_thresholds
from evenlight.statistics.arrays.flips import simes_thresholds as thresholds_by_flips
from evenlight.statistics.arrays.holm import over_analyses, sides_adjusted
from evenlight.statistics.arrays.limits import (
    as_often_p,
    family_limits,
    most_decided,
    net_benefit_limits,
    win_share_limits,
)
from evenlight.statistics.arrays.mean import mean_limits
from evenlight.statistics.arrays.relative_effect import RelativeEffect, relative_effect
from evenlight.statistics.arrays.repeated import (
    cluster_means,
    mean_of_known,
    net_benefit_by_seed,
    seeds_needed,
    seeds_that_agree,
)
from evenlight.statistics.arrays.sample_size import least_decided
from evenlight.statistics.arrays.signs import counted, margins, side_p, signs
from evenlight.statistics.arrays.worst import in_worst
from evenlight.statistics.cells import CELL, ExplainerScores
from evenlight.statistics.closed_records import closed_at
from evenlight.statistics.compared import read_compared
from evenlight.statistics.counted import counted_seeds, within_strata
from evenlight.statistics.designs import Design, numbered
from evenlight.statistics.effect_sizes import stratum_weight
from evenlight.statistics.looks import ONE_LOOK, Looks
from evenlight.statistics.many_groups import holm
from evenlight.statistics.paired_tests import SignFlips
from evenlight.statistics.study import UNDECIDABLE, UNDECIDED, Comparison, StudyScores, VerdictSettings
from evenlight.statistics.verdicts import hypothesis_family
from evenlight.texts.items import check_compared

AS_OFTEN = "as often"
PAIRS, CLUSTERS, TEXTS = "pairs", "clusters", "texts"
# With fewer texts of a group nobody has simulated that the level of the relative effect holds.
LEAST_TEXTS = 50
# The p of what shows nothing, for one-sided claims of both sides.
P_SIDES, P_WORST = ["p_a", "p_b"], ["p_worst_a", "p_worst_b"]


@dataclass(frozen=True)
class _Counted:
    """Comparisons of one explainer and one pair of levels: rows, and of pairs the names and signs of their votes."""

    rows: pd.DataFrame
    votes: Sequence[tuple] = ()
    signed: np.ndarray | None = None


def more_often_tables(
    study: StudyScores,
    judging: VerdictSettings,
    *,
    higher_is_better: Mapping[str, bool],
    as_often_bound: float,
    looks: Looks = ONE_LOOK,
    closed: Mapping[str, Mapping[str, Mapping[str, int]]] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdicts on all comparisons, rows of :data:`MORE_OFTEN`, and counts, rows of :data:`MORE_OFTEN_COUNTS`.

    Args:
        study: its scores, those of the present interim analysis.
        judging: the level, the margins (``smallest_effects``) and the families; ``bootstrap_draws`` resamples are
            behind the interval of a mean, and as many flips behind counts.
        higher_is_better: of each metric.
        as_often_bound: the largest net benefit that is called *as often*.
        looks: the interim analyses that are planned, up to this one.
        closed: explainers that earlier analyses have closed
            (:func:`evenlight.statistics.look_plans.closed_before`); later ones do not test them.
    """

    def read(of: StudyScores) -> list[_Counted]:
        return list(_comparisons(of, judging, higher_is_better, as_often_bound))

    present = read(study)
    if not present:
        return tuple(pd.DataFrame(columns=contract.schema.names) for contract in (MORE_OFTEN, MORE_OFTEN_COUNTS))
    table = pd.concat([part.rows for part in present], ignore_index=True)
    table["family"] = [hypothesis_family(row, judging.primary, judging.noise) for row in table.to_dict("records")]
    tested = [_p_values(read(replace(study, first=units)), table) for units in looks.units[:-1]]
    tested.append(table[[*P_SIDES, *P_WORST, "p_as_often"]])
    last = closed_at(table, closed or {}, looks.units)
    # A question that is closed is not asked again: what stopped it was seen.
    tested = [values.mask(pd.Series(last < number), 1.0) for number, values in enumerate(tested)]
    increments = np.diff(looks.spent(judging.alpha), prepend=0.0)
    families = table.groupby("family", sort=False).indices.values()
    judged = pd.concat(
        [_judged(table.iloc[rows], [p.iloc[rows] for p in tested], increments, looks) for rows in families]
    )
    counts = [_counts(judged.loc[rows], _signs(present, rows), increments[-1], judging) for rows in families]
    return (
        judged.sort_index()[MORE_OFTEN.schema.names],
        pd.DataFrame([row for of_family in counts for row in of_family], columns=MORE_OFTEN_COUNTS.schema.names),
    )


def _comparisons(
    study: StudyScores, judging: VerdictSettings, higher_is_better: Mapping[str, bool], bound: float
) -> Iterator[_Counted]:
    for model in read_compared(study):
        check_compared(model.dataset, model.units, model.items["item_id"], model.comparisons, study.smallest_group)
        by_design: list[list[_Counted]] = [[] for _ in model.designs]
        for scores in model.explainers:
            for design, found in zip(model.designs, by_design, strict=True):
                cells, a, b = scores.scored(design)
                if not cells:
                    continue
                strata = None if design.a.strata is None else (design.a.strata, design.b.strata)
                a, b, codes = within_strata(a, b, design.paired, strata)
                seeds = counted_seeds(a, b)
                # (seeds, units, comparisons), as arrays have them.
                a, b = (np.where(seeds[:, :, None], side, np.nan).transpose(1, 2, 0) for side in (a, b))
                better = np.array([1.0 if higher_is_better[cell["metric"]] else -1.0 for cell in cells])
                if design.paired:
                    columns, votes, signed = _of_pairs(a, b, better, cells, scores, design, judging, bound)
                else:
                    columns, votes, signed = _of_texts(a, b, better, codes, design, judging, bound), (), None
                columns |= _of_both(a, b, better, columns, scores, design)
                found.append(_Counted(pd.DataFrame(cells).assign(seeds=seeds.sum(axis=1), **columns), votes, signed))
        yield from (part for of_design in by_design for part in of_design)


def _of_pairs(
    a: np.ndarray,
    b: np.ndarray,
    better: np.ndarray,
    cells: Sequence[Mapping],
    scores: ExplainerScores,
    design: Design,
    judging: VerdictSettings,
    bound: float,
) -> tuple[dict, list[tuple], np.ndarray]:
    """The columns of pairs, (comparisons,) each, and the votes: their names, and signs (votes, comparisons)."""
    codes, first = design.numbered_clusters
    smallest = np.array([judging.smallest_effects.get(cell["metric"], 0.0) for cell in cells])
    margin = margins(a, b, smallest)
    differences = mean_of_known(a - b)
    of_votes = cluster_means(differences, codes)
    signed = better * signs(of_votes, margin)
    if scores.doubt:
        signed = signed * 0
    wins, losses, ties = counted(signed)
    votes, pairs = wins + losses + ties, (~np.isnan(differences)).sum(axis=0)
    level = 1 - judging.confidence
    share = np.divide(wins, wins + losses, out=np.full(len(cells), np.nan), where=wins + losses > 0)
    ends = win_share_limits(wins, losses, level), net_benefit_limits(wins, losses, votes, level)
    benefit = np.divide(wins - losses, votes, out=np.full(len(cells), np.nan), where=votes > 0)
    generator = generator_for(0, "mean", scores.dataset, *design.comparison.levels)
    with np.errstate(invalid="ignore"):
        mean, low, high = mean_limits(of_votes, judging.confidence, judging.bootstrap_draws, generator)
    worst = in_worst(*(cluster_means(mean_of_known(side), codes) for side in (a, b)), better > 0)
    worst_a, worst_b = ((worst == sign).sum(axis=0) for sign in (1, -1))
    by_seed = np.stack([cluster_means(of_seed, codes) for of_seed in a - b])
    columns = {
        "unit": np.where(pairs > votes, CLUSTERS, PAIRS),
        **{"units_a": votes, "units_b": votes, "wins": wins, "losses": losses, "ties": ties, "margin": margin},
        **{"share": share, "low": ends[0][0], "high": ends[0][1], "p_as_often": as_often_p(wins, losses, votes, bound)},
        **{"net_benefit": benefit, "net_benefit_low": ends[1][0], "net_benefit_high": ends[1][1]},
        "most_differ": most_decided(wins + losses, votes, level),
        **dict(zip(P_SIDES, side_p(wins, losses), strict=True)),
        **{"difference": mean, "difference_low": low, "difference_high": high},
        # Which way the mean points, if any.
        "mean_side": np.where(np.abs(mean) > margin - smallest, better * np.sign(mean), 0),
        **{"worst_a": worst_a, "worst_b": worst_b},
        **dict(zip(P_WORST, side_p(worst_a, worst_b), strict=True)),
        "by_seed": list(net_benefit_by_seed(better * signs(by_seed, margin)).T),
    }
    return columns, [(scores.dataset, name) for name in design.clusters[0][first]], signed


def _of_texts(
    a: np.ndarray,
    b: np.ndarray,
    better: np.ndarray,
    strata: Sequence[np.ndarray] | None,
    design: Design,
    judging: VerdictSettings,
    bound: float,
) -> dict:
    """The columns of texts without pairs: their relative effect; a cluster has a vote in each stratum."""
    codes = [_shared(of) for of in strata] if strata else [np.zeros(side.shape[1], dtype=int) for side in (a, b)]
    sides = []
    for side, names, code in zip((a, b), design.clusters, codes, strict=True):
        vote, first = numbered(np.array([f"{stratum} {name}" for stratum, name in zip(code, names, strict=True)]))
        # Of strata that both groups have.
        counts = np.isin(code, np.intersect1d(*codes)) & (code >= 0)
        known = np.where(counts[:, None], side, np.nan)
        by_seed = [cluster_means(of_seed, vote) for of_seed in known]
        sides.append((cluster_means(mean_of_known(known), vote), code[first], by_seed))
    (voted_a, code_a, seeds_a), (voted_b, code_b, seeds_b) = sides
    effect = relative_effect(better * voted_a, better * voted_b, code_a, code_b)
    sizes = [(~np.isnan(side)).sum(axis=0) for side in (voted_a, voted_b)]
    asked = np.minimum(*sizes) >= LEAST_TEXTS
    low, high = effect.limits((1 - judging.confidence) / 2, student=True)
    net_benefit = 2 * effect.effect - 1
    ends = [t.sf(np.sqrt(effect.c2((1 + end) / 2)), effect.degrees) for end in (bound, -bound)]
    p_as_often = np.where(asked & (np.abs(net_benefit) < bound), np.nan_to_num(np.maximum(*ends), nan=1.0), 1.0)
    difference = _difference(voted_a, voted_b, code_a, code_b)
    by_seed = [
        2 * relative_effect(better * x, better * y, code_a, code_b).effect - 1
        for x, y in zip(seeds_a, seeds_b, strict=True)
    ]
    nothing = np.full(len(better), np.nan)
    of_pairs = ("wins", "losses", "ties", "margin", "most_differ", "worst_a", "worst_b")
    p_sides = np.where(asked, np.nan_to_num(effect.side_p(student=True), nan=1.0), 1.0)
    return {
        **{"unit": TEXTS, "units_a": sizes[0], "units_b": sizes[1]},
        **dict.fromkeys((*of_pairs, "difference_low", "difference_high"), nothing),
        **{"share": effect.effect, "low": low, "high": high, "ratio": effect.ratio, "degrees": effect.degrees},
        **{"net_benefit": net_benefit, "net_benefit_low": 2 * low - 1, "net_benefit_high": 2 * high - 1},
        **dict(zip(P_SIDES, p_sides, strict=True)),
        **dict.fromkeys(P_WORST, 1.0),
        "p_as_often": p_as_often,
        **{"difference": difference, "mean_side": better * np.sign(np.nan_to_num(difference))},
        "by_seed": list(np.array(by_seed).T),
    }


def _shared(strata: np.ndarray) -> np.ndarray:
    """The stratum that a unit has under all seeds, int (units,), from (seeds, units); −1 where there is none."""
    return np.where((strata == strata[0]).all(axis=0), strata[0], -1)


def _difference(a: np.ndarray, b: np.ndarray, code_a: np.ndarray, code_b: np.ndarray) -> np.ndarray:
    """The mean difference of two groups, within strata, (comparisons,), by the weights of the relative effect."""
    total = weights = 0.0
    for code in np.intersect1d(code_a[code_a >= 0], code_b[code_b >= 0]):
        of_a, of_b = a[code_a == code], b[code_b == code]
        sizes = [(~np.isnan(side)).sum(axis=0) for side in (of_a, of_b)]
        weight = np.where(np.minimum(*sizes) > 1, stratum_weight(*sizes), 0.0)
        total = total + weight * np.nan_to_num(mean_of_known(of_a) - mean_of_known(of_b))
        weights = weights + weight
    return np.divide(total, weights, out=np.full(a.shape[1], np.nan), where=weights > 0)


def _of_both(
    a: np.ndarray, b: np.ndarray, better: np.ndarray, columns: Mapping, scores: ExplainerScores, design: Design
) -> dict:
    """What pairs and texts have alike: who was left out, the standardised difference, and why there is no verdict."""
    left_out = []
    for side, scored in ((design.a, a), (design.b, b)):
        there = np.array([item is not None for item in side.items])
        left_out.append(there.sum() - (~np.isnan(scored)).any(axis=0).sum(axis=0))
    spread = _spread(a, b)
    sizes = zip(columns["units_a"], columns["units_b"], strict=True)
    few = [
        f"{min(of_cell)} texts of a group are fewer than {LEAST_TEXTS}" if min(of_cell) < LEAST_TEXTS else None
        for of_cell in sizes
    ]
    nothing = {name: np.ones(len(better)) for name in (*P_SIDES, *P_WORST, "p_as_often")} if scores.doubt else {}
    return {
        **{"left_out_a": left_out[0], "left_out_b": left_out[1], "repeated": scores.repeated},
        "standardised": np.divide(columns["difference"], spread, out=np.full(len(better), np.nan), where=spread > 0),
        "reason": [scores.doubt or (None if design.paired else words) for words in few],
        **nothing,
    }


def _spread(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The standard deviation within levels, mean variance over both and over seeds; (comparisons,)."""
    deviations = [side - mean_of_known(side, axis=1)[:, None] for side in (a, b)]
    count = np.concatenate([(~np.isnan(side)).sum(axis=1) for side in deviations])
    squares = np.concatenate([np.nansum(side**2, axis=1) for side in deviations])
    variances = np.divide(squares, count - 1, out=np.full(count.shape, np.nan), where=count > 1)
    return np.sqrt(mean_of_known(variances))


def _p_values(parts: Sequence[_Counted], table: pd.DataFrame) -> pd.DataFrame:
    """The p of an earlier analysis, in the rows of the table; 1 where it had no such comparison."""
    names = [*P_SIDES, *P_WORST, "p_as_often"]
    if not parts:
        return pd.DataFrame(1.0, index=table.index, columns=names)
    found = pd.concat([part.rows for part in parts]).set_index(CELL)[names]
    return found.reindex(pd.MultiIndex.from_frame(table[CELL])).fillna(1.0).set_axis(table.index)


def _judged(table: pd.DataFrame, tested: Sequence[pd.DataFrame], increments: np.ndarray, looks: Looks) -> pd.DataFrame:
    """The comparisons of one family with what is claimed of them; each kind of claim has the level to itself.

    Args:
        table: the rows.
        tested: their p at each analysis that was made, the present one last.
        increments: what each spends of the level.
        looks: the analyses.
    """
    level, size = increments[-1], len(table)
    p_sides = [values[P_SIDES].to_numpy(float).T for values in tested]
    number, side = over_analyses(p_sides, increments)
    p_worst = [values[P_WORST].to_numpy(float).T for values in tested]
    _, worst = over_analyses(p_worst, increments)
    adjusted = sides_adjusted(p_sides[-1])
    as_often = np.array([holm(values["p_as_often"]) for values in tested])
    least = least_decided(size, level) if level > 0 else np.inf
    low, high = _family_limits(table, adjusted, level)
    paired = (table["unit"] != TEXTS).to_numpy()
    majority = np.sign(table["net_benefit"].to_numpy(float))
    by_seed = [benefits[~np.isnan(benefits)][:, None] for benefits in table["by_seed"]]
    alike = (as_often <= increments[:, None]).any(axis=0)
    reasons = [_why_undecidable(row, least, size) for row in table.itertuples()]
    verdicts = [_verdict(*of_row) for of_row in zip(table.itertuples(), side, alike, reasons, strict=True)]
    reasons = [why if verdict == UNDECIDABLE else None for why, verdict in zip(reasons, verdicts, strict=True)]
    return table.assign(
        family_low=low,
        family_high=high,
        p=np.minimum(1, 2 * p_sides[-1].min(axis=0)),
        p_adjusted=adjusted,
        p_as_often_adjusted=as_often[-1],
        p_worst=np.where(paired, np.minimum(1, 2 * p_worst[-1].min(axis=0)), np.nan),
        p_worst_adjusted=np.where(paired, sides_adjusted(p_worst[-1]), np.nan),
        # The side that wins has the better explanations.
        worst_side=worst,
        level=level,
        least_decided=pd.array(np.where(paired & np.isfinite(least), least, np.nan), dtype="Int64"),
        seeds_agree=[int(seeds_that_agree(of, np.array([way]))[0]) for of, way in zip(by_seed, majority, strict=True)],
        seeds_needed=[_needed(of, level / (2 * size)) for of in by_seed],
        apart=(table["mean_side"] * majority < 0).to_numpy(),
        side=side,
        look=pd.array(
            np.where((number > 0) & (not looks.is_one), 1 + np.array(looks.made)[number - 1], np.nan), dtype="Int64"
        ),
        verdict=verdicts,
        reason=reasons,
    )


def _why_undecidable(row: Any, least: float, size: int) -> str | None:
    """Why one of so many comparisons could never be found, or None; pairs need ``least`` decided votes."""
    if row.reason or row.unit == TEXTS or row.wins + row.losses >= least:
        return row.reason
    return f"{row.wins + row.losses:.0f} decided {row.unit} are too few among {size} comparisons"


def _verdict(row: Any, side: int, alike: bool, reason: str | None) -> str:
    if side:
        return f"{row.level_a if side > 0 else row.level_b} more often"
    if alike:
        return AS_OFTEN
    return UNDECIDABLE if reason else UNDECIDED


def _needed(by_seed: np.ndarray, p: float) -> float:
    """How many seeds would reach the first step of a claim across retraining; NaN where none would."""
    needed = seeds_needed(by_seed, p)[0] if len(by_seed) > 1 and p > 0 else np.inf
    return needed if np.isfinite(needed) else np.nan


def _family_limits(table: pd.DataFrame, adjusted: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the share for the whole family at once; of texts those of the relative effect at the same tails."""
    wins, losses = (table[name].fillna(0).to_numpy(float) for name in ("wins", "losses"))
    low, high = family_limits(wins, losses, adjusted, level)
    texts = (table["unit"] == TEXTS).to_numpy()
    if texts.any():
        of = table[texts]
        effect = RelativeEffect(*(of[name].to_numpy(float) for name in ("share", "ratio", "ratio", "degrees", "ratio")))
        ends = effect.limits(level / (2 * len(table)), student=True)
        found, first = adjusted[texts] <= level, of["share"].to_numpy() > 0.5
        low[texts] = np.where(found & first, np.maximum(ends[0], 0.5), ends[0])
        high[texts] = np.where(found & ~first, np.minimum(ends[1], 0.5), ends[1])
    return low, high


def _signs(parts: Sequence[_Counted], rows: np.ndarray) -> np.ndarray | None:
    """The signs of all votes in some rows of the table, (votes, rows), NaN where one has none; None if some have none.

    Votes of one name on one dataset are one, in whatever comparison.
    """
    of_rows = [(number, column) for number, part in enumerate(parts) for column in range(len(part.rows))]
    chosen: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        chosen.setdefault(of_rows[row][0], []).append(place)
    if any(parts[number].signed is None for number in chosen):
        return None
    votes: dict[tuple, int] = {}
    named = {number: [votes.setdefault(name, len(votes)) for name in parts[number].votes] for number in chosen}
    signed = np.full((len(votes), len(rows)), np.nan, dtype=np.float32)
    for number, places in chosen.items():
        columns = [of_rows[rows[place]][1] for place in places]
        signed[np.ix_(named[number], places)] = parts[number].signed[:, columns]
    return signed


def _counts(table: pd.DataFrame, signed: np.ndarray | None, level: float, judging: VerdictSettings) -> Iterator[dict]:
    """In how many comparisons of a family either group wins more often, at least; for sets of them, all at once."""
    family = table["family"].iloc[0]
    p_sides = table[P_SIDES].to_numpy(float).T
    if signed is None:
        thresholds, by = simes_thresholds(p_sides, level), "Simes"
    else:
        flips = SignFlips(len(signed), judging.bootstrap_draws, (0, "counts", family))
        thresholds, by = thresholds_by_flips(signed, flips, level), "flips"
    pairs = pd.Series(
        [Comparison(*row) for row in table[list(Comparison._fields)].itertuples(index=False)], table.index
    )
    sets = {"all": pd.Series("", table.index), "comparison": pairs}
    sets |= {name: table[name] for name in ("dataset", "model", "explainer", "metric")}
    for name, values in sets.items():
        for value in dict.fromkeys(values):
            chosen = (values == value).to_numpy()
            differ, first, second = at_least(p_sides, thresholds, chosen)
            compared = dict.fromkeys(pairs[chosen])
            only = next(iter(compared)) if len(compared) == 1 else Comparison(None, None, None)
            yield {
                **{"family": family, "set": name, "name": " ".join(value) if name == "comparison" else value},
                **only._asdict(),
                **{"comparisons": int(chosen.sum()), "differ": differ, "first": first, "second": second},
                **{
                    f"found_{way}": int((table["side"][chosen] == sign).sum())
                    for way, sign in (("first", 1), ("second", -1))
                },
                "thresholds": by,
            }
