"""What the explorer says first: the question of the study, its answer in numbers, and how to read the map."""

from collections.abc import Collection, Mapping

import pandas as pd

from evenlight.core.kinds import EFFECTS, TEXT, TOKENS
from evenlight.reports.questions import CELL, SURE, answered
from evenlight.reports.verdict_words import EXPLAINED, SCORED, by_sign, how_sure, legend_of, said_of_counts
from evenlight.statistics.families import CONTROL, EXPLORATORY, PRIMARY, STUDY
from evenlight.statistics.study import AS_OFTEN, UNDECIDABLE, UNDECIDED, comparisons_in

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


def opening(effects: pd.DataFrame, effect_counts: pd.DataFrame | None, modalities: Collection[str] = (TOKENS,)) -> str:
    """The question, the answer of the effects that the page shows, and what a cell of the map is."""
    of_answers = TEXT in modalities
    question = OF_BOTH if of_answers and len(modalities) > 1 else OF_ANSWERS if of_answers else QUESTION
    if effects.empty:
        return (
            f"{question} This page has no verdict on that: it shows scores, and tests no difference. A cell of the map "
            "has the mean score of each group. Choose one to see the distributions and the texts behind it."
        )
    family = next((name for name in (PRIMARY, STUDY, EXPLORATORY) if name in set(effects["family"])), None)
    asked = effects[effects["family"] == family]
    kind = "primary " if family == PRIMARY else ""
    said = said_of_counts(asked, effect_counts, kind) if len(asked) else "Only controls were compared."
    return f"{question} {said} A cell is one comparison, with its verdict and its counts. Choose one to see more."


def details(effects: pd.DataFrame, whole: pd.DataFrame, alpha: float) -> list[tuple[str, str]]:
    """What a reader may ask further; ``whole`` are all effects of the study, ``alpha`` the level of their verdicts."""
    if effects.empty:
        return []
    return answered(
        (
            CELL,
            "The sign is the verdict. Behind it stand the pairs that the first group wins, those that the second "
            "wins, and ties; without pairs, how often a random text of the first group has the better score.",
        ),
        ("Is this the whole study?", _said_of_others(len(whole) - len(effects))),
        (SURE, how_sure(effects, alpha)),
    )


def legend(effects: pd.DataFrame, bound: float, modalities: Collection[str]) -> list[dict[str, str]]:
    """The signs of the verdicts that are there, with what they say; ``bound`` is the largest that is *as often*."""
    if effects.empty:
        return []
    verdicts, sides = set(effects["verdict"]), set(effects["side"])
    there = [1 in sides, -1 in sides, *(verdict in verdicts for verdict in (AS_OFTEN, UNDECIDED, UNDECIDABLE)), True]
    words = SCORED if TEXT in modalities else EXPLAINED
    signs = legend_of(comparisons_in(effects), bound, words)
    return [
        {"sign": cell.text, "colour": cell.background, "meaning": meaning}
        for (cell, meaning), is_there in zip(signs, there, strict=True)
        if is_there
    ]


def marked(effects: pd.DataFrame) -> dict[str, str]:
    """What the legend says of the families of cells that the map marks, of those that are there."""
    return {family: words for family, words in MARKED.items() if family in set(effects["family"])}


def _said_of_others(number: int) -> str:
    """That the study has cells of explanations which the page does not show, where it has.

    >>> _said_of_others(2)
    'No: 2 comparisons of other explanations stand on the page tables/effects.html.'
    """
    return f"No: {number:,} comparisons of other explanations stand on the page tables/effects.html." if number else ""


def counts(effects: pd.DataFrame, pairs: Collection[tuple]) -> list[list[dict]]:
    """How many comparisons of each (factor, level, level) have which verdict, in the order of the legend."""
    asked = effects[effects["family"] != CONTROL]
    of_pair = asked.groupby(["factor", "level_a", "level_b"]).indices
    return [by_sign(asked.iloc[of_pair.get(pair, [])]) for pair in pairs]
