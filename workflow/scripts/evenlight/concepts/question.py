"""What a concept explainer is asked, and what it may look at: arrays, whatever the texts are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

UNLABELLED = -1


@dataclass(frozen=True)
class ReadTexts:
    """Some texts, as a model reads them.

    Attributes:
        name: (texts,), by which random numbers are drawn.
        probability: of the classes, float (texts, classes).
        representation: what the model's last linear layer is given, float (texts, width).
        level: of each concept, int (texts, concepts), numbered from 0; -1 where there is no label.
    """

    name: Sequence[str]
    probability: np.ndarray
    representation: np.ndarray
    level: np.ndarray

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return self.probability.shape[1]

    def labelled(self, concept: int) -> np.ndarray:
        """Which texts have a label of a concept, bool (texts,)."""
        return self.level[:, concept] != UNLABELLED


@dataclass(frozen=True)
class Changes:
    """Changes of one concept each, all int (changes,).

    Attributes:
        concept: which one.
        before, after: its level in the text and in the counterfactual.
        base, edit: rows of the text and of its real counterfactual.
    """

    concept: np.ndarray
    before: np.ndarray
    after: np.ndarray
    base: np.ndarray
    edit: np.ndarray

    def __len__(self) -> int:
        return len(self.concept)


@dataclass(frozen=True)
class Head:
    """The model's last linear layer: probabilities are softmax(``weight`` · representation + ``bias``).

    ``weight`` is (classes, width), ``bias`` (classes,).
    """

    weight: np.ndarray
    bias: np.ndarray

    def probability(self, representation: np.ndarray) -> np.ndarray:
        """Of the classes, (texts, classes), by representations (texts, width)."""
        return scipy.special.softmax(representation @ self.weight.T + self.bias, axis=1)

    def gradients(self, representation: np.ndarray) -> np.ndarray:
        """Of each class's probability by the representation, (texts, classes, width)."""
        probability = self.probability(representation)
        mean = probability @ self.weight
        return probability[:, :, None] * (self.weight[None] - mean[:, None])


@dataclass(frozen=True)
class Attributed:
    """What the words of each concept add to a model's output for each class, as an explainer attributes it.

    Attributes:
        asked: in the asked texts, (texts, concepts, classes); NaN where a text is not attributed.
        at_level: the mean of training texts at each level, (concepts, levels, classes); NaN where there is none.
    """

    asked: np.ndarray
    at_level: np.ndarray


@dataclass(frozen=True)
class Question:
    """Which effects are to be estimated, and what is known besides.

    Attributes:
        train: texts from which explainers learn; their levels are people's labels.
        asked: the texts that are changed. What an explainer looks at of an edit is nothing; it knows the text before
            the change, its levels (as a classifier predicts them, or people's), and which level changes to which.
        changes: rows of ``asked``.
        levels: how many levels each concept has.
        head: the model's, for explainers that look inside.
        edited, edits: texts and real changes among them outside of the test, for the upper bound.
        attributed: for explainers that sum up attributions.
        counterfactual: what networks that have forgotten each concept say of the asked texts, (concepts, texts,
            classes); NaN of texts in which the concept does not change.
        seed: of random draws.
    """

    train: ReadTexts
    asked: ReadTexts
    changes: Changes
    levels: int
    head: Head | None = None
    edited: ReadTexts | None = None
    edits: Changes | None = None
    attributed: Attributed | None = None
    counterfactual: np.ndarray | None = None
    seed: int = 0

    def shown(self, definition: str) -> tuple[np.ndarray, np.ndarray]:
        """The levels of the text before and after each change, int (changes, concepts).

        By the paper the changed concept is known to be at ``before``; the ``released`` code takes the levels before the
        change as they are predicted, this one included.
        """
        rows = np.arange(len(self.changes))
        before = self.asked.level[self.changes.base].copy()
        if definition != "released":
            before[rows, self.changes.concept] = self.changes.before
        after = before.copy()
        after[rows, self.changes.concept] = self.changes.after
        return before, after


def true_effects(texts: ReadTexts, changes: Changes) -> np.ndarray:
    """What the changes really do to the probabilities, (changes, classes): ICaCE (CEBaB, Definition 2)."""
    return texts.probability[changes.edit] - texts.probability[changes.base]
