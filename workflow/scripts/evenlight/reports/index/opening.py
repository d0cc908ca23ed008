"""What the page says first: its question, and the answer in a few sentences, plain words before the field's."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from evenlight.core.factors import CHANGED
from evenlight.core.kinds import EFFECTS, SCORES, TEXT, TOKENS
from evenlight.reports.index.comparisons import Judged, number
from evenlight.reports.verdict_words import (
    EXPLAINED,
    SCORED,
    at_least,
    by_sign,
    describe_apart,
    describe_counts,
    describe_worst,
    for_whom,
    legend_of,
    won,
)
from evenlight.statistics.analyses.beyond_random import EXPLAINER, MODEL, PERSISTS, REVERSED
from evenlight.statistics.comparisons.study import (
    AS_OFTEN,
    CONTROL,
    EXPLORATORY,
    PRIMARY,
    STUDY,
    UNDECIDABLE,
    UNDECIDED,
    comparisons_in,
)
from evenlight.statistics.comparisons.wins import ALONE

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
# What a comparison is about, in the order in which it is told.
EXPLANATIONS, SCORED_ELSEWHERE, DECISIONS, REASONS = PARTS = ("explanations", "scores", "decisions", "reasons")
# How a group wins, in those that have a better side.
_HAVE_A_BETTER_SIDE = {EXPLANATIONS: EXPLAINED, SCORED_ELSEWHERE: SCORED}
# A verdict that names a group, whichever it is.
MORE_OFTEN = "more often"


def question_of(modalities: Collection[str]) -> str:
    """What is asked of explanations of these modalities."""
    if SCORES in modalities:
        return OF_SCORES
    if TEXT not in modalities:
        return QUESTION
    return OF_BOTH if len(modalities) > 1 else OF_ANSWERS


def of_the_page(effects: pd.DataFrame, named: Mapping[str, Collection[str]]) -> pd.DataFrame:
    """The effects whose dataset, model, explainer and metric the page shows: ``named``, by the plural."""
    there = [effects[section[:-1]].isin(list(names)) for section, names in named.items()]
    return effects[pd.concat(there, axis=1).all(axis=1)]


def asked_first(effects: pd.DataFrame) -> pd.DataFrame:
    """The comparisons that the page speaks of: those named beforehand, else all questions; none of controls alone."""
    family = next((name for name in (PRIMARY, STUDY, EXPLORATORY) if name in set(effects["family"])), None)
    return effects[effects["family"] == family]


def clearest(effects: pd.DataFrame) -> pd.Series | None:
    """The comparison whose verdict names a group with the smallest p; None where none does."""
    found = effects[effects["side"] != 0]
    return None if found.empty else found.loc[found["p_adjusted"].idxmin()]


def opening(
    effects: pd.DataFrame,
    counts: pd.DataFrame | None,
    told: Sequence[Mapping[str, Any]],
    judged: Judged,
    part_of: Callable[[Any], str],
) -> list[str]:
    """The answer: the clearest finding, in how many questions there is one, what is open, and how many differ at least.

    Args:
        effects: those of the page.
        counts: rows of ``EFFECT_COUNTS``; None where the study tells no verdicts.
        told: of the same comparisons, what :func:`~evenlight.reports.index.comparisons.tell_comparisons` gives.
        judged: how the study was judged.
        part_of: of a row, which of :data:`PARTS` it is about.
    """
    if counts is None:
        return ["This page has no verdict: it shows scores, and tests no difference."]
    questions = effects[effects["family"] != CONTROL]
    if questions.empty:
        why = "no dataset has both groups with scores"
        why = why if effects.empty else "every explainer is random, or every group drawn by chance"
        return [f"Nothing could be compared: {why}. This does not show that groups are alike."]
    parts = questions.assign(part=[part_of(row) for row in questions.itertuples(index=False)])
    several = parts["part"].nunique() > 1
    said = [
        (f"{part.capitalize()}: " if several or part not in _HAVE_A_BETTER_SIDE else "")
        + " ".join(_answer_and_worst(asked_first(parts[parts["part"] == part]), part, judged))
        for part in PARTS
        if part in set(parts["part"])
    ]
    return ["\n".join(said), *filter(None, [_counted(questions, counts, told)])]


def _answer_and_worst(asked: pd.DataFrame, part: str, judged: Judged) -> list[str]:
    """Of a part the answer, and who has the worst scores more often, where some are worse."""
    kind = "primary " if (asked["family"] == PRIMARY).all() else ""
    words = _HAVE_A_BETTER_SIDE.get(part)
    worst = describe_worst(asked, f"{kind}question", words) if words else ""
    return [*_answer(asked, part, judged, kind), *filter(None, [worst])]


def _answer(asked: pd.DataFrame, part: str, judged: Judged, kind: str) -> list[str]:
    """The clearest finding, in how many questions there is one, and what is ruled out or open."""
    words, row = _HAVE_A_BETTER_SIDE.get(part), clearest(asked)
    differ = f"one group {words.is_better}" if words else "the groups differ"
    as_often = int((asked["verdict"] == AS_OFTEN).sum())
    still = int(asked["verdict"].isin([UNDECIDED, UNDECIDABLE]).sum())
    asks = f"the one {kind}question" if len(asked) == 1 else f"all {number(len(asked), f'{kind}question')}"
    if as_often == len(asked):
        votes = sorted({"draws of two texts" if unit in ALONE else unit for unit in asked["unit"]}, reverse=True)
        bound = f"{100 * judged.as_often_bound:.6g} of 100 {' or '.join(votes)}"
        return [f"The groups are about equal: in {asks} a lead of either group by more than {bound} is ruled out."]
    alike = "That does not show that groups are alike."
    if still == len(asked):
        return [f"It is not known whether {differ}: {asks} {'is' if still == 1 else 'are'} open.", alike]
    said = [] if row is None else [_clearest(row, judged)]
    said.append(_found(asked, part, kind))
    if as_often:
        said.append(f"In {as_often:,} a difference that matters is ruled out.")
    if still:
        said.append(f"{still:,} {'is' if still == 1 else 'are'} open, which does not show that groups are alike.")
    return said


def _found(asked: pd.DataFrame, part: str, kind: str) -> str:
    """In how many questions of a part a difference is found."""
    found, words = asked[asked["side"] != 0], _HAVE_A_BETTER_SIDE.get(part)
    differ = f"one group {words.is_better} more often" if words else "the groups differ"
    if found.empty:
        return f"None of {number(len(asked), f'{kind}question')} shows that {differ}."
    if len(asked) == 1:
        return f"It is the only {kind}question."
    return f"In {len(found):,} of {number(len(asked), f'{kind}question')} {differ}{for_whom(found) if words else ''}."


def _clearest(row: pd.Series, judged: Judged) -> str:
    """The comparison whose verdict is clearest, what further texts would show, and where the mean points apart."""
    several = max(len(judged.models), len(judged.datasets)) > 1
    where = f", for {place}" if several and (place := judged.place(row.dataset, row.model)) else ""
    words = judged.words_of(row)
    if words == EXPLAINED:
        better, worse = (row.level_a, row.level_b) if row.side > 0 else (row.level_b, row.level_a)
        metric = judged.metrics[row.metric]
        by = f"{metric.label} ({'higher' if metric.higher_is_better else 'lower'} is better)"
        groups = f"{_what(row)}s of “{better}” better than those of “{worse}”"
        said = f"{judged.explainers[row.explainer]} explains {groups}, {_votes(row)}, as {by} measures it{where}."
    else:
        levels = (row.level_a, row.level_b)
        counted = won(levels, row.wins, row.losses, row.ties, row["share"], row.unit, words)
        said = f"By {judged.question(row)}{where}, {counted}."
    if (row.dataset, row.model) in judged.guessing:
        said = f"Do not rely on this, as the model may have learnt nothing: {said}"
    low = row.family_low if row.side > 0 else 1 - row.family_high
    if pd.notna(low):
        of, what = (100, " draws") if row.unit in ALONE else (row.wins + row.losses, "")
        what = f" {row.unit} that are no tie" if row.unit not in ALONE and row.ties else what
        # As a limit is: rounded downwards, but for what is no more than rounding.
        least = f"{int(low * of + 1e-9):,} of {of:,}{what}"
        said += f" If you draw new {judged.texts}, expect on average at least {least}."
    return f"{said} {describe_apart(row, words)}" if row.apart else said


def _what(row: pd.Series) -> str:
    """What is explained: a text, or where changes are compared by what changes, a change."""
    return "change" if row.factor in CHANGED else "text"


def _votes(row: pd.Series) -> str:
    """How often the group wins that the verdict names."""
    if row.unit in ALONE:
        share = row["share"] if row.side > 0 else 1 - row["share"]
        return f"in {100 * share:.0f} of 100 draws of a {_what(row)} of each (a tie as half)"
    ties = f" ({number(row.ties, 'tie')})" if row.ties else ""
    return f"in {max(row.wins, row.losses):,} of {row.wins + row.losses + row.ties:,} {row.unit}{ties}"


def _counted(questions: pd.DataFrame, counts: pd.DataFrame, told: Sequence[Mapping[str, Any]]) -> str:
    """In how many comparisons groups differ, at least, by family, and who makes it."""
    said = []
    for family, kind in {PRIMARY: "primary ", STUDY: "", EXPLORATORY: "exploratory "}.items():
        asked = questions[questions["family"] == family]
        least = at_least(asked, counts).differ if len(asked) else 0
        # That none is shown to differ would sound as if none did.
        if least:
            more = least > (asked["side"] != 0).sum()
            counted = describe_counts(asked, counts, kind)
            said.append(f"More differ than can be named: {counted[:1].lower()}{counted[1:]}" if more else counted)
    found = [each["beyond_random"] or {} for each in told if each["side"] and each["family"] != CONTROL]
    outcomes, makers = (Counter(filter(None, (each.get(of) for each in found))) for of in ("outcome", "made_by"))
    if outcomes:
        other = f", and in {outcomes[REVERSED]:,} it is reversed" if outcomes[REVERSED] else ""
        said.append(
            f"Beyond random explanations the finding is left in {outcomes[PERSISTS]:,} of the {outcomes.total():,} "
            f"questions that name a group{other}."
        )
    if makers:
        unknown = makers[UNDECIDED] + makers[UNDECIDABLE]
        said.append(
            f"Who makes it is asked of {makers.total():,} of those that name a group: the model, or the metric, makes "
            f"{makers[MODEL]:,}, and the explainer has a part in {makers[EXPLAINER]:,}"
            + (f"; {unknown:,} {'is' if unknown == 1 else 'are'} open." if unknown else ".")
        )
    return " ".join(said)


def verdicts(effects: pd.DataFrame) -> dict:
    """The verdicts of all questions: their ``counts``, and the same by sign (``signs``)."""
    asked = effects[effects["family"] != CONTROL]
    of = {verdict: int((asked["verdict"] == verdict).sum()) for verdict in (AS_OFTEN, UNDECIDED, UNDECIDABLE)}
    return {
        "counts": {"asked": len(asked), MORE_OFTEN: int((asked["side"] != 0).sum()), **of},
        "signs": by_sign(asked),
    }


def legend(effects: pd.DataFrame, bound: float, modalities: Collection[str]) -> list[dict[str, str]]:
    """The signs of the verdicts that are there, with what they say; ``bound`` is the largest that is *as often*."""
    if effects.empty:
        return []
    there = set(effects["verdict"])
    sides = set(effects["side"])
    words = SCORED if {TEXT, SCORES} & set(modalities) else EXPLAINED
    signs = legend_of(comparisons_in(effects), bound, words, set(effects["unit"]))
    is_there = [1 in sides, -1 in sides, *(verdict in there for verdict in (AS_OFTEN, UNDECIDED, UNDECIDABLE))]
    is_there += [True] * (len(signs) - len(is_there))
    return [
        {"sign": cell.text, "colour": cell.background, "meaning": meaning}
        for (cell, meaning), shown in zip(signs, is_there, strict=True)
        if shown
    ]
