"""What can be claimed of the comparisons of a study: families of them, verdicts, and counts of any set of them.

A verdict is *more often*: in more pairs one group's explanation is better than the other's than the other way round
(:mod:`evenlight.statistics.wins`). Holm's method over both sides of all comparisons of a family holds its level for any
shape of the scores and any dependence. Interim analyses spend parts of the level and are added up by Bonferroni.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from evenlight.statistics.arrays.discoveries import at_least, simes_thresholds
from evenlight.statistics.arrays.flips import simes_thresholds as thresholds_by_flips
from evenlight.statistics.arrays.flips import step_down
from evenlight.statistics.arrays.holm import holm, over_analyses, sides_adjusted
from evenlight.statistics.arrays.limits import family_limits
from evenlight.statistics.arrays.relative_effect import effect_limits
from evenlight.statistics.cells import CELL
from evenlight.statistics.families import hypothesis_family, least_decided
from evenlight.statistics.looks import ONE_LOOK, Looks
from evenlight.statistics.paired_tests import SignFlips
from evenlight.statistics.study import AS_OFTEN, FLIPS, HOLM, UNDECIDABLE, UNDECIDED, Comparison, VerdictSettings
from evenlight.statistics.wins import P_RETRAINING, P_SIDES, P_VALUES, P_WORST, TEXTS, Counted


def judged(
    parts: Sequence[Counted],
    judging: VerdictSettings,
    looks: Looks = ONE_LOOK,
    earlier: Sequence[Sequence[Counted]] = (),
) -> pd.DataFrame:
    """The rows of all comparisons with verdicts, each family by itself; empty where there are none.

    Each kind of claim (more often, as often, worst more often, across retraining) has the level to itself.

    Args:
        parts: the comparisons of the present analysis (:func:`evenlight.statistics.wins.counted_wins`).
        judging: the level and the families.
        looks: the interim analyses that are planned, up to this one.
        earlier: the comparisons of each analysis before, some or all of these.
    """
    if not parts:
        return pd.DataFrame()
    table = pd.concat([part.rows for part in parts], ignore_index=True)
    cells = zip(*(table[name] for name in CELL), strict=True)
    names = np.array(
        [hypothesis_family(dict(zip(CELL, of, strict=True)), judging.primary, judging.noise) for of in cells]
    )
    table["family"] = names
    tested = [*(_p_values(of_analysis, table) for of_analysis in earlier), _p_of(table)]
    increments = looks.increments(judging.alpha)
    families = [np.flatnonzero(names == name) for name in dict.fromkeys(names)]
    return pd.concat(
        [
            _judged(table.iloc[rows], [p[rows] for p in tested], increments, looks, by_flips)
            for rows in families
            for by_flips in [_by_flips(parts, table, rows, judging, looks)]
        ]
    ).sort_index()


def _by_flips(
    parts: Sequence[Counted], table: pd.DataFrame, rows: np.ndarray, judging: VerdictSettings, looks: Looks
) -> np.ndarray | None:
    """Adjusted p of the comparisons of a family by joint flips; None where these are not asked for, or cannot be."""
    if judging.adjustment != FLIPS or not looks.is_one or (signed := _signs(parts, rows)) is None:
        return None
    family = table["family"].iloc[rows[0]]
    return step_down(signed, SignFlips(len(signed), judging.bootstrap_draws, (0, "adjustment", family)))


def adjustment_notes(table: pd.DataFrame, judging: VerdictSettings, looks: Looks) -> list[str]:
    """Where verdicts are adjusted by Holm's method though flips were asked for, and why."""
    if judging.adjustment != FLIPS:
        return []
    if not looks.is_one:
        return ["statistics.adjustment: with a plan of looks Holm's method is used, not flips"]
    texts = dict.fromkeys(table.loc[table["unit"] == TEXTS, "family"])
    return [
        f"statistics.adjustment: the family '{name}' has texts without pairs; Holm's method is used" for name in texts
    ]


def _p_of(table: pd.DataFrame) -> np.ndarray:
    """The p of each comparison, float (comparisons, ``P_VALUES``)."""
    return np.column_stack([table[name].to_numpy(float) for name in P_VALUES])


def _p_values(parts: Sequence[Counted], table: pd.DataFrame) -> np.ndarray:
    """The p of an earlier analysis, in the rows of the table; 1 where it had no such comparison."""
    if not parts:
        return np.ones((len(table), len(P_VALUES)))
    found = pd.concat([part.rows for part in parts]).set_index(CELL)[P_VALUES]
    return found.reindex(pd.MultiIndex.from_frame(table[CELL])).fillna(1.0).to_numpy(float)


def _judged(
    table: pd.DataFrame,
    tested: Sequence[np.ndarray],
    increments: np.ndarray,
    looks: Looks,
    by_flips: np.ndarray | None,
) -> pd.DataFrame:
    """The comparisons of one family with what is claimed of them.

    Args:
        table: the rows.
        tested: their p at each analysis that was made, the present one last; (comparisons, as in ``P_VALUES``).
        increments: what each spends of the level.
        looks: the analyses.
        by_flips: their p as flips adjust them, in the place of Holm's.
    """
    level, size = increments[-1], len(table)
    sides, worst, retraining = (
        [p[:, [P_VALUES.index(name) for name in kind]].T for p in tested] for kind in (P_SIDES, P_WORST, P_RETRAINING)
    )
    number, side = over_analyses(sides, increments)
    adjusted = sides_adjusted(sides[-1])
    if by_flips is not None:
        adjusted, side = by_flips, np.where(by_flips <= level, np.where(sides[-1][0] <= sides[-1][1], 1, -1), 0)
    as_often = np.array([holm(p[:, P_VALUES.index("p_as_often")]) for p in tested])
    least = least_decided(size, level) if level > 0 else np.inf
    low, high = _family_limits(table, adjusted, level)
    paired = (table["unit"] != TEXTS).to_numpy()
    several = (table["seeds"] > 1).to_numpy()
    majority = np.sign(table["net_benefit"].to_numpy(float))
    alike = (as_often <= increments[:, None]).any(axis=0)
    reasons = _why_undecidable(table, least)
    more = [table[name].to_numpy(object) + " more often" for name in ("level_a", "level_b")]
    verdicts = np.select(
        [side > 0, side < 0, alike, [why is not None for why in reasons]], [*more, AS_OFTEN, UNDECIDABLE], UNDECIDED
    )
    reasons = [why if verdict == UNDECIDABLE else None for why, verdict in zip(reasons, verdicts, strict=True)]
    said = {
        "family_low": low,
        "family_high": high,
        "p": _two_sided(sides[-1]),
        "p_adjusted": adjusted,
        "p_as_often_adjusted": as_often[-1],
        "p_worst": _two_sided(worst[-1]),
        "p_worst_adjusted": sides_adjusted(worst[-1]),
        # The side that is in the worst tenth more often.
        "worst_side": over_analyses(worst, increments)[1],
        "p_retraining": np.where(several, _two_sided(retraining[-1]), np.nan),
        "p_retraining_adjusted": np.where(several, sides_adjusted(retraining[-1]), np.nan),
        "retraining_side": over_analyses(retraining, increments)[1],
        "adjusted_by": HOLM if by_flips is None else FLIPS,
        "level": level,
        "least_decided": pd.array(np.where(paired & np.isfinite(least), least, np.nan), dtype="Int64"),
        "seeds_agree": [
            int((np.sign(benefits) == way).sum()) for benefits, way in zip(table["by_seed"], majority, strict=True)
        ],
        "seeds_needed": pd.array(np.full(size, np.nan if np.isinf(least) else least), dtype="Int64"),
        "apart": (table["mean_side"] * majority < 0).to_numpy(),
        "side": side,
        "look": pd.array(
            np.where((number > 0) & (not looks.is_one), 1 + np.array(looks.made)[number - 1], np.nan), dtype="Int64"
        ),
        "verdict": verdicts,
    }
    return pd.concat([table.assign(reason=reasons), pd.DataFrame(said, index=table.index)], axis=1)


def _two_sided(p_sides: np.ndarray) -> np.ndarray:
    return np.minimum(1, 2 * p_sides.min(axis=0))


def _why_undecidable(table: pd.DataFrame, least: float) -> list[str | None]:
    """Why each comparison of a family could never be found, or None; pairs need ``least`` decided votes."""
    decided = (table["wins"] + table["losses"]).to_numpy(float)
    few = f"are too few among {len(table)} comparisons"
    # In a column with other reasons None is NaN.
    return [
        f"{count:.0f} decided {unit} {few}" if count < least else reason if isinstance(reason, str) else None
        for count, unit, reason in zip(decided, table["unit"], table["reason"], strict=True)
    ]


def _family_limits(table: pd.DataFrame, adjusted: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the share for the whole family at once; of texts those of the relative effect at the same tails."""
    wins, losses = (table[name].fillna(0).to_numpy(float) for name in ("wins", "losses"))
    low, high = family_limits(wins, losses, adjusted, level)
    texts = (table["unit"] == TEXTS).to_numpy()
    if texts.any():
        of = table[texts]
        shares, ratios, degrees = (of[name].to_numpy(float) for name in ("share", "ratio", "degrees"))
        ends = effect_limits(shares, ratios, level / (2 * len(table)), degrees)
        found, first = adjusted[texts] <= level, of["share"].to_numpy() > 0.5
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


def _signs(parts: Sequence[Counted], rows: np.ndarray) -> np.ndarray | None:
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
