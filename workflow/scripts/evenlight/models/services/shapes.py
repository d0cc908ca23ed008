"""What is sent to a service and what its answers say, by two expressions of JMESPath (https://jmespath.org)."""

import json
import math
from collections.abc import Sequence
from typing import Any

from evenlight.core.errors import InputError, first_line

# Those of Hugging Face's endpoints for text classification; a top_k of null asks for all labels.
HUGGING_FACE = {"request": "{inputs: texts, parameters: {top_k: `null`}}", "answers": "@"}
# What the settings of a study put into every request of a chat API, or what it has to be without.
SET_HERE = ("model", "messages", "n", "stream", "temperature", "stop", "logprobs", "top_logprobs")
# The key of the settings that is wrong where something else answers; messages name the model.
ADDRESS = "models.<model>.address"
# Services round what they say.
ROUNDING = 0.02
# So much of an answer stands in messages.
SHOWN = 120


class UnusableAnswer(Exception):
    """What a service said, and why it says nothing about the texts; and what to do, where that is known."""

    def __init__(self, said: str, remedy: str = ""):
        super().__init__(said)
        self.remedy = remedy


def compiled(expression: str):
    """An expression, ready to be used.

    Raises:
        InputError: it is none, or the library is not installed.
    """
    try:
        import jmespath
    except ImportError:
        raise InputError("needs the library jmespath, which is not installed; install envs/models.txt") from None
    try:
        return jmespath.compile(expression)
    except jmespath.exceptions.JMESPathError as error:
        raise InputError(f"is no expression of JMESPath ({first_line(error)}); see https://jmespath.org") from None


def body_of(request: str, texts: Sequence[str]) -> Any:
    """What is sent about some texts, a JSON value.

    ``request`` is an expression on an object with the key ``texts``.

    Raises:
        InputError: it gives nothing, or fails.
    """
    try:
        body = compiled(request).search({"texts": list(texts)})
    except InputError:
        raise
    except Exception as error:  # whatever a function of the expression finds wrong
        raise InputError(f"models.<model>.request: cannot be used ({first_line(error)})") from None
    if body is None:
        raise InputError("models.<model>.request: gives nothing; it is asked of an object with the key texts")
    return body


def parsed(content: bytes) -> Any:
    """The JSON value of an answer.

    Raises:
        UnusableAnswer: it is not JSON, which has neither NaN nor infinity.
    """

    def no_number(name: str) -> None:
        raise ValueError(f"it has {name}, which is no number of JSON")

    try:
        return json.loads(content, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        said = f"its answer is no JSON ({first_line(error)}): {prefix(content)}"
        raise UnusableAnswer(said, f"look at {ADDRESS}") from None


def probabilities_in(answer: Any, expression: str, count: int, excluding: bool = True) -> list[dict[str, float]]:
    """Probabilities by label of each text of a request.

    Of each text the expression gives a list of objects with ``label`` and ``score``, an object of scores by label, or a
    list of scores, whose labels are then ``0``, ``1`` and so on.

    Args:
        answer: JSON value.
        expression: from the answer to a list with one entry for each text.
        count: of the texts.
        excluding: whether a text has exactly one of the labels, so that the probabilities add up to 1. They may miss
            it by :data:`ROUNDING`.

    Raises:
        UnusableAnswer: another number of texts, or what is no probability.

    >>> probabilities_in([[{"label": "kind", "score": 0.25}, {"label": "rude", "score": 0.75}]], "@", 1)
    [{'kind': 0.25, 'rude': 0.75}]
    >>> probabilities_in({"p": [[0.5, 0.5], [1, 0]]}, "p", 2)
    [{'0': 0.5, '1': 0.5}, {'0': 1.0, '1': 0.0}]
    """
    try:
        found = compiled(expression).search(answer)
    except InputError:
        raise
    except Exception as error:  # see body_of
        raise UnusableAnswer(
            f"the answer is not of the shape of models.<model>.answers ({first_line(error)})"
        ) from None
    if count == 1 and isinstance(found, list) and len(found) != 1 and all(map(_is_labelled, found)):
        found = [found]  # as Hugging Face answers about one text
    if not isinstance(found, list) or len(found) != count:
        said = f"{len(found)} answers" if isinstance(found, list) else "no list of answers"
        raise UnusableAnswer(f"it gives {said} to {count} texts: {prefix(answer)}")
    return [_by_label(of_text, excluding) for of_text in found]


def _is_labelled(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= {"label", "score"}


def _by_label(answer: Any, excluding: bool) -> dict[str, float]:
    if _is_labelled(answer):
        answer = [answer]
    if isinstance(answer, list) and answer and all(map(_is_labelled, answer)):
        pairs = [(str(entry["label"]), entry["score"]) for entry in answer]
    elif isinstance(answer, list):
        pairs = [(str(place), score) for place, score in enumerate(answer)]
    elif isinstance(answer, dict):
        pairs = list(answer.items())
    else:
        pairs = []
    if not pairs or len(dict(pairs)) < len(pairs):
        raise UnusableAnswer(f"it gives no scores by label, or one twice: {prefix(answer)}")
    for label, score in pairs:
        is_number = isinstance(score, int | float) and not isinstance(score, bool)
        if not is_number or not math.isfinite(score) or not 0 <= score <= 1:
            raise UnusableAnswer(f"the score of label {label} is {prefix(score)}, which is no probability")
    total = math.fsum(score for _, score in pairs)
    if excluding and abs(total - 1) > ROUNDING:
        raise UnusableAnswer(
            f"the probabilities of {', '.join(label for label, _ in pairs)} add up to {total:.4g} and not to 1; let it "
            "answer with those of all labels (models.<model>.request), or, where labels do not exclude each other, "
            "give one class the label null (models.<model>.classes)"
        )
    return {label: float(score) for label, score in pairs}


def with_labels(answers: list[dict[str, float]], labels: Sequence[str] = ()) -> list[dict[str, float]]:
    """The answers, if all have these labels; where none are given, those of the first answer.

    Raises:
        UnusableAnswer: one has others.
    """
    expected = set(labels or answers[0])
    for answer in answers:
        if answer.keys() != expected:
            raise UnusableAnswer(
                f"it gives probabilities of {', '.join(answer)}, where others have {', '.join(sorted(expected))}; let "
                "it answer with all labels (models.<model>.request), or, where it is another classifier now, give it "
                "a version (models.<model>.version), so that it is asked again"
            )
    return answers


def prefix(value: Any) -> str:
    """The first characters of what a service said, in one line."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"
