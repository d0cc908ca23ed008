"""Verdicts in words, signs and colours: the same on every page, in the audit, the explorer and notebooks."""

from collections.abc import Sequence

import pandas as pd

from evenlight.reports.html_table import Cell
from evenlight.reports.page_parts import BETTER_COLOURS, initials, shade
from evenlight.reports.text import three_digits
from evenlight.statistics.arrays.limits import of_hundred
from evenlight.statistics.study import AS_OFTEN, UNDECIDABLE, UNDECIDED, Comparison
from evenlight.statistics.verdicts import CONTROL, EXPLORATORY, PRIMARY, STUDY
from evenlight.statistics.wins import TEXTS

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


def sign_of(verdict: str, side: int, level_a: str, level_b: str) -> tuple[str, str]:
    """The sign and the colour of a verdict: a letter and a colour of the group that it names, if it names one.

    >>> sign_of("female more often", -1, "male", "female")[0], sign_of("as often", 0, "male", "female")[0]
    ('F', '=')
    """
    if not side:
        return SIGNS[verdict]
    place = 0 if side > 0 else 1
    return initials(level_a, level_b)[place], shade(BETTER_COLOURS[place], 0.5)


def legend_of(pairs: Sequence[Comparison], bound: float) -> list[tuple[Cell, str]]:
    """What the signs of verdicts on these comparisons say; ``bound`` is the largest net benefit that is *as often*."""
    first, second = initials(*pairs[0].levels) if len(pairs) == 1 else ("A", "B")
    named = pairs[0].levels if len(pairs) == 1 else ("the first-named group", "the second-named group")
    colours = [shade(colour, 0.5) for colour in BETTER_COLOURS]
    counted = "such as 22–3–1: pairs in which the first group is explained better, the second, and ties"
    return [
        *(
            (Cell(letter, background=colour), f"{name} is explained better more often")
            for letter, colour, name in zip((first, second), colours, named, strict=True)
        ),
        (Cell("=", background=EQUAL), f"as often: the surplus of wins is within {100 * bound:.0f} of 100 pairs"),
        (Cell("?", background=GREY), "undecided: this study is too small to tell"),
        (Cell("–", background=GREY), "not decidable: too few units that differ by more than the margin"),
        (Cell("22–3–1"), counted),
    ]


def sentence(row, size: int) -> str:
    """What a row of the verdicts says, in plain sentences, of ``size`` comparisons."""
    first = row.net_benefit >= 0
    better, worse = (row.level_a, row.level_b) if first else (row.level_b, row.level_a)
    # Limits are those of the first level.
    low, high = (row.family_low, row.family_high) if first else (1 - row.family_high, 1 - row.family_low)
    said = []
    if row.unit == TEXTS:
        if pd.notna(row.share):
            share, (least, most) = max(row.share, 1 - row.share), of_hundred(low, high)
            said.append(
                f"A random text of “{better}” is explained better than one of “{worse}” in {100 * share:.0f} of 100 "
                f"draws, a tie as half ({least} to {most} with all {size:,} comparisons considered, asymptotic), "
                f"{row.units_a:,} and {row.units_b:,} texts."
            )
    else:
        wins, losses = (row.wins, row.losses) if first else (row.losses, row.wins)
        said.append(
            f"In {wins:.0f} of {row.units_a:,} {row.unit} “{better}” is explained better ({losses:.0f} worse, "
            f"{row.ties:.0f} {'tie' if row.ties == 1 else 'ties'})"
            + (
                f"; in at least {of_hundred(low, high)[0]} of 100 decided {row.unit} of further texts, with all "
                f"{size:,} comparisons considered."
                if wins + losses
                else "."
            )
        )
        said.append(
            f"At most {of_hundred(0, row.most_differ)[1]} of 100 further {row.unit} differ by more than the margin, "
            f"{three_digits(row.margin)}."
        )
    if pd.notna(row.reason):
        said.append(f"Not decidable: {row.reason}.")
    if row.apart:
        said.append(f"Yet the mean is better for “{worse}”.")
    said.append(_of_mean(row))
    said.append(f"Adjusted p {row.p_adjusted:.2g}, of as often {row.p_as_often_adjusted:.2g}.")
    if row.worst_side:
        worst = row.level_a if row.worst_side > 0 else row.level_b
        said.append(
            f"“{worst}” has the worst tenth more often, {row.worst_a:.0f} against {row.worst_b:.0f} {row.unit}."
        )
    if row.seeds > 1:
        said.append(f"{row.seeds_agree} of {row.seeds} seeds agree; {_of_retraining(row)}.")
    if pd.notna(row.look):
        said.append(f"First found by interim analysis {row.look:.0f}.")
    return " ".join(said)


def _of_mean(row) -> str:
    ends = (
        ""
        if pd.isna(row.difference_low)
        else (f" [{three_digits(row.difference_low)}, {three_digits(row.difference_high)}]")
    )
    return f"Mean difference of the scores, “{row.level_a}” less “{row.level_b}”: {three_digits(row.difference)}{ends}."


def _of_retraining(row) -> str:
    if row.retraining_side:
        better = row.level_a if row.retraining_side > 0 else row.level_b
        return f"across retraining “{better}” wins more often, too (adjusted p {row.p_retraining_adjusted:.2g})"
    needed = "more seeds than anyone trains" if pd.isna(row.seeds_needed) else f"about {row.seeds_needed:.0f} seeds"
    return f"a claim across retraining would take {needed}"
