"""A dataset with its classes in the other order: a negative control of everything that is said of classes."""

from collections.abc import Sequence

import pyarrow as pa


def swapped(items: pa.Table, classes: Sequence[str]) -> tuple[pa.Table, list[str]]:
    """Items and class names with the classes from the last to the first; which text has which class stays.

    ``items`` have the columns of :data:`evenlight.core.contracts.texts.ITEMS`, ``classes`` the names by label.

    >>> items, classes = swapped(pa.table({"label": [0, 2, 1]}), ["a", "b", "c"])
    >>> items["label"].to_pylist(), classes
    ([2, 0, 1], ['c', 'b', 'a'])
    """
    labels = pa.array([len(classes) - 1 - label for label in items["label"].to_pylist()], pa.int64())
    place = items.column_names.index("label")
    return items.set_column(place, items.schema.field("label"), labels), list(reversed(classes))
