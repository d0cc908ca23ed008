"""What all explainers in words share: the prompt of a question, the decision in an answer, and what is counted.

``from_table`` reads answers from a table, ``from_api`` asks a service and ``local_generation`` a decoder. All of them
write the contract ``answers``, and nothing behind it knows which of them did.
"""

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import regex

from evenlight.core.contracts.texts import ATTRIBUTE
from evenlight.core.errors import InputError
from evenlight.core.seeds import derived_seed
from evenlight.explainers.copies import notes_on_copies
from evenlight.explainers.in_words import Decision
from evenlight.texts.items import is_known
from evenlight.texts.matching import begins_with, folded, is_begun
from evenlight.texts.words import joined_text, single_texts, texts_in

# From here on an answer is counted as long.
LONG = 10_000
# The most seconds in which a pattern looks for a decision in one answer.
PATTERN_SECONDS = 2.0
# So many objects of JSON are looked for in an answer.
MOST_OBJECTS = 100
# What stands for a field of the dataset. Other braces, as those of an example in JSON, stay.
_FIELD = re.compile(r"\{([a-z][a-z0-9_]*)\}")
# Tags as HTML has them, and all but tab, line feed and carriage return that no page shows, signs that turn the
# direction of writing included.
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Question:
    """What a model is asked.

    Attributes:
        item_id: of the item.
        fields: what a template may name: ``text``; of a text of two parts ``second``; and the item's attributes.
    """

    item_id: str
    fields: Mapping[str, str]


def questions_of(items: pd.DataFrame) -> list[Question]:
    """The questions of the test split, in the order of ``items`` (contract ``items``)."""
    tested = items[items["split"] == "test"]
    attributes = [column for column in tested if column.startswith(ATTRIBUTE)]
    parts = tested["part"] if "part" in tested else [None] * len(tested)
    found = []
    for row, part, text in zip(tested.to_dict("records"), parts, texts_in(tested), strict=True):
        texts = [joined_text(each) for each in single_texts([text], [part] if is_known(part) else None)]
        fields = {name.removeprefix(ATTRIBUTE): row[name] for name in attributes if is_known(row[name])}
        found.append(Question(row["item_id"], fields | dict(zip(("text", "second"), texts, strict=False))))
    return found


def messages_of(
    question: Question, template: str, system: str | None = None, explainer: str = "<explainer>"
) -> list[dict[str, str]]:
    """The messages of one question, each with its ``role`` and ``content``, as chat templates take them.

    Args:
        question: of a dataset.
        template: what is asked, with names of fields in braces.
        system: the message before it, if any.
        explainer: its name, for messages.

    Raises:
        InputError: the template names a field that the question has not.
    """

    def of_field(match: re.Match) -> str:
        if match[1] not in question.fields:
            there = ", ".join(f"{{{name}}}" for name in sorted(question.fields))
            raise InputError(
                f"explainers.{explainer}: the prompt names {match[0]}, which question '{question.item_id}' has not; "
                f"it has {there}"
            )
        return question.fields[match[1]]

    parts = {"system": system, "user": template}
    return [{"role": role, "content": _FIELD.sub(of_field, said)} for role, said in parts.items() if said is not None]


def digest_of(messages: Sequence[Mapping]) -> str:
    """A digest of a prompt, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(list(messages), sort_keys=True).encode()).hexdigest()[:16]


def seed_of(seed: int, item_id: str, draw: int) -> int:
    """The seed of one answer, of 31 bits, which every server takes: no other question and no other draw has a part."""
    return derived_seed(seed, item_id, draw, "answer") % 2**31


# The decision -------------------------------------------------------------------------------------------------------


def decided(said: str, decision: Decision | None, explainer: str = "<explainer>") -> tuple[str, str | None]:
    """What is scored of an answer as it came, and what it decides, None where it decides nothing.

    Args:
        said: the answer.
        decision: where it stands. Where neither a pattern nor a field is named, it is not in the text: see
            :func:`label_probabilities`.
        explainer: its name, for messages.

    Raises:
        InputError: the pattern takes too long.

    >>> decided("Answer: A. No, answer: b", Decision(pattern="nswer: (.)", words={"buy": ["B"]}))
    ('Answer: A. No, answer: b', 'buy')
    >>> decided('So: {"do": "buy", "why": "It is cheap."}', Decision(field="do", text_field="why"))
    ('It is cheap.', 'buy')
    """
    if decision is None:
        return said, None
    place = 0 if decision.take == "first" else -1
    if decision.pattern:
        found = list(_matches(decision.pattern, said, explainer))
        return said, _named(found[place], decision.words) if found else None
    if decision.field:
        objects = [each for each in _objects(said) if decision.field in each]
        if not objects:
            return said, None
        text = objects[place].get(decision.text_field)
        return text if isinstance(text, str) else said, _named(objects[place][decision.field], decision.words)
    return said, None


def _matches(pattern: str, said: str, explainer: str) -> Iterator[str | None]:
    """What a pattern finds: its first group where it has one."""
    try:
        pattern, said = (unicodedata.normalize("NFC", text) for text in (pattern, said))
        for match in regex.finditer(pattern, said, timeout=PATTERN_SECONDS):
            yield match[1] if match.re.groups else match[0]
    except TimeoutError:
        raise InputError(
            f"explainers.{explainer}.decision.pattern: takes more than {PATTERN_SECONDS:g} s on an answer of "
            f"{len(said):,} characters; write one without repetitions within repetitions"
        ) from None


def _objects(said: str) -> Iterator[dict]:
    """The objects of JSON in a text, whatever stands around them; no part of another one."""
    decoder, end = json.JSONDecoder(), 0
    for start in [match.start() for match in re.finditer(r"\{", said)][:MOST_OBJECTS]:
        if start < end:
            continue
        try:
            found, end = decoder.raw_decode(said, start)
        except (ValueError, RecursionError):
            continue
        yield found


def _named(found: object, words: Mapping[str, Sequence[str]]) -> str | None:
    """The decision that has a word, in whatever case; without words, what was found is the decision."""
    if not isinstance(found, str | int | float) or not (word := str(found).strip()):
        return None
    if not words:
        return word
    return next((name for name, its in words.items() if folded(word) in map(folded, its)), None)


@dataclass(frozen=True)
class Position:
    """A token of an answer and what could have stood in its place.

    Attributes:
        token: as it was written.
        top: logarithms of probabilities by token, of this one and of others.
    """

    token: str
    top: Mapping[str, float]


def label_probabilities(positions: Sequence[Position], words: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """The probability with which an answer begins with the words of each decision, as far as tokens are known.

    A word may be several tokens. Prefixes that more than one decision has are followed along the tokens that were
    written; those that another token would have begun are not known, and count for none. White space before a word
    does not count.

    >>> first = Position("W", {"W": math.log(0.75), "Comp": math.log(0.25)})
    >>> label_probabilities([first], {"wait": ["Wait"], "complain": ["Complain"]})
    {'wait': 0.75, 'complain': 0.25}
    """
    found, begun, logarithm = dict.fromkeys(words, 0.0), "", 0.0
    for position in positions:
        for token, more in position.top.items():
            possible = _prefix(begun + token, words)
            if len(possible) == 1:
                found[possible.pop()] += math.exp(logarithm + more)
        begun, logarithm = begun + position.token, logarithm + position.top[position.token]
        if len(_prefix(begun, words)) < 2:
            break
    return found


def _prefix(said: str, words: Mapping[str, Sequence[str]]) -> set[str]:
    """The decisions of which a word begins so, or that begins with one of their words."""
    said = said.lstrip()
    return {name for name, its in words.items() for word in its if is_begun(word, said) or begins_with(said, word)}


def most_probable(probabilities: Mapping[str, float]) -> str | None:
    """The decision with the largest probability, None where all have 0."""
    best = max(probabilities, key=probabilities.__getitem__)
    return best if probabilities[best] > 0 else None


# What is counted ----------------------------------------------------------------------------------------------------


def notes_of(answers: pd.DataFrame, tested: set[str], looked_at: str | None = None) -> list[str]:
    """What a reader of the scores must know of the answers (contract ``answers``) to the questions of a test split.

    ``looked_at`` is the key of the settings by which decisions were looked for, None where none were: it may be wrong
    where no answer has one.
    """
    text, per_item = answers["text"], answers.groupby("item_id").size()
    fewest, most = int(per_item.min()), int(per_item.max())
    of_answers = {
        "without a decision": answers["decision"].isna(),
        "empty": text == "",
        "cut off": answers["finish"] == "length",
        "withheld by a filter": answers["finish"] == "content_filter",
        f"longer than {LONG:,} words": text.map(lambda said: len(said.split())) > LONG,
        "with markup": text.str.contains(_MARKUP),
        "with control characters": text.str.contains(_CONTROL),
    }
    of_questions = {
        "unanswered": len(tested) - len(per_item),
        f"with fewer than {most} answers": (per_item < most).sum(),
    }
    draws = f"{most}" if fewest == most else f"{fewest} to {most}"
    found_none = looked_at and of_answers["without a decision"].all()
    return [
        f"{len(answers):,} answers, {draws} to a question",
        *counts("answers", len(answers), {what: holds.sum() for what, holds in of_answers.items()}),
        *counts("questions", len(tested), of_questions),
        *notes_on_copies(answers),
        *[f"a decision was found in no answer; look whether {looked_at} is right"] * bool(found_none),
    ]


def counts(of: str, total: int, counts: dict[str, int]) -> list[str]:
    """How many there are of each kind, in one note; none where there is none of any.

    >>> counts("answers", 20, {"empty": 3, "with markup": 0, "without a decision": 1})
    ['of 20 answers 3 empty, 1 without a decision']
    """
    said = [f"{count:,} {what}" for what, count in counts.items() if count]
    return [f"of {total:,} {of} {', '.join(said)}"] if said else []
