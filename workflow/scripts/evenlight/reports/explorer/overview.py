"""What the explorer says first: the question of the study, its answer in numbers, and how to read the map."""

from collections.abc import Collection, Mapping

import pandas as pd

from evenlight.core.kinds import EFFECTS, TEXT, TOKENS
from evenlight.reports.page_parts import initials
from evenlight.reports.pages.effects import VERDICTS, about_verdicts
from evenlight.reports.questions import CELL, answer, answered
from evenlight.statistics.verdicts import CONTROL, PRIMARY

QUESTION = "Are explanations equally good for every group?"
# Style has no better side: tables take one direction of each metric as the better one.
OF_ANSWERS = "Are answers in words alike for every group?"
OF_BOTH = "Are explanations equally good, and answers in words alike, for every group?"
# How the page calls explanations of each modality, where it has several.
MODALITIES = {TOKENS: "Attributions", EFFECTS: "Effects of changes", TEXT: "Answers in words"}
# The families of cells that the map marks, and what the legend says of them.
MARKED = {PRIMARY: "primary hypothesis", CONTROL: "control: random explanations, or groups by chance"}


def of_the_page(effects: pd.DataFrame, named: Mapping[str, Collection[str]]) -> pd.DataFrame:
    """The effects whose dataset, model, explainer and metric the page shows: ``named``, by the plural."""
    there = [effects[section[:-1]].isin(list(names)) for section, names in named.items()]
    return effects[pd.concat(there, axis=1).all(axis=1)]


def opening(effects: pd.DataFrame, modalities: Collection[str] = (TOKENS,)) -> str:
    """The question, the answer of the effects that the page shows, and what a cell of the map is."""
    of_answers = TEXT in modalities
    question = OF_BOTH if of_answers and len(modalities) > 1 else OF_ANSWERS if of_answers else QUESTION
    if effects.empty:
        return (
            f"{question} This page has no verdict on that: it shows scores, and tests no difference. A cell of the map "
            "has the mean score of each group. Choose one to see the distributions and the texts behind it."
        )
    asked = effects.loc[effects["family"] != CONTROL, "verdict"]
    letter = "the group whose scores count as better" if of_answers else "the group with better explanations"
    return (
        f"{question} {answer(asked)}A cell is one question: its sign is the verdict, a letter {letter}. Choose one to "
        "see more."
    )


def details(
    effects: pd.DataFrame, whole: pd.DataFrame, models: Mapping[str, str], known: Mapping[str, str]
) -> list[tuple[str, str]]:
    """What a reader may ask further; ``whole`` are all effects of the study, ``known`` says what each verdict means."""
    if effects.empty:
        return []
    there = set(effects["verdict"])
    signs = [f"{sign} {verdict}: {known[verdict]}." for verdict, (sign, _) in VERDICTS.items() if verdict in there]
    return answered(
        (CELL, " ".join(signs)),
        ("Is this the whole study?", _said_of_others(len(whole) - len(effects))),
        *about_verdicts(effects, dict(models)),
    )


def marked(effects: pd.DataFrame) -> dict[str, str]:
    """What the legend says of the families of cells that the map marks, of those that are there."""
    return {family: words for family, words in MARKED.items() if family in set(effects["family"])}


def _said_of_others(number: int) -> str:
    """That the study has cells of explanations which the page does not show, where it has.

    >>> _said_of_others(2)
    'No: 2 cells of other explanations stand on the page tables/effects.html.'
    """
    return f"No: {number:,} cells of other explanations stand on the page tables/effects.html." if number else ""


def counts(effects: pd.DataFrame, pairs: Collection[tuple]) -> list[dict[str, int]]:
    """How many questions of each (factor, level, level) have which verdict, in the order of the legend."""
    asked = effects[effects["family"] != CONTROL]
    found = asked.groupby(["factor", "level_a", "level_b"])["verdict"].value_counts().to_dict()
    return [{verdict: found[*pair, verdict] for verdict in VERDICTS if (*pair, verdict) in found} for pair in pairs]


def better_level(row, better: str) -> str | None:
    """The level with better explanations, where there is a disparity; ``better``: ``higher`` or ``lower`` scores."""
    if "disparity" not in row.verdict:
        return None
    return row.level_a if (row.standardised > 0) == (better == "higher") else row.level_b


def mark(row, better: str | None) -> str:
    """What the map has of a cell: the sign of its verdict, and letters of the level that is ``better``."""
    sign = VERDICTS[row.verdict][0]
    if better is None:
        return sign
    return f"{sign} {initials(row.level_a, row.level_b)[better != row.level_a]}"
