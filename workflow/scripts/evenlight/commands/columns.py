"""Which column of a table has the texts of an audit, their classes, their groups and their pairs.

The rules are plain, so that a reader can tell why a column was taken. What they do not decide is refused, with the
columns that are there.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import shorten

import numpy as np
import pandas as pd

from evenlight.core import sources
from evenlight.core.errors import InputError, all_of
from evenlight.datasets.table import are_identifiers
from evenlight.models.labels import labels_by_name, matched_labels, suggested_labels
from evenlight.models.published import Published
from evenlight.texts.table_rows import is_empty, name_of, named_rows

REMEDY = "correct the table, or the flag"
# Groups are few: a column with more values is taken for something else.
MOST_LEVELS = 10
# Of a column without a flag. A text has some words; a group that is guessed has few levels.
FEWEST_WORDS, MOST_GUESSED_LEVELS = 3, 5
# Variants of a text share so many of their words, in the median of so many pairs.
SHARED_WORDS, LOOKED_AT = 0.5, 200
# What stands in a message of a column.
SHOWN_VALUES, LONGEST_VALUE = 3, 40


@dataclass(frozen=True)
class Asked:
    """What is asked for; None is guessed.

    Attributes:
        texts: the table, CSV or Parquet.
        model: folder, or id on the hub; ``revision`` there.
        text, label, pair, item: columns.
        groups: columns.
        compare: pairs of groups; none are all pairs.
        classes: the model's label of each class, None for a class without a label.
        study: its name.
        baseline: the ``audit.json`` of an earlier audit.
    """

    texts: str
    model: str
    revision: str | None = None
    text: str | None = None
    label: str | None = None
    groups: Sequence[str] = ()
    pair: str | None = None
    item: str | None = None
    compare: Sequence[Sequence[str]] = ()
    classes: Mapping[str, str | None] | None = None
    study: str | None = None
    baseline: str | None = None


def read_cells(asked: Asked) -> pd.DataFrame:
    """The table, every cell as text without spaces around it, or None."""
    path = Path(asked.texts)
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(
            f"{path}: neither .csv nor .parquet; save the table as CSV in UTF-8, with commas, and name that"
        )
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a table in it")
    if not path.is_file():
        raise InputError(sources.nearest(path))
    named = [*filter(None, (asked.text, asked.label, asked.pair, asked.item)), *asked.groups]
    rows = [row for _, row in named_rows(path, named, REMEDY, others=True)]
    if not rows:
        raise InputError(f"{path}: no rows; {REMEDY}")
    return pd.DataFrame(
        {name: [None if is_empty(row[name]) else name_of(row[name]) for row in rows] for name in rows[0]}
    )


def _shown(column: pd.Series) -> str:
    """The first different values of a column."""
    values = column.dropna().unique()
    first = [repr(shorten(str(value), LONGEST_VALUE, placeholder="…")) for value in values[:SHOWN_VALUES]]
    return ", ".join([*first, *["…"] * (len(values) > SHOWN_VALUES)]) or "empty"


def _not_guessed(asked: Asked, table: pd.DataFrame, flag: str, why: str) -> InputError:
    """What is said where rules do not tell a column: the flag to give, and the columns with their first values."""
    columns = "; ".join(f"{name!r}: {_shown(table[name])}" for name in table)
    return InputError(f"{asked.texts}: {why}; name the column as --{flag}. The columns begin so: {columns}")


def one_of(names: Sequence[str]) -> str:
    """Names in a message."""
    return ", ".join(map(repr, names)) or "none"


# Texts and classes --------------------------------------------------------------------------------------------------


def guessed_text(asked: Asked, table: pd.DataFrame, said: list[str]) -> str:
    """The column with the most words, where no other one has half as many."""
    taken = {asked.label, asked.pair, asked.item, *asked.groups}
    words = {name: _median_words(table[name]) for name in table if name not in taken}
    most = max(words, key=words.get, default=None)
    if most is None or words[most] < FEWEST_WORDS:
        raise _not_guessed(asked, table, "text", f"no column has texts of {FEWEST_WORDS} words or more")
    near = [name for name in words if 2 * words[name] >= words[most]]
    if len(near) > 1:
        raise _not_guessed(asked, table, "text", f"the texts may stand in {one_of(near)}")
    said.append(f"guessed: --text {most!r}, since it has the most words ({words[most]:g} in the median)")
    return most


def _median_words(column: pd.Series) -> float:
    counts = [len(value.split()) for value in column.dropna()]
    return float(np.median(counts)) if counts else 0.0


def refuse_other_than_texts(column: pd.Series, asked: Asked, name: str) -> None:
    """Refuse a column that is empty, or has numbers or identifiers."""
    values = column.dropna()
    if values.empty:
        raise InputError(
            f"{asked.texts}: column {name!r} (--text) is empty in all rows; name the column with the texts"
        )
    if are_identifiers(list(values)):
        raise InputError(
            f"{asked.texts}: column {name!r} (--text) has numbers or identifiers, such as {_shown(values)}, and no "
            "texts; name the column with the texts"
        )


def refuse_repeated(asked: Asked, table: pd.DataFrame) -> None:
    """Refuse identifiers of texts that several rows have."""
    names = table[asked.item].dropna() if asked.item else pd.Series()
    if (repeated := names.duplicated()).any():
        first = names[repeated].iloc[0]
        raise InputError(
            f"{asked.texts}: column {asked.item!r} (--item) has {first!r} in {(names == first).sum():,} rows; give "
            "each text an identifier of its own, or leave --item out"
        )


def guessed_label(asked: Asked, table: pd.DataFrame, taken: set, model: Published, said: list[str]) -> str:
    """The only column all of whose values are labels of the model, or the only one beside those of groups."""
    fitting = [name for name in table if name not in taken and _by_name(table[name], asked, model) is not None]
    fitting = [name for name in fitting if name not in asked.groups] or fitting
    if (
        not fitting
        and len(near := [name for name in table if name not in taken and _has_labels(table[name], model)]) == 1
    ):
        # What is wrong with it is said of it.
        return near[0]
    if len(fitting) != 1:
        labels = f"the labels of model {asked.model} ({', '.join(model.labels)})"
        why = f"{one_of(fitting)} have {labels}" if fitting else f"no column has {labels}"
        raise _not_guessed(asked, table, "label", why)
    said.append(f"guessed: --label {fitting[0]!r}, since its values are the model's labels")
    return fitting[0]


def _has_labels(column: pd.Series, model: Published) -> bool:
    """Whether a column has labels of the model beside other values."""
    values = list(column.dropna().unique())[: len(model.labels) + MOST_LEVELS]
    return sum(label in model.labels for label in suggested_labels(values, model.labels).values()) > 1


def _by_name(column: pd.Series, asked: Asked, model: Published) -> dict[str, str | None] | None:
    """The label of each class that a column has, given or by name; None where neither tells."""
    classes = list(column.dropna().unique())
    # A column of texts has more values than there can be labels.
    if len(classes) > len(model.labels) + 1:
        return None
    if asked.classes:
        return dict(asked.classes) if set(classes) <= set(asked.classes) else None
    return labels_by_name(classes, model.labels, model.excluding)


def classes_of(
    asked: Asked, column: pd.Series, name: str, model: Published, said: list[str]
) -> tuple[list[str], dict[str, str | None]]:
    """The classes in the order of the model's outputs; and the label of each, empty where names say it."""
    values = list(column.dropna().unique())
    if len(values) < 2:
        raise InputError(f"{asked.texts}: column {name!r} (--label) has one class, {_shown(column)}; {REMEDY}")
    if (labels := _by_name(column, asked, model)) is None:
        raise _unknown_classes(asked, column, name, model)
    if asked.classes:
        matched_labels(list(labels), model.labels, labels, model.excluding, asked.model)
        return list(labels), labels
    if model.excluding:
        # A class that no text has stays one: without it the model's probabilities were others.
        of_label = {label: name for name, label in labels.items()}
        labels = {of_label.get(label, label): label for label in model.labels}
    said.append(
        "taken: the label of each class, " + ", ".join(f"{key} is {label or 'none'}" for key, label in labels.items())
    )
    is_named = model.excluding and not any(label.startswith("LABEL_") for label in model.labels)
    return list(labels), {} if is_named else labels


def _unknown_classes(asked: Asked, column: pd.Series, name: str, model: Published) -> InputError:
    """What is said of values that are no class: which, in how many rows, and how to say which label each is."""
    counts = column.value_counts(sort=False).to_dict()
    labels = suggested_labels(list(counts), model.labels)
    known = set(asked.classes or [value for value, label in labels.items() if label in model.labels])
    first = ([value for value in counts if value not in known] or list(counts))[:SHOWN_VALUES]
    rows = ", ".join(f"{value!r} ({counts[value]:,} row{'' if counts[value] == 1 else 's'})" for value in first)
    example = " ".join(f"{value}={label}" for value, label in list(labels.items())[:SHOWN_VALUES])
    kind = (
        "" if model.excluding else ", which do not exclude each other: of two classes one has a label, the other none"
    )
    return InputError(
        f"{asked.texts}: column {name!r} (--label) has {rows}, which no label of model {asked.model} is certain "
        f"to be (its labels are {', '.join(model.labels)}{kind}); correct the table, or say which label each class is, "
        f"such as --classes {example}"
    )


# Groups and pairs ---------------------------------------------------------------------------------------------------


def groups_of(asked: Asked, table: pd.DataFrame, taken: set, label: str, said: list[str]) -> dict[str, list[str]]:
    """The levels of each column of groups, in the order of the table; that of the labels where there is no other."""
    names = list(dict.fromkeys(asked.groups))
    if not names:
        few = [name for name in table if name not in taken and _may_be_groups(table[name])]
        few = [name for name in few if name != label] or few
        if len(few) != 1:
            why = f"groups may stand in {one_of(few)}" if few else "no column has two to five names, each often"
            raise _not_guessed(asked, table, "groups", why)
        classes = " (these are the classes: no other column has groups)" if few[0] == label else ""
        said.append(
            f"guessed: --groups {few[0]!r}, since it alone has two to {MOST_GUESSED_LEVELS} names, each often{classes}"
        )
        names = few
    return all_of({name: partial(_levels, asked, table[name], name) for name in names})


def _may_be_groups(column: pd.Series) -> bool:
    counts = column.value_counts()
    is_few = 2 <= len(counts) <= MOST_GUESSED_LEVELS and counts.min() > 1
    return is_few and not any(re.fullmatch(r"[-+.\d]+", value) for value in counts.index)


def _levels(asked: Asked, column: pd.Series, name: str) -> list[str]:
    counts = column.value_counts(sort=False)
    where = f"{asked.texts}: column {name!r} (--groups)"
    if len(counts) > MOST_LEVELS:
        raise InputError(
            f"{where} has {len(counts):,} different values, such as {_shown(column)}, and groups are at most "
            f"{MOST_LEVELS}; name another column, or write the group of each row into one. Numbers such as ages can be "
            "cut in a file of your own (datasets.<name>.attributes.<name>.cuts)"
        )
    if len(counts) < 2:
        raise InputError(
            f"{where} has {'one group' if len(counts) else 'no group'}, {_shown(column)}; name another one"
        )
    levels = list(counts.index)
    compared = {level for sides in asked.compare for level in sides} & set(levels) or set(levels)
    if single := [level for level in levels if level in compared and counts[level] < 2]:
        raise InputError(
            f"{where}: {one_of(single)} has one text, and a comparison needs at least 2; leave the field empty in "
            "that row, join groups, or name those to compare, such as --compare "
            + " ".join(str(level) for level in counts.nlargest(2).index)
        )
    return levels


def guessed_pair(
    table: pd.DataFrame, text: str, groups: Mapping[str, list[str]], taken: set, said: list[str]
) -> str | None:
    """The first column whose values have one text of each level, which share most of their words; None without one."""
    factor, levels = next(iter(groups.items()))
    for name in (name for name in table if name not in taken):
        known = table[[name, factor, text]].dropna()
        sizes = known.groupby(name)[factor].agg(["size", "nunique"])
        is_paired = (
            len(known) and (sizes == len(levels)).all(axis=None) and table[[name, factor]].notna().all(axis=None)
        )
        if is_paired and _shared_words(known, name, text) >= SHARED_WORDS:
            said.append(
                f"guessed: --pair {name!r}, since each of its values has a text of every {factor}, in like words"
            )
            return name
    said.append(
        "guessed: no --pair, since no column has texts that differ by group alone; groups are of different texts"
    )
    return None


def _shared_words(table: pd.DataFrame, pair: str, text: str) -> float:
    """Which part of their words two texts of a pair share, in the median of the first pairs."""
    words = table[text].str.casefold().str.split().map(set)
    shares = [
        len(first & second) / max(len(first | second), 1)
        for _, both in list(words.groupby(table[pair], sort=False))[:LOOKED_AT]
        for first, second in [both.iloc[:2]]
    ]
    return float(np.median(shares))
