"""Models that are trained already, as the workflow takes them over: with the classes of a dataset as their outputs."""

from collections.abc import Callable, Sequence

import pandas as pd

from evenlight.engine.sentences import parts_of, require_reads
from evenlight.models.classifier import Classifier
from evenlight.models.prompted import prompted_classifier
from evenlight.models.ready import ready_classifier
from evenlight.texts.words import single_texts, texts_in


def _with_own_head(settings: dict, classes: Sequence[str], sentences: Sequence) -> tuple[Classifier, dict]:
    """A classifier and the label of each class."""
    classifier, labels = ready_classifier(settings, classes, sentences)
    of_classes = dict(zip(classes, labels, strict=True))
    for name, label in of_classes.items():
        print(f"class {name}: {'none of the labels' if label is None else f'label {label}'}")
    return classifier, {"labels": of_classes}


def _with_prompt(settings: dict, classes: Sequence[str], sentences: Sequence) -> tuple[Classifier, dict]:
    """A language model as a classifier, and the tokens by which it tells the classes apart."""
    classifier, about = prompted_classifier(settings, classes, sentences)
    for name, words in about["label_tokens"].items():
        print(f"class {name}: {', '.join(f'{word} ({chr(32).join(tokens)})' for word, tokens in words.items())}")
    if classifier.model_inputs.beginning:
        print(
            f"the first {len(classifier.model_inputs.beginning)} tokens of the prompt are computed once for all texts"
        )
    return classifier, about


# Settings, classes and texts to a classifier and what its manifest says of it.
ARCHITECTURES: dict[str, Callable] = {"trained": _with_own_head, "prompted": _with_prompt}


def taken_over(settings: dict, classes: Sequence[str], test: pd.DataFrame) -> tuple[Classifier, dict]:
    """A classifier that is trained already, and what its manifest says of it.

    Args:
        settings: of a model in one run (``configuration.checkpoint``), one of :data:`ARCHITECTURES`.
        classes: names of the dataset's classes, in the order of its labels.
        test: the items that it will read, with ``words``, ``part``.

    Raises:
        InputError: the model cannot be loaded or asked, its labels are not the classes, or it does not read the texts.
    """
    classifier, about = ARCHITECTURES[settings["architecture"]](
        settings, classes, single_texts(texts_in(test), parts_of(test))
    )
    require_reads(classifier, test)
    return classifier, about
