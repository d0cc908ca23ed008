"""What can be claimed of the comparisons of a study: families of them, verdicts, and counts of any set of them.

A verdict is *more often*: in more pairs one group's explanation is better than the other's than the other way round
(:mod:`evenlight.statistics.comparisons.wins`). Holm's method over both sides of all comparisons of a family holds its
level for any shape of the scores and any dependence. Interim analyses spend parts of the level and are added up by
Bonferroni.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evenlight.statistics.arrays.exact_tests import least_decided
from evenlight.statistics.arrays.multiple_testing import (
    ONE_LOOK,
    Looks,
    at_least,
    family_limits,
    flip_thresholds,
    holm,
    over_analyses,
    simes_thresholds,
    step_down,
)
from evenlight.statistics.arrays.relative_effect import effect_limits
from evenlight.statistics.comparisons.cells import CELL
from evenlight.statistics.comparisons.study import (
    AS_OFTEN,
    FLIPS,
    HOLM,
    UNDECIDABLE,
    UNDECIDED,
    Comparison,
    VerdictSettings,
)
from evenlight.statistics.comparisons.wins import ALONE, MOVED, P_RETRAINING, P_SIDES, P_WORST, Counted


def judged(
    parts: Sequence[Counted],
    judging: VerdictSettings,
    looks: Looks = ONE_LOOK,
    earlier: Sequence[Sequence[Counted]] = (),
) -> pd.DataFrame:
    """The rows of all comparisons with verdicts, each family by itself; empty where there are none.

    Each kind of claim (more often, as often, worst more often, across retraining) has the level to itself.

    Args:
        parts: the comparisons of the present analysis (:func:`evenlight.statistics.comparisons.wins.counted_wins`).
        judging: the level, and how it is adjusted for many comparisons.
        looks: the interim analyses that are planned, up to this one.
        earlier: the comparisons of each analysis before, some or all of these.
    """
    if not parts:
        return pd.DataFrame()
    table = pd.concat([part.rows for part in parts], ignore_index=True)
    # Those of earlier analyses in the same rows; NaN where one had no such comparison.
    before = [pd.concat([part.rows for part in of_one] or [table[:0]]) for of_one in earlier]
    analyses = [*(of.set_index(CELL).reindex(pd.MultiIndex.from_frame(table[CELL])) for of in before), table]
    families = []
    for name, rows in table.groupby("family").indices.items():
        by_flips = None
        if judging.adjustment == FLIPS and looks.is_one and (signed := _signs(parts, rows)) is not None:
            by_flips = step_down(signed, judging.bootstrap_draws, (0, "adjustment", name))
        families.append(_judged([of.iloc[rows] for of in analyses], judging.alpha, looks, by_flips))
    return pd.concat(families).sort_index() if len(families) > 1 else families[0]


def adjustment_notes(table: pd.DataFrame, judging: VerdictSettings, looks: Looks) -> list[str]:
    """Where verdicts are adjusted by Holm's method though flips were asked for, and why."""
    if judging.adjustment != FLIPS:
        return []
    if not looks.is_one:
        return ["statistics.adjustment: with a plan of looks Holm's method is used, not flips"]
    alone = table.loc[table["unit"].isin(ALONE), ["family", "unit"]].drop_duplicates()
    return [
        f"statistics.adjustment: the family '{family}' has {units} without pairs; Holm's method is used"
        for family, units in alone.itertuples(index=False)
    ]


def _judged(analyses: Sequence[pd.DataFrame], alpha: float, looks: Looks, by_flips: np.ndarray | None) -> pd.DataFrame:
    """The comparisons of one family with what is claimed of them.

    Args:
        analyses: the rows at each analysis that was made, the present one last.
        alpha: the level of the whole plan.
        looks: the analyses.
        by_flips: their p as flips adjust them, in the place of Holm's.
    """
    table, increments = analyses[-1], looks.increments(alpha)
    level, size = increments[-1], len(table)

    def p_of(*names: str) -> list[np.ndarray]:
        """One-sided p at each analysis, (names, comparisons); 1 of a comparison that was not there."""
        return [np.nan_to_num([of[name].to_numpy(float) for name in names], nan=1.0) for of in analyses]

    more, worst, retraining = (over_analyses(p_of(*of), increments) for of in (P_SIDES, P_WORST, P_RETRAINING))
    if by_flips is not None:
        likelier = np.where(table[P_SIDES[0]] <= table[P_SIDES[1]], 1, -1)
        more = more._replace(p_adjusted=by_flips, side=np.where(by_flips <= level, likelier, 0))
    as_often = np.array([holm(p) for [p] in p_of("p_as_often")])
    least = least_decided(size, level) if level > 0 else np.inf
    reasons = _why_undecidable(table, least)
    verdicts = _verdicts(table, more.side, np.any(as_often <= increments[:, None], axis=0), reasons)
    low, high = _family_limits(table, more.p_adjusted, level)
    paired, several = (~table["unit"].isin(ALONE)).to_numpy(), (table["seeds"] > 1).to_numpy()
    needed = np.full(size, least if np.isfinite(least) else np.nan)
    # Which look of the plan each analysis is, from 1; none before the first.
    look = np.array([np.nan, *(np.nan if looks.is_one else 1 + made for made in looks.made)])
    said = {
        **{"family_low": low, "family_high": high, "p": more.p, "p_adjusted": more.p_adjusted},
        "p_as_often_adjusted": as_often[-1],
        # The side that is in the worst tenth more often.
        **{"p_worst": worst.p, "p_worst_adjusted": worst.p_adjusted, "worst_side": worst.side},
        "p_retraining": np.where(several, retraining.p, np.nan),
        "p_retraining_adjusted": np.where(several, retraining.p_adjusted, np.nan),
        "retraining_side": retraining.side,
        "adjusted_by": HOLM if by_flips is None else FLIPS,
        "level": level,
        "least_decided": pd.array(np.where(paired, needed, np.nan), dtype="Int64"),
        "seeds_needed": pd.array(needed, dtype="Int64"),
        "side": more.side,
        "look": pd.array(look[more.analysis], dtype="Int64"),
        "verdict": verdicts,
        "reason": [why if verdict == UNDECIDABLE else None for why, verdict in zip(reasons, verdicts, strict=True)],
    }
    return pd.concat([table.drop(columns="reason"), pd.DataFrame(said, index=table.index)], axis=1)


def _verdicts(table: pd.DataFrame, side: np.ndarray, as_often: np.ndarray, reasons: Sequence[str | None]) -> np.ndarray:
    """Which group wins more often, or that both do as often; else whether that could be decided at all."""
    first, second = (table[name].to_numpy(object) + " more often" for name in ("level_a", "level_b"))
    asked = [side > 0, side < 0, as_often, np.array([why is not None for why in reasons])]
    said: list[Any] = [first, second, AS_OFTEN, UNDECIDABLE]
    return np.select(asked, said, UNDECIDED)


def _why_undecidable(table: pd.DataFrame, least: float) -> list[str | None]:
    """Why each comparison of a family could never be found, or None; pairs need ``least`` decided votes."""
    decided = (table["wins"] + table["losses"]).to_numpy(float)
    few = f"are fewer than the {least} it takes" if np.isfinite(least) else "are too few"
    few += f" among {len(table)} comparison{'s' * (len(table) > 1)}"
    # In a column with other reasons None is NaN.
    return [
        f"{count:.0f} decided {unit} {few}" if count < least else reason if isinstance(reason, str) else None
        for count, unit, reason in zip(decided, table["unit"].tolist(), table["reason"].tolist(), strict=True)
    ]


def _family_limits(table: pd.DataFrame, adjusted: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the share for the whole family at once; of texts those of the relative effect at the same tails."""
    wins, losses = (table[name].fillna(0).to_numpy(float) for name in ("wins", "losses"))
    low, high = family_limits(wins, losses, adjusted, level)
    texts = table["unit"].isin(ALONE).to_numpy()
    if texts.any():
        shares, ratios, degrees, *moved = table.loc[texts, ["share", "ratio", "degrees", *MOVED]].to_numpy(float).T
        ends = effect_limits(shares, ratios, np.reshape(moved, (2, 3, -1)), level / (2 * len(table)), degrees)
        found, first = adjusted[texts] <= level, shares > 0.5
        low[texts] = np.where(found & first, np.maximum(ends[0], 0.5), ends[0])
        high[texts] = np.where(found & ~first, np.minimum(ends[1], 0.5), ends[1])
    return low, high


def counts_of_sets(parts: Sequence[Counted], table: pd.DataFrame, judging: VerdictSettings) -> list[dict]:
    """Rows of :data:`evenlight.core.contracts.results.EFFECT_COUNTS`: in how many comparisons either group wins more
    often, at least; for sets of the comparisons of a family, and valid for all of them at once.

    Args:
        parts, judging: as for :func:`judged`; ``bootstrap_draws`` is how many flips there are.
        table: what it gives of them.
    """
    rows = table.groupby("family", sort=False).indices.values()
    return [
        count
        for of_family in rows
        for count in _counts(table.iloc[of_family], _signs(parts, of_family), table["level"].iloc[0], judging)
    ]


def count_thresholds(
    p_sides: np.ndarray, signed: np.ndarray | None, draws: int, seed: tuple, level: float
) -> tuple[np.ndarray, str]:
    """The thresholds behind counts of sets, and by what they are: flips, or Simes' inequality.

    That is where some comparisons have no pairs, or most votes are ties: where wins in many comparisons come together
    and losses do not, flips would then count too many.

    Args:
        p_sides: one-sided p, float (2, comparisons).
        signed: the signs of votes, float (votes, comparisons), NaN where there is none; None without pairs.
        draws, seed, level: as for :func:`evenlight.statistics.arrays.multiple_testing.flip_thresholds`.
    """
    if signed is None or 2 * (signed == 0).sum() > (~np.isnan(signed)).sum():
        return simes_thresholds(p_sides, level), "Simes"
    return flip_thresholds(signed, draws, seed, level), "flips"


def _counts(table: pd.DataFrame, signed: np.ndarray | None, level: float, judging: VerdictSettings) -> Iterator[dict]:
    """In how many comparisons of a family either group wins more often, at least; for sets of them, all at once."""
    family = table["family"].iloc[0]
    p_sides = table[P_SIDES].to_numpy(float).T
    thresholds, by = count_thresholds(p_sides, signed, judging.bootstrap_draws, (0, "counts", family), level)
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
            only = next(iter(compared))._asdict() if len(compared) == 1 else dict.fromkeys(Comparison._fields)
            yield {
                **{"family": family, "set": name, "name": " ".join(value) if name == "comparison" else value},
                **only,
                **{"comparisons": int(chosen.sum()), "differ": differ, "first": first, "second": second},
                **{
                    f"found_{way}": int((table["side"][chosen] == sign).sum())
                    for way, sign in (("first", 1), ("second", -1))
                },
                "thresholds": by,
            }


def _signs(parts: Sequence[Counted], rows: np.ndarray) -> np.ndarray | None:
    """The signs of all votes in some rows of the table, (votes, rows), NaN where one has none; None if some have none.

    Votes of one name on one dataset are one, in whatever comparison.
    """
    start, chosen = 0, []
    for part in parts:
        own = rows[(start <= rows) & (rows < start + len(part.rows))] - start
        start += len(part.rows)
        if len(own):
            if part.signed is None:
                return None
            chosen.append(part.signed.iloc[:, own])
    return pd.concat(chosen, axis=1).to_numpy(np.float32)
