"""Asking a service about rows of words."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from evenlight.core.errors import InputError
from evenlight.models.architectures.service import Asking
from evenlight.models.labels import matched_labels
from evenlight.models.service import ServedClassifier
from evenlight.models.services.asking import CachedService
from evenlight.texts.rows import Rows


class ServiceEvaluator:
    """Answers rows of words with class probabilities, as :class:`evenlight.engine.evaluator.Evaluator` those of tokens.

    Args:
        classifier: the service's words and classes.
        folder: of the answers of all services.
        policy: how it is asked.
        on_rows: called with the number of texts of every answer that was asked for.
    """

    def __init__(
        self,
        classifier: ServedClassifier,
        folder: Path,
        policy: Asking,
        on_rows: Callable[[int], None] | None = None,
    ):
        self.classifier = classifier
        self.service = CachedService(classifier.service, folder, policy, on_rows)
        self.found_out: dict = {}

    @property
    def notes(self) -> list[str]:
        """What readers of the results must know of the answers."""
        return self.service.notes

    @property
    def rows_computed(self) -> int:
        """Texts that the service was asked about."""
        return self.service.asked

    def probabilities(self, rows: Rows | Sequence[np.ndarray]) -> np.ndarray:
        """Class probabilities, float64 (rows, classes), of rows of words, in the rows' order.

        Raises:
            InputError: the service gives no usable answer, or its labels are not the classes.
        """
        if not len(rows):
            return np.zeros((0, self.classifier.classes))
        answers = self.service.probabilities(self.classifier.texts(rows))
        return of_classes(answers, self.service.labels, self.classifier)


def of_classes(answers: np.ndarray, labels: list[str], classifier: ServedClassifier) -> np.ndarray:
    """Probabilities of the dataset's classes, float64 (texts, classes), from those of the labels (texts, labels).

    Where labels exclude each other, the probabilities are those among the labels that are classes; where not, a class
    without a label has what is left of the other class's 1.

    Raises:
        InputError: the labels are not the classes, or a text has none of those that are.
    """
    mapping, address = classifier.service.classes, classifier.service.address
    excluding = None not in mapping.values()
    columns = matched_labels(list(classifier.class_names), labels, mapping, excluding, address)
    if not excluding:
        [present] = [answers[:, column] for column in columns if column is not None]
        return np.stack([1 - present if column is None else present for column in columns], axis=1)
    chosen = answers[:, columns]
    total = chosen.sum(axis=1, keepdims=True)
    if not total.all():
        raise InputError(
            f"service {address}: of {(total == 0).sum()} texts, no label that is a class has a probability above 0; "
            "give the dataset the classes of the other labels, too"
        )
    return chosen / total
