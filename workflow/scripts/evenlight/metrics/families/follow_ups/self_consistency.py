"""Self-consistency: does a model decide as its own edit of the text says it will (Madsen et al. 2024, ACL Findings)?

The model writes a text that it says to be classed otherwise, or one without the words that matter, and is asked about
it in a new session. Values are 1 where it decides as it said, else 0, and NaN where a decision is missing. Higher is
better.

What they cannot see: an edit that replaces or redacts the whole text passes, whatever moved the first decision.
"""

from collections.abc import Collection, Sequence

import numpy as np

# What they count as no decision on a sentiment; other tasks have `unknown` alone.
UNDECIDED = ("unknown", "neutral")

Decisions = Sequence[str | None]


def counterfactual_consistency(decision: Decisions, after: Decisions, classes: tuple[str, str]) -> np.ndarray:
    """Whether the edited text gets the other of two classes than the text had by the model, float (texts,).

    Args:
        decision: of the model, on the texts as they were.
        after: on its own edits, which are to turn the decision.
        classes: both; a text with another decision has no counterpart, and is NaN.
    """
    return _as_turned(decision, after, classes)


def counterfactual_consistency_released(label: Decisions, after: Decisions, classes: tuple[str, str]) -> np.ndarray:
    """The same with the gold ``label`` turned round in place of the model's decision, as the released code does.

    The two differ where the model was wrong: there the edit that keeps the decision passes.
    """
    return _as_turned(label, after, classes)


def redaction_consistency(after: Decisions, undecided: Collection[str] = UNDECIDED) -> np.ndarray:
    """Whether the model cannot decide on the text without the words that it named or redacted, float (texts,).

    For both of their tests, of important words (``redacted`` takes them out) and of redaction by the model.

    Args:
        after: decisions on the redacted texts.
        undecided: the decisions that say so.
    """
    return np.array([np.nan if made is None else float(made in undecided) for made in after])


def redaction_gain(after: Decisions, after_random: Decisions, undecided: Collection[str] = UNDECIDED) -> np.ndarray:
    """The same minus what as many words at random would do, (texts,): 0 for whoever redacts everything.

    Our correction; :func:`evenlight.texts.matching.random_words` chooses them.

    Args:
        after: decisions on the texts without the words that matter.
        after_random: on the texts without as many random ones.
        undecided: the decisions that say that it cannot be told.
    """
    return redaction_consistency(after, undecided) - redaction_consistency(after_random, undecided)


def _as_turned(first: Decisions, after: Decisions, classes: tuple[str, str]) -> np.ndarray:
    other = dict(zip(classes, reversed(classes), strict=True))
    return np.array(
        [
            np.nan if before not in other or made is None else float(made == other[before])
            for before, made in zip(first, after, strict=True)
        ]
    )
