"""Questions that follow from an answer, asked of the same model in new sessions.

``hint``: the question once more, with a hint at another decision than the model gave (Turpin et al. 2023).
``counterfactual``: the model edits the text so that it would decide otherwise, and is asked about its edit.
``redaction``: it names the words that matter, and is asked about the text without them, and without as many others
that are drawn at random (both: Madsen et al. 2024; the random ones are ours).

A follow-up question is a question as any other. Who answers is given: a service, a decoder, or an estimate.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pandas as pd

from evenlight.core.contracts.explanations import FOLLOW_UPS, MADE
from evenlight.core.seeds import generator_for
from evenlight.explainers.answering import Question, messages_of, seed_of
from evenlight.explainers.in_words import Answering
from evenlight.texts.matching import phrases_of, random_words, redacted

# From questions of different names and an explainer to an answer to each, in their order, with the
# columns of the contract ``answers``.
Method = TypeVar("Method", bound=Answering)
Answerer = Callable[[Sequence[Question], Method], pd.DataFrame]


@dataclass(frozen=True)
class Followed:
    """An answer that questions follow from.

    Attributes:
        question: that it answers.
        draw: its number.
        decision: that it has, one of the decisions of the explainer.
        text: of the answer.
    """

    question: Question
    draw: int
    decision: str
    text: str


def followed(answers: pd.DataFrame, questions: Sequence[Question], method: Answering) -> list[Followed]:
    """The answers (contract ``answers``) from which questions follow: those that decide, and not that it is unclear."""
    of_item = {question.item_id: question for question in questions}
    can = method.decisions
    return [
        Followed(of_item[row.item_id], row.draw, row.decision, row.text)
        for row in answers.itertuples(index=False)
        if row.decision in can
    ]


def follow_ups(
    those: Sequence[Followed], abouts: Collection[str], method: Method, seed: int, answer: Answerer[Method]
) -> pd.DataFrame:
    """What a model says to all questions that follow from some answers, in the contract ``answers to follow-up
    questions``, without what rows are made of.

    Args:
        those: the answers.
        abouts: names of :data:`ASKED`.
        method: the explainer, with the ``words`` of its decisions.
        seed: of the study.
        answer: who answers.
    """
    rows = [row for about in sorted(abouts) for row in ASKED[about](those, method, seed, answer)]
    return as_table(rows)


def as_table(rows: Sequence[dict]) -> pd.DataFrame:
    """Rows of the contract ``FOLLOW_UPS``, in order; what one has not is missing there."""
    table = pd.DataFrame(
        [dict.fromkeys(FOLLOW_UPS.schema.names) | row for row in rows], columns=FOLLOW_UPS.schema.names
    )
    return table.sort_values(["item_id", "draw", "about"], kind="stable", ignore_index=True)


def _other(each: Followed, method: Answering, seed: int) -> str:
    """Another decision than that of an answer, drawn where there are several."""
    others = [name for name in method.decisions if name != each.decision]
    return others[
        int(generator_for("other decision", seed_of(seed, each.question.item_id, each.draw)).integers(len(others)))
    ]


def _asking(each: Followed, method: Answering, template: str, step: str, other: str | None = None) -> Question:
    """A follow-up question; its template may name what was asked, the decision and another one."""
    words, fields = method.decision_words, dict(each.question.fields)
    fields |= {"asked": messages_of(each.question, method.template)[-1]["content"], "decision": words[each.decision][0]}
    fields |= {"other": words[other][0]} if other else {}
    [message] = messages_of(Question(each.question.item_id, fields), template)
    return _about(each, message["content"], step)


def _about(each: Followed, text: str, step: str) -> Question:
    """The question of an answer about another text."""
    return Question(f"{each.question.item_id}/{each.draw}/{step}", {**each.question.fields, "text": text})


def _said(questions: Sequence[Question], method: Answering, answer: Answerer, **changed) -> list[dict]:
    """The answers to questions, each as a row."""
    return answer(questions, method.changed(**changed)).to_dict("records") if questions else []


# The text of a follow-up question is already all that is asked.
_AS_IT_IS = {"template": "{text}"}


def _rows(
    those: Sequence[Followed], about: str, said: Sequence[dict], expected: Sequence[Sequence[str]], edits: Sequence
) -> Iterator[dict]:
    kept = ("decision", "text", *(field.name for field in MADE))
    for each, reply, wanted, edit in zip(those, said, expected, edits, strict=True):
        found = {"item_id": each.question.item_id, "draw": each.draw, "about": about, "expected": list(wanted)}
        yield found | {"edit": edit} | {name: reply[name] for name in kept}


def _hints(those: Sequence[Followed], method: Answering, seed: int, answer: Answerer) -> Iterator[dict]:
    others = [_other(each, method, seed) for each in those]
    template = method.follow_ups.hint
    questions = [_asking(each, method, template, "hint", other) for each, other in zip(those, others, strict=True)]
    said = _said(questions, method, answer, **_AS_IT_IS)
    yield from _rows(those, "hint", said, [[other] for other in others], [None] * len(those))


def _counterfactuals(those: Sequence[Followed], method: Answering, seed: int, answer: Answerer) -> Iterator[dict]:
    others = [_other(each, method, seed) for each in those]
    template = method.follow_ups.counterfactual
    questions = [_asking(each, method, template, "edit", other) for each, other in zip(those, others, strict=True)]
    edits = [row["text"].strip() for row in _said(questions, method, answer, **_AS_IT_IS, decision=None)]
    said = _said([_about(each, edit, "edited") for each, edit in zip(those, edits, strict=True)], method, answer)
    yield from _rows(those, "counterfactual", said, [[other] for other in others], edits)


def _redactions(those: Sequence[Followed], method: Answering, seed: int, answer: Answerer) -> Iterator[dict]:
    template, mask = method.follow_ups.redaction, method.follow_ups.mask
    questions = [_asking(each, method, template, "words") for each in those]
    named = [phrases_of(row["text"]) for row in _said(questions, method, answer, **_AS_IT_IS, decision=None)]
    undecided = [method.follow_ups.undecided] * len(those)
    texts = [each.question.fields["text"] for each in those]
    drawn = [
        random_words(text, words, generator_for("random words", seed_of(seed, each.question.item_id, each.draw)))
        for each, text, words in zip(those, texts, named, strict=True)
    ]
    for about, listed in (("redaction", named), ("random_redaction", drawn)):
        edits = [redacted(text, words, mask) for text, words in zip(texts, listed, strict=True)]
        asked = [_about(each, edit, about) for each, edit in zip(those, edits, strict=True)]
        yield from _rows(those, about, _said(asked, method, answer), undecided, edits)


# What follows from an answer, by what it is about.
ASKED: dict[str, Callable[..., Iterator[dict]]] = {
    "hint": _hints,
    "counterfactual": _counterfactuals,
    "redaction": _redactions,
}
# The rows of an answer that each of them has.
ROWS_OF = {"hint": ("hint",), "counterfactual": ("counterfactual",), "redaction": ("random_redaction", "redaction")}
# What only a model here can say, whose probabilities are known.
CONTRIBUTIONS = "contributions"
ROWS_OF[CONTRIBUTIONS] = (CONTRIBUTIONS,)
