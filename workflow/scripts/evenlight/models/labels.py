"""What the labels of a classifier are called, and which of them each class of a dataset is; without torch."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from evenlight.core.errors import InputError

# What Transformers calls labels that do not exclude each other.
MULTI_LABEL = "multi_label_classification"
# What Transformers calls labels that nobody has named.
NO_NAME = re.compile(r"LABEL_\d+")
# What the remedy has for a class whose label only the user knows: no model has such a label, so that it is refused.
UNKNOWN = "<label>"


def listed_labels(source: str | Path, labels: object) -> str:
    """What to tell a user where the names of labels are a list, and Transformers needs them by number; else nothing."""
    if not isinstance(labels, list | tuple):
        return ""
    return (
        f"model {source}: id2label of its configuration is the list {list(labels)}; write each label with its number, "
        f"{dict(enumerate(labels))} (in config.json, or model.config.id2label)"
    )


def label_names(id2label: object, count: int, source: str) -> list[str]:
    """The labels of a model, in the order of its logits, which are counted from 0.

    Raises:
        InputError: it is not clear which label each logit is.
    """
    if said := listed_labels(source, id2label):
        raise InputError(said)
    try:
        numbered = {int(number): str(label) for number, label in id2label.items()}
    except (AttributeError, ValueError):
        raise InputError(
            f"model {source}: id2label of its configuration is {id2label!r}; write each label with its number, from 0"
        ) from None
    if sorted(numbered) != list(range(count)):
        found = ", ".join(f"{number}: {label}" for number, label in sorted(numbered.items()))
        example = dict(enumerate(label for _, label in sorted(numbered.items())))
        raise InputError(
            f"model {source}: id2label of its configuration has {{{found}}}, and its {count} logits are "
            f"counted from 0, so that nothing says which label each is; if they are in this order, set id2label to "
            f"{example} (in config.json, or model.config.id2label)"
        )
    return [numbered[column] for column in range(count)]


def matched_labels(
    classes: Sequence[str],
    labels: Sequence[str],
    mapping: Mapping[str, str | None],
    excluding: bool,
    source: str,
) -> list[int | None]:
    """The position among ``labels`` of each class; None for the class of texts without a label.

    Names are the same where they differ only in case, spaces, hyphens and underscores.

    Args:
        classes: of the dataset.
        labels: of the model.
        mapping: class to label; empty to match them by name. It may have classes of other datasets, too.
        excluding: whether a text has exactly one of the labels.
        source: of the model, for messages.

    Raises:
        InputError: it is not clear which label a class is; both lists stand in the message.

    >>> matched_labels(["positive", "negative"], ["NEGATIVE", "POSITIVE"], {}, True, "a model")
    [1, 0]
    >>> matched_labels(["harmless", "toxic"], ["toxic", "threat"], {"harmless": None, "toxic": "toxic"}, False, "other")
    [None, 0]
    """

    def refused(problem: str) -> InputError:
        said = "Say which label each class is" + ("" if excluding else ", of two classes one has none (null)")
        return InputError(
            f"models.<model>.classes: {problem}. The labels of model {source} are {', '.join(labels)}; the classes of "
            f"the dataset are {', '.join(classes)}. {said}, such as "
            # JSON is YAML in which labels such as YES and NO stay texts.
            f"classes: {json.dumps(suggested_labels(classes, labels), ensure_ascii=False)}"
        )

    if not mapping and not excluding:
        raise refused("the labels do not exclude each other, so one of them must be chosen")
    if not mapping:
        return _same_names(classes, labels, refused)
    unnamed = [name for name in classes if name not in mapping]
    if unnamed:
        raise refused(f"there is no entry for class {unnamed[0]}")
    chosen = [mapping[name] for name in classes]
    for label in chosen:
        if label is not None and (label not in labels or list(labels).count(label) > 1):
            raise refused(f"the model has {'several labels' if label in labels else 'no label'} '{label}'")
    if len(set(chosen)) < len(chosen):
        raise refused("two classes have the same label")
    if excluding and None in chosen:
        raise refused("a class without a label (null) is for models whose labels do not exclude each other")
    if not excluding and (len(classes) != 2 or None not in chosen):
        raise refused(
            "the labels do not exclude each other, so only one can be explained, against its absence: of two classes, "
            "one has a label and the other one null"
        )
    return [None if label is None else list(labels).index(label) for label in chosen]


def _same_names(classes: Sequence[str], labels: Sequence[str], refused) -> list[int]:
    if len(classes) != len(labels):
        raise refused(f"the model has {len(labels)} labels for {len(classes)} classes")
    if all(NO_NAME.fullmatch(label) for label in labels):
        raise refused("the labels have no names")
    spelled = [_spelled(label) for label in labels]
    if sorted(spelled) != sorted(map(_spelled, classes)) or len(set(spelled)) < len(spelled):
        raise refused("the labels and the classes have different names")
    return [spelled.index(_spelled(name)) for name in classes]


def suggested_labels(classes: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """The label of each class by its name, :data:`UNKNOWN` where no name agrees: positions say nothing.

    >>> suggested_labels(["high", "not urgent"], ["urgent", "not_urgent"])
    {'high': '<label>', 'not urgent': 'not_urgent'}
    """
    by_name = {_spelled(label): label for label in labels}
    return {name: by_name.get(_spelled(name), UNKNOWN) for name in classes}


def labels_by_name(classes: Sequence[str], labels: Sequence[str], excluding: bool) -> dict[str, str | None] | None:
    """The label of each class, in the order of the labels, where names say so without doubt; else None.

    Of labels without names, such as ``LABEL_1``, the number says it. Where labels do not exclude each other, one of two
    classes may have the name of a label, and the other one is its absence.

    >>> labels_by_name(["1", "0"], ["LABEL_0", "LABEL_1"], True), labels_by_name(["yes", "no"], ["bad", "good"], True)
    ({'0': 'LABEL_0', '1': 'LABEL_1'}, None)
    >>> labels_by_name(["toxic", "harmless"], ["threat", "toxic"], False)
    {'harmless': None, 'toxic': 'toxic'}
    """
    named = {_spelled(label): label for label in labels}
    if all(NO_NAME.fullmatch(label) for label in labels):
        named = {label.removeprefix("LABEL_"): label for label in labels}
    found = {name: named.get(_spelled(name)) for name in classes}
    known = [label for label in found.values() if label is not None]
    is_clear = len(named) == len(labels) and len(set(known)) == len(known) and len(classes) > 1
    if not is_clear or (len(known) < len(classes) if excluding else (len(classes), len(known)) != (2, 1)):
        return None
    places = {None: -1} | {label: place for place, label in enumerate(labels)}
    return dict(sorted(found.items(), key=lambda of: places[of[1]]))


def _spelled(name: str) -> str:
    return re.sub(r"[-_\s]+", " ", name).strip().casefold()


MOST_NAMES = 5


def in_a_line(classifier, kind: str, *more: str) -> str:
    """A classifier with ``class_names``, of some kind, and what else there is to say of it."""
    names = classifier.class_names
    listed = ", ".join(names[:MOST_NAMES]) + ", …" * (len(names) > MOST_NAMES)
    return f"<{type(classifier).__name__}: {', '.join((kind, f'{len(names)} classes ({listed})', *more))}>"
