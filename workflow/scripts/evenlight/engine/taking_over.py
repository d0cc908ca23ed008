"""Models that are trained already, as the workflow takes them over: with the classes of a dataset as their outputs."""

from collections.abc import Sequence

import pandas as pd

from evenlight.engine.sentences import parts_of, require_reads
from evenlight.models import Architecture
from evenlight.models.classifier import Classifier
from evenlight.texts.words import single_texts, texts_in


def taken_over(model: Architecture, classes: Sequence[str], test: pd.DataFrame) -> tuple[Classifier, dict]:
    """A classifier that is trained already, and what its manifest says of it.

    Args:
        model: in one run (``configuration.checkpoint``), which ``is_loaded``.
        classes: names of the dataset's classes, in the order of its labels.
        test: the items that it will read, with ``words``, ``part``.

    Raises:
        InputError: the model cannot be loaded or asked, its labels are not the classes, or it does not read the texts.
    """
    classifier, about = model.load(classes, single_texts(texts_in(test), parts_of(test)))
    require_reads(classifier, test)
    return classifier, about
