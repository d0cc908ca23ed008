"""Classifiers as a study begins with them: before their training, or trained already."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from evenlight.core.errors import InputError
from evenlight.engine.sentences import parts_of, require_reads
from evenlight.models import Architecture
from evenlight.models.building import new_classifier
from evenlight.models.classifier import Classifier
from evenlight.models.trainings import Training
from evenlight.texts.words import single_texts, texts_in


def untrained(
    model: Architecture, recipe: Training, training: pd.DataFrame, classes: int, seed: int, origin: Path
) -> Classifier:
    """A classifier that can be trained on the items of a training split.

    The items have ``words`` and ``part``; ``origin`` is their table, for messages.

    Raises:
        InputError: there are no items; or the model cannot be loaded, asked or trained, or does not read them.
    """
    if training.empty:
        raise InputError(
            f"{origin}: no items in split train; put some there, have a smaller share moved to the test "
            "split, or name a model that is trained already (architecture: trained)"
        )
    classifier = new_classifier(model, recipe, single_texts(texts_in(training), parts_of(training)), classes, seed)
    require_reads(classifier, training)
    return classifier


def taken_over(model: Architecture, classes: Sequence[str], test: pd.DataFrame) -> tuple[Classifier, dict]:
    """A classifier that is trained already, and what its manifest says of it.

    The model is that of one run (``configuration.checkpoint``). Of the items it reads ``words`` and ``part``.

    Raises:
        InputError: the model cannot be loaded or asked, its labels are not the classes, or it does not read the texts.
    """
    classifier, about = model.load(classes, single_texts(texts_in(test), parts_of(test)))
    require_reads(classifier, test)
    return classifier, about
