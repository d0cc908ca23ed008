"""What notebooks give: a list with a value for each text. A table, a record or a set is none."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

import numpy as np
import pandas as pd

from evenlight.core.errors import InputError

# Names that a message shows, and from how many words on a "word" is a text.
SHOWN, WORDS_OF_TEXT = 10, 3


def listed(name: str, given: object, of: str, dimensions: int = 1) -> list:
    """The values of the argument ``name`` in their order; what can be gone over once only is gone over here.

    Args:
        of: what the values are called in messages, such as ``texts``.
        dimensions: of an array at most, of which the first has the texts.

    Raises:
        InputError: it is a table or has records, has no order, or is no list at all.
    """
    found, fields = f"{name}: found a {type(given).__name__}", _fields(given)
    if fields is not None:
        raise InputError(f"{found} with {_shown(fields)}; give the {of} alone, such as {_such_as(name, given, fields)}")
    if isinstance(given, str | bytes):
        raise InputError(f"{name} is one string; give a list of {of}, here a list of one")
    if isinstance(given, Set):
        raise InputError(f"{found}, which has no order; give a list of {of}")
    if not isinstance(given, Iterable) or not 1 <= getattr(given, "ndim", 1) <= dimensions:
        raise InputError(f"{found} ({getattr(given, 'shape', given)!r}); give a list of {of}, one for each text")
    values = list(given)
    for number, value in enumerate(values):
        if (fields := _fields(value)) is not None:
            field = _such_as("row", value, fields)
            raise InputError(
                f"{name}: entry {number} is a {type(value).__name__} with {_shown(fields)}; give the {of} alone, such "
                f"as [{field} for row in {name}]"
            )
    return values


def one_for_each(name: str, given: object, of: str, texts: int, dimensions: int = 1) -> list:
    """The values of an argument that has one for each text."""
    values = listed(name, given, of, dimensions)
    if len(values) != texts:
        raise InputError(f"{name} has {len(values)} entries for {texts} texts; give one per text")
    return values


def in_order_of(name: str, given: object, other: str, labelled: object) -> object:
    """An argument in the order of another where both are Series of pandas: values belong together by their labels.

    Raises:
        InputError: their labels are others, or occur twice in another order.
    """
    if not isinstance(given, pd.Series) or not isinstance(labelled, pd.Series) or given.index.equals(labelled.index):
        return given
    ours, theirs = given.index, labelled.index
    if ours.is_unique and theirs.is_unique and len(ours) == len(theirs) and theirs.isin(ours).all():
        return given.reindex(theirs)
    alone = [label for label in theirs if label not in ours] + [label for label in ours if label not in theirs]
    why = f"{_shown(alone)} in one of them only" if alone else "and some occur twice"
    raise InputError(
        f"{other} and {name} are Series with different labels, {why}; let both have the same index, such as "
        f'table.set_index("pair"), or give lists in the same order: {other}.tolist() and {name}.tolist()'
    )


def words_given(given: object) -> list[str] | None:
    """The words of one text that is given as words; None of what is no list of words.

    A "word" of three words or more is a text, and what holds it the row of a table.
    """
    if not isinstance(given, Sequence | Iterator | np.ndarray) or isinstance(given, bytes):
        return None
    words = list(given)
    are_words = all(isinstance(word, str) and 0 < len(word.split()) < WORDS_OF_TEXT for word in words)
    return words if are_words else None


def _fields(given: object) -> list | None:
    """The names of the fields of a table or a record; None of what is neither."""
    if isinstance(given, Mapping):
        return list(given)
    named = (getattr(given, name, None) for name in ("column_names", "columns", "_fields"))
    fields = next(
        (names for names in named if names is not None), getattr(getattr(given, "dtype", None), "names", None)
    )
    return None if fields is None else list(fields)


def _such_as(name: str, given: object, fields: list) -> str:
    """How the texts of a table or a record are written: by its first field of text."""
    if isinstance(given, Mapping) and name != "row" and all(isinstance(value, str) for value in given.values()):
        return f"list({name}.values())"
    is_named = hasattr(given, "_fields")
    of_text = (field for field in fields if _is_text(getattr(given, field) if is_named else given[field]))
    field = next(of_text, fields[0] if fields else "text")
    return f"{name}.{field}" if is_named else f"{name}[{field!r}]"


def _is_text(values: object) -> bool:
    """Whether a field has text: one, or a column of some."""
    return isinstance(values, str) or (isinstance(values, Iterable) and isinstance(next(iter(values), None), str))


def _shown(names: Sequence) -> str:
    return ", ".join([*map(repr, names[:SHOWN]), *["…"] * (len(names) > SHOWN)])
