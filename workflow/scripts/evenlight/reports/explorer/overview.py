"""What the explorer says first: the question of the study, its answer, and how sure that is."""

from collections.abc import Callable, Collection, Mapping

import pandas as pd

from evenlight.core.kinds import EFFECTS, SCORES, TEXT, TOKENS
from evenlight.reports.questions import CELL, SURE, answered
from evenlight.reports.scored import NOTHING
from evenlight.reports.verdict_words import EXPLAINED, SCORED, Words, describe_counts, how_sure, legend_of, won
from evenlight.statistics.families import CONTROL, EXPLORATORY, PRIMARY, STUDY
from evenlight.statistics.study import AS_OFTEN, UNDECIDABLE, UNDECIDED, comparisons_in

QUESTION = "Are explanations equally good for every group?"
# Style has no better side: tables take one direction of each metric as the better one.
OF_ANSWERS = "Are answers in words alike for every group?"
OF_BOTH = "Are explanations equally good, and answers in words alike, for every group?"
# Of scores that were made elsewhere nobody says that they are of explanations.
OF_SCORES = "Are scores equally good for every group?"
# How the page calls explanations of each modality, where it has several.
MODALITIES = {TOKENS: "Attributions", EFFECTS: "Effects of changes", TEXT: "Answers in words", SCORES: "Scores"}
# What a question of each family is called.
KINDS = {
    STUDY: "questions",
    PRIMARY: "primary questions",
    EXPLORATORY: "exploratory questions",
    CONTROL: "controls: random explanations, or groups by chance",
}


def of_the_page(effects: pd.DataFrame, named: Mapping[str, Collection[str]]) -> pd.DataFrame:
    """The effects whose dataset, model, explainer and metric the page shows: ``named``, by the plural."""
    there = [effects[section[:-1]].isin(list(names)) for section, names in named.items()]
    return effects[pd.concat(there, axis=1).all(axis=1)]


def asked_first(effects: pd.DataFrame) -> pd.DataFrame:
    """The comparisons that the page speaks of: those named beforehand, else all questions; none of controls alone."""
    family = next((name for name in (PRIMARY, STUDY, EXPLORATORY) if name in set(effects["family"])), None)
    return effects[effects["family"] == family]


def opening(
    effects: pd.DataFrame,
    effect_counts: pd.DataFrame | None,
    modalities: Collection[str] = (TOKENS,),
    named: Mapping[str, Mapping[str, str]] | None = None,
    words_of: Callable[[object], Words] = lambda row: EXPLAINED,
) -> list[str]:
    """The question and its answer in a few sentences: how many differ, which is clearest, and what is open.

    ``named`` has the labels of models, explainers, metrics and datasets, by the column of the effects, and ``words_of``
    says how a group wins in one of their rows.
    """
    of_answers = TEXT in modalities
    question = OF_BOTH if of_answers and len(modalities) > 1 else OF_ANSWERS if of_answers else QUESTION
    question = OF_SCORES if SCORES in modalities else question
    if effects.empty:
        return [f"{question} This page has no verdict on that: it shows scores, and tests no difference."]
    asked = asked_first(effects)
    if asked.empty:
        return [f"{question} Only controls were compared."]
    said = describe_counts(asked, effect_counts, "primary " if (asked["family"] == PRIMARY).all() else "")
    return [f"{question} {said}", *_clearest(asked, named or {}, words_of), _open(asked)]


def clearest(effects: pd.DataFrame) -> pd.Series | None:
    """The comparison whose verdict names a group with the smallest p; None where none does."""
    found = effects[effects["side"] != 0]
    return None if found.empty else found.loc[found["p_adjusted"].idxmin()]


def _clearest(
    asked: pd.DataFrame, named: Mapping[str, Mapping[str, str]], words_of: Callable[[object], Words]
) -> list[str]:
    """The comparison whose verdict is clearest, in words; nothing where no verdict names a group."""
    row = clearest(asked)
    if row is None:
        return []
    metric, explainer, model, dataset = (
        named.get(name, {}).get(row[name], row[name]) for name in ("metric", "explainer", "model", "dataset")
    )
    counted = won((row.level_a, row.level_b), row.wins, row.losses, row.ties, row["share"], row.unit, words_of(row))
    parts = {" of": explainer, ", for": model, " on": dataset}
    place = "".join(f"{word} {label}" for word, label in parts.items() if label != NOTHING)
    return [f"Clearest is {metric}{place}: {counted}."]


def _open(asked: pd.DataFrame) -> str:
    """How many comparisons have no verdict, and what that does not show."""
    still = int(asked["verdict"].isin([UNDECIDED, UNDECIDABLE]).sum())
    as_often = int((asked["verdict"] == AS_OFTEN).sum())
    ruled_out = f"In {as_often:,} both groups are better as often. " if as_often else ""
    if not still:
        return f"{ruled_out}Every comparison has a verdict."
    are = "1 is" if still == 1 else f"{still:,} are"
    return f"{ruled_out}{are[:1].upper()}{are[1:]} open, which does not show that groups are alike."


def details(effects: pd.DataFrame, whole: pd.DataFrame, alpha: float) -> list[tuple[str, str]]:
    """What a reader may ask further; ``whole`` are all effects of the study, ``alpha`` the level of their verdicts."""
    if effects.empty:
        return []
    return answered(
        (
            CELL,
            "A bar reaches to the right by the pairs that the first group wins, and to the left by those that the "
            "second wins; ties are grey. Without pairs a line has the limits of how often a random text of the first "
            "group has the better score. Choose a question to see the scores and the texts behind it.",
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
    words = SCORED if {TEXT, SCORES} & set(modalities) else EXPLAINED
    signs = legend_of(comparisons_in(effects), bound, words)
    return [
        {"sign": cell.text, "colour": cell.background, "meaning": meaning}
        for (cell, meaning), is_there in zip(signs, there, strict=True)
        if is_there
    ]


def _said_of_others(number: int) -> str:
    """That the study has cells of explanations which the page does not show, where it has.

    >>> _said_of_others(2)
    'No: 2 comparisons of other explanations stand on the page tables/effects.html.'
    """
    return f"No: {number:,} comparisons of other explanations stand on the page tables/effects.html." if number else ""
