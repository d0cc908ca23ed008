"""Hiding tokens from the model: which may be hidden, the rows of ids that this gives, what is said of empty texts."""

from collections.abc import Callable, Sequence

import numpy as np

from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator, Question, answer_in_lockstep
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.models.classifier import Classifier
from evenlight.texts.predictions import Tokenised
from evenlight.texts.rows import Rows, hidden_in, left_of

# In which ways metrics and explainers hide a token.
WAYS = ("removed", "mask", "pad")


def replacement_token(classifier: Classifier, hidden_token: str) -> int | None:
    """The id that stands in for a hidden token; None where hidden tokens are left out.

    Args:
        classifier: whose tokenizer has the token.
        hidden_token: ``mask``, ``pad`` or ``removed``.

    Raises:
        InputError: the tokenizer has no such token.
    """
    return None if hidden_token == "removed" else classifier.special_token(hidden_token)


def hideable(sentence: Tokenised, special_tokens: str) -> np.ndarray:
    """Indices of the tokens that may be hidden, int64 (features,): without the special ones unless ``included``.

    Those of a prompt are always without.
    """
    return np.flatnonzero(~(sentence.is_prompt if special_tokens == "included" else sentence.is_special))


def lowest(number: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Which numbers (rows, features) are the lowest ones of their row, so many as ``count`` (rows,) says, one or more.

    >>> lowest(np.array([[0.2, 0.9, 0.1]]), np.array([2])).tolist()
    [[True, False, True]]
    """
    return number <= np.take_along_axis(np.sort(number, axis=1), count[:, None] - 1, axis=1)


def reduced_rows(sentence: Tokenised, token_index: np.ndarray, shown: np.ndarray, replacement: int | None) -> Rows:
    """Copies of the sentence in which some tokens are hidden.

    Args:
        sentence: the whole.
        token_index: the tokens that may be hidden, (features,).
        shown: which of them each copy shows, bool (copies, features).
        replacement: id that stands in for a hidden token; None leaves it out.

    Returns:
        The rows of the copies, see :mod:`evenlight.texts.rows`.
    """
    visible = np.ones((len(shown), len(sentence.token_id)), dtype=bool)
    visible[:, token_index] = shown
    return left_of(sentence.row, visible) if replacement is None else hidden_in(sentence.row, ~visible, replacement)


def explained_by_hiding(
    question: Callable[[Sentence, int | None], Question[Attribution]],
    hidden_token: str,
    sentences: Sequence[Sentence],
    context: Context,
) -> Explanations:
    """Explanations by what the model says of rows in which tokens are hidden, all sentences' together.

    Args:
        question: asks about a sentence; called with it and what stands in for a hidden token.
        hidden_token: as for :func:`replacement_token`.
        sentences: what is explained.
        context: the model.
    """
    evaluator = context.evaluator
    replacement = replacement_token(evaluator.classifier, hidden_token)
    questions = (question(sentence, replacement) for sentence in sentences)
    return Explanations(list(answer_in_lockstep(questions, evaluator)))


def empty_texts(sentences: Sequence[Sentence], evaluator: Evaluator) -> dict[str, list[float]]:
    """The mean probability of each class where every word is hidden, by the way of hiding: the class by default.

    Where words are removed, nothing of a text is left but special tokens and the prompt; where a mask or pad token
    stands for each, its length is left. Ways for which the tokenizer has no token are left out.
    """
    found = {}
    for way in WAYS:
        try:
            replacement = replacement_token(evaluator.classifier, way)
        except InputError:
            continue
        rows = []
        for sentence in sentences:
            token_index = hideable(sentence, "excluded")
            rows.append(reduced_rows(sentence, token_index, np.zeros((1, len(token_index)), dtype=bool), replacement))
        if rows:
            found[way] = evaluator.probabilities(Rows.joined(rows)).mean(axis=0).tolist()
    return found
