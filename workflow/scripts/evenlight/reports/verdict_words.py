"""Verdicts in words, signs and colours: the same on every page and in notebooks."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from evenlight.reports.html_table import Cell
from evenlight.reports.page_parts import BETTER_COLOURS, initials, shade
from evenlight.reports.text import bracketed, percent, three_digits
from evenlight.statistics.arrays.exact_tests import of_hundred
from evenlight.statistics.comparisons.study import (
    AS_OFTEN,
    CONTROL,
    EXPLORATORY,
    FLIPS,
    PRIMARY,
    REPEATS,
    REPETITIONS,
    STUDY,
    TRAININGS,
    UNDECIDABLE,
    UNDECIDED,
    Comparison,
    comparisons_in,
    repeated_in,
)
from evenlight.statistics.comparisons.wins import ALONE, PAIRS

GREY, EQUAL = "#d0d4d9", "#d9efd9"
# Signs and colours of what names no side. Grey: white would look like a test that was passed.
SIGNS = {AS_OFTEN: ("=", EQUAL), UNDECIDED: ("?", GREY), UNDECIDABLE: ("–", GREY)}
# What the caption of a table says of its family of comparisons.
FAMILIES = {
    STUDY: "",
    PRIMARY: ", primary hypothesis",
    EXPLORATORY: ", exploratory",
    CONTROL: ", random explanations or groups (a control)",
}


class Words(NamedTuple):
    """How sentences say that a group wins: "… {is_better}", of the other "{worse}", "the mean is {better}", and which
    tenth of scores is the {worst}; what wins a pair, a {side} of it; and where users say which {margin} is a tie.
    """

    is_better: str
    worse: str
    better: str
    worst: str = "worst"
    side: str = "text"
    margin: str = "smallest_effects"


EXPLAINED = Words("is explained better", "worse", "better")
# Answers in words have a style, of which no side is better: by the direction of the metric, better scores are these.
HIGHER = Words("has the higher score", "lower", "higher", "lowest")
LOWER = Words("has the lower score", "higher", "lower", "highest")
SCORED = Words("has the better score", "worse", "better", side="group", margin="margin")


def sign_of(verdict: str, side: int, level_a: str, level_b: str) -> tuple[str, str]:
    """The sign and the colour of a verdict: a letter and a colour of the group that it names, if it names one.

    >>> sign_of("female more often", -1, "male", "female")[0], sign_of("as often", 0, "male", "female")[0]
    ('F', '=')
    """
    if not side:
        return SIGNS[verdict]
    place = 0 if side > 0 else 1
    return initials(level_a, level_b)[place], shade(BETTER_COLOURS[place], 0.5)


def by_sign(effects: pd.DataFrame) -> list[dict]:
    """How many of these comparisons have each verdict that is there, with its sign and colour, open ones last."""
    order = {verdict: place for place, verdict in enumerate(SIGNS, 1)}
    counted = Counter(
        (order.get(row.verdict, 0), -row.side, row.verdict, *sign_of(row.verdict, row.side, row.level_a, row.level_b))
        for row in effects.itertuples()
    )
    return [
        {"sign": sign, "colour": colour, "verdict": verdict, "count": count}
        for (_, _, verdict, sign, colour), count in sorted(counted.items())
    ]


def legend_of(
    pairs: Sequence[Comparison], bound: float, words: Words = EXPLAINED, units: Collection[str] = (PAIRS,)
) -> list[tuple[Cell, str]]:
    """What the signs of verdicts on these comparisons say, and the numbers beside them.

    ``bound`` is the largest net benefit that is *as often*; ``units`` are those that have votes.
    """
    first, second = initials(*pairs[0].levels) if len(pairs) == 1 else ("A", "B")
    named = pairs[0].levels if len(pairs) == 1 else ("the first-named group", "the second-named group")
    colours = [shade(colour, 0.5) for colour in BETTER_COLOURS]
    alone = [unit for unit in units if unit in ALONE]
    counted = f"such as 22–3–1: pairs in which the first group {words.is_better}, the second, and ties"
    drawn = f"such as 61 of 100: in so many draws of one of each group that of the first {words.is_better}"
    numbers = [(Cell("22–3–1"), counted)] * (len(alone) < len(units)) + [(Cell("61 of 100"), drawn)] * bool(alone)
    return [
        *(
            (Cell(letter, background=colour), f"{name} {words.is_better} more often")
            for letter, colour, name in zip((first, second), colours, named, strict=True)
        ),
        (Cell("=", background=EQUAL), f"as often: the surplus of wins is within {100 * bound:.6g} of 100 pairs"),
        (Cell("?", background=GREY), "undecided: wins and losses are too even, or too few, to tell"),
        (
            Cell("–", background=GREY),
            "not decidable, whoever wins: too few pairs differ by more than the margin, or a group has too few units",
        ),
        *numbers,
    ]


def numbers_of(wins: float, losses: float, ties: float, share: float) -> str:
    """The counts of a cell, or of texts without pairs, which have none, how often a random one is better.

    >>> numbers_of(22, 3, 1, 0.88), numbers_of(float("nan"), float("nan"), float("nan"), 0.612)
    ('22–3–1', '61 of 100')
    """
    if pd.notna(wins):
        return f"{wins:,.0f}–{losses:,.0f}–{ties:,.0f}"
    return "–" if pd.isna(share) else f"{100 * share:.0f} of 100"


def won(
    levels: tuple[str, str],
    wins: float,
    losses: float,
    ties: float,
    share: float,
    unit: str = "pairs",
    words: Words = EXPLAINED,
) -> str:
    """How often the level that is better more often is better, as a clause; empty where that is not known.

    >>> won(("male", "female"), 3, 22, 1, 0.12)
    'in 22 of 26 pairs “female” is explained better (3 worse, 1 tie)'
    """
    better, worse = levels
    if pd.isna(wins):
        if pd.isna(share):
            return ""
        if share < 0.5:
            better, worse, share = worse, better, 1 - share
        times = f"{100 * share:.0f} of 100 draws, a tie as half"
        one = unit.removesuffix("s") if unit in ALONE else "text"
        return f"of a random {one} of “{better}” and one of “{worse}” the first {words.is_better} in {times}"
    if losses > wins:
        better, wins, losses = worse, losses, wins
    said = f"in {wins:,.0f} of {wins + losses + ties:,.0f} {unit} “{better}” {words.is_better}"
    return f"{said} ({losses:,.0f} {words.worse}, {ties:,.0f} {'tie' if ties == 1 else 'ties'})"


def won_of_hundred(share: float | None, low: float | None, high: float | None) -> str:
    """How often the first level wins of 100 decided pairs, with limits for all comparisons at once, rounded outward.

    >>> won_of_hundred(0.88, 0.634, 0.981), won_of_hundred(None, None, None)
    ('88 [63,\xa099]', '–')
    """
    if pd.isna(share):
        return "–"
    least, most = of_hundred(low, high)
    return f"{100 * share:.0f} [{least},\N{NO-BREAK SPACE}{most}]"


def difference_of(row) -> str:
    """The mean difference of a row in the metric's units, with its interval, where it has one."""
    return bracketed(row.difference, row.difference_low, row.difference_high, three_digits)


def capitalised(clause: str) -> str:
    """A clause with a capital letter, as a sentence begins."""
    return clause[:1].upper() + clause[1:]


def sentences(row, size: int, words: Words = EXPLAINED) -> list[str]:
    """What a row of the verdicts says, of ``size`` comparisons, one sentence after the other: how often which group is
    better, whether the mean points the other way, and all else.
    """
    first = row.net_benefit >= 0
    # Limits are those of the first level.
    low, high = (row.family_low, row.family_high) if first else (1 - row.family_high, 1 - row.family_low)
    counts = won((row.level_a, row.level_b), row.wins, row.losses, row.ties, row.share, row.unit, words)
    said, considered = [], f"with all {size:,} comparisons considered" if size > 1 else ""
    if row.unit in ALONE:
        if counts:
            least, most = of_hundred(low, high)
            said.append(
                f"{capitalised(counts)} ({least} to {most}{' ' * bool(considered)}{considered}, asymptotic), "
                f"{row.units_a:,} and {row.units_b:,} {row.unit}."
            )
    else:
        further = f"further decided {row.unit}" if row.repeated == REPEATS else f"decided {row.unit} of further texts"
        limit = f"; in at least {of_hundred(low, high)[0]} of 100 {further}{', ' * bool(considered)}{considered}"
        said.append(f"{capitalised(counts)}{limit if row.wins + row.losses else ''}.")
    if row.apart:
        said.append(describe_apart(row, words))
    if row.unit not in ALONE and (most := of_hundred(0, row.most_differ)[1]) < 100:
        said.append(
            f"At most {most} of 100 further {row.unit} differ by more than the margin, {three_digits(row.margin)}."
        )
    if pd.notna(row.reason):
        said.append(f"Not decidable: {row.reason}.")
    said.append(_of_mean(row))
    said.append(f"Adjusted p {row.p_adjusted:.2g}; that of “as often” {row.p_as_often_adjusted:.2g}.")
    if row.worst_side:
        said.append(_of_worst(row, words))
    if row.seeds > 1:
        said.append(_of_repetitions(row))
    if pd.notna(row.look):
        turned = ", and the verdict stands, though the other group wins more by now" * (row.side * row.net_benefit < 0)
        said.append(f"First found by interim analysis {row.look:.0f}{turned}.")
    return said


def describe_apart(row, words: Words = EXPLAINED) -> str:
    """That the mean points the other way than wins, of a row where it does."""
    return f"Yet the mean is {words.better} for “{row.level_b if row.net_benefit >= 0 else row.level_a}”."


def reasons(cells: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Why comparisons are not decidable: the same reason once for all numbers of units and comparisons, and its rows.

    >>> few = "decided pairs are fewer than the 9 it takes among 9 comparisons"
    >>> [(reason, len(rows)) for reason, rows in reasons(pd.DataFrame({"reason": [f"2 {few}", None, f"4 {few}"]}))]
    [('2 to 4 decided pairs are fewer than the 9 it takes', 2)]
    """
    there = cells[cells["reason"].notna()]
    parts = there["reason"].astype(str).str.extract(r"^(?P<units>\d+)? ?(?P<why>.*?)(?: among \d+ comparisons?)?$")
    told = []
    for why, part in parts.groupby("why", sort=False):
        units = sorted(part["units"].dropna().astype(int).unique())
        few = " to ".join(str(count) for count in dict.fromkeys((units[0], units[-1]))) + " " if units else ""
        told.append((f"{few}{why}", there.loc[part.index]))
    return told


def describe_worst(asked: pd.DataFrame, what: str, words: Words) -> str:
    """In how many comparisons one group has the worst scores more often, and which; empty where none has.

    ``what`` is what a comparison is called.
    """
    found = asked[asked["worst_side"] != 0]
    if found.empty:
        return ""
    if len(asked) == 1:
        return _of_worst(found.iloc[0], words)
    return (
        f"In {len(found):,} of {len(asked):,} {what}s one group has this study's {words.worst} tenth of scores more "
        f"often{for_whom(found, 'worst_side')}."
    )


def for_whom(found: pd.DataFrame, side: str = "side") -> str:
    """How often this column names which group, where there are two groups.

    >>> for_whom(pd.DataFrame({"factor": "gender", "level_a": "male", "level_b": "female", "side": [1, -1, -1]}))
    ': “male” once, “female” twice'
    """
    pairs = comparisons_in(found)
    if len(pairs) > 1:
        return ""
    counts = {pairs[0].level_a: int((found[side] > 0).sum()), pairs[0].level_b: int((found[side] < 0).sum())}
    if len(found) in counts.values():
        return f": “{max(counts, key=lambda level: counts[level])}”" + (" each time" if len(found) > 1 else "")
    return ": " + ", ".join(f"“{level}” {_times(count)}" for level, count in counts.items())


def _times(count: int) -> str:
    """How often, in words.

    >>> _times(1), _times(1200)
    ('once', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def without_seeds(row) -> str:
    """Which repetitions of a row do not count, as a sentence that follows others; empty where all do."""
    if not row.left_out_seeds:
        return ""
    return f" Left out, with too few scores: {REPETITIONS[row.repeated].one} {row.left_out_seeds}."


def _of_worst(row, words: Words) -> str:
    of_levels = [(row.level_a, row.worst_a, row.units_a), (row.level_b, row.worst_b, row.units_b)]
    (worse, most, its), (_, least, of_other) = of_levels if row.worst_side > 0 else of_levels[::-1]
    said = f"“{worse}” has this study's {words.worst} tenth of scores more often, "
    if row.unit in ALONE:
        return f"{said}{most:,} of {its:,} {row.unit} against {least:,} of {of_other:,}."
    return f"{said}{most:,} against {least:,} {row.unit}."


def _of_mean(row) -> str:
    difference = difference_of(row)
    if pd.notna(row.standardised):
        ends = row.standardised_low, row.standardised_high
        difference += f", {bracketed(row.standardised, *ends, three_digits)} standard deviations"
    difference = difference.replace("\xa0", " ")
    said = f"Mean difference of the scores, “{row.level_a}” less “{row.level_b}”: {difference}."
    if np.isinf([row.difference_low, row.difference_high]).any():
        said += " Without a limit a mean is decided by very few scores."
    return said


def _of_repetitions(row) -> str:
    repeated = REPETITIONS[row.repeated]
    said = f"{row.seeds_agree} of {row.seeds} {repeated.one}s agree"
    if row.retraining_side:
        better = row.level_a if row.retraining_side > 0 else row.level_b
        p = f"adjusted p {row.p_retraining_adjusted:.2g}"
        return f"{said}; more {row.repeated} than not have it for “{better}” ({p})."
    if pd.isna(row.seeds_needed):
        return f"{said}."
    why = ", and these do not agree enough" if row.seeds >= row.seeds_needed else ""
    return f"{said}; a claim across {repeated.across} takes {row.seeds_needed} {repeated.one}s or more{why}."


def _of_one_training(effects: pd.DataFrame) -> str:
    """How many seeds a claim across retraining takes, where models were trained once, so that no row says it."""
    # Primary comparisons come before exploratory ones.
    rows = effects[effects["repeated"] == TRAININGS].sort_values("family", ascending=False)
    needed = rows["seeds_needed"].dropna().unique()
    if rows["seeds"].max() > 1 or not len(needed):
        return ""
    apart = f" for what was named beforehand, and {needed[-1]} for the rest" if len(needed) > 1 else ""
    return f" A claim across retraining takes {needed[0]} seeds or more{apart}."


class Least(NamedTuple):
    """In how many of some comparisons, at least, the groups differ, the first-named one is better, the second."""

    differ: int
    first: int
    second: int


def at_least(effects: pd.DataFrame, effect_counts: pd.DataFrame) -> Least:
    """In how many of these comparisons of one family, at least, either group is better more often.

    Counts of all sets are valid at once, so that those of sets without a common comparison may be added. Of several
    ways to make these comparisons of sets the one that says most is taken. Verdicts count, too: they have a level of
    their own, and may name more than counts by flips do.

    Args:
        effects: the comparisons, rows of ``EFFECTS``.
        effect_counts: of the same study, rows of ``EFFECT_COUNTS``.
    """
    found = [np.array([0, (effects["side"] > 0).sum(), (effects["side"] < 0).sum()])]
    counts = effect_counts[effect_counts["family"].isin(effects["family"].iloc[:1])]
    named = {name: effects[name] for name in ("dataset", "model", "explainer", "metric")}
    named |= {"all": pd.Series([""]), "comparison": effects[list(Comparison._fields)].agg(" ".join, axis=1)}
    for name, there in named.items():
        sets = counts[(counts["set"] == name) & counts["name"].isin(there)]
        if sets["comparisons"].sum() == len(effects):
            found.append(sets[["differ", "first", "second"]].sum().to_numpy())
    differ, first, second = np.max(found, axis=0).tolist()
    return Least(max(differ, first + second), first, second)


def describe_counts(effects: pd.DataFrame, effect_counts: pd.DataFrame, kind: str = "") -> str:
    """In how many of these comparisons of one family either group is better more often, in a sentence.

    Args:
        effects, effect_counts: as for :func:`at_least`.
        kind: what the comparisons are called, with a space behind it.
    """
    least = at_least(effects, effect_counts)
    comparisons = f"{len(effects):,} {kind}comparison{'' if len(effects) == 1 else 's'}"
    if not least.differ:
        return f"Of {comparisons} none is shown to differ."
    levels = effects[["level_a", "level_b"]].drop_duplicates()
    names = ["the first-named group", "the second-named group"]
    if len(levels) == 1:
        names = [f"“{level}”" for level in levels.iloc[0]]
    return (
        f"Of {comparisons} at least {least.differ:,} {'differs' if least.differ == 1 else 'differ'}: at least "
        f"{least.first:,} for {names[0]}, and {least.second:,} for {names[1]}."
    )


def describe_adjustment(table: pd.DataFrame) -> str:
    """How the verdicts of a table are adjusted, and whether their level is proven, in a sentence."""
    if FLIPS not in set(table["adjusted_by"]):
        return "The method is Holm's."
    return (
        "The method is joint flips of whole pairs. Its level is proven where groups are exchangeable within pairs, "
        "and else only simulated."
    )


def families_apart(effects: pd.DataFrame) -> str:
    """That two families of comparisons have the level each, in an insertion behind a comma; empty of one family."""
    return ", those named beforehand and the others apart" if effects["family"].nunique() > 1 else ""


def how_sure(effects: pd.DataFrame, alpha: float) -> str:
    """How often verdicts on these comparisons are wrong, at most, and for what they hold."""
    said = (
        f"Over all comparisons of the study{families_apart(effects)}, the chance that any verdict names a group that "
        f"is not better more often is at most {percent(alpha)}. {describe_adjustment(effects)} The chance that any “as "
        f"often” is wrong is at most {percent(alpha)}, too, by itself. "
    )
    alone = effects.loc[effects["unit"].isin(ALONE), "unit"]
    said += f"Of {alone.iloc[0]} without pairs this is asymptotic. " if len(alone) else ""
    return said + describe_scope(effects) + _of_one_training(effects)


def describe_scope(effects: pd.DataFrame) -> str:
    """For what verdicts hold, in a sentence: the repetitions that a study has, where it has any, and further units.

    >>> describe_scope(pd.DataFrame({"repeated": ["repetitions"], "seeds": [1]}))
    'Verdicts hold for further units like these.'
    """
    names = repeated_in(effects)
    # Scores that were made elsewhere once have none; a training is one though it is made once.
    these = [REPETITIONS[name].these for name in names if name != REPEATS or effects["seeds"].max() > 1]
    units = " or ".join(dict.fromkeys(REPETITIONS[name].units for name in names))
    return f"Verdicts hold for {' or '.join(these) + ', and for ' if these else ''}further {units} like these."
