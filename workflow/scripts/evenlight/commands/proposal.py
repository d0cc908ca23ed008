"""The study of an audit, proposed from a table of texts and the files of a model; what is guessed is said.

The rules are plain, so that a reader can tell why a column was taken. What they do not decide is refused, with the
columns that are there.
"""

import re
import tempfile
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from textwrap import shorten

import numpy as np
import pandas as pd

from evenlight import configuration
from evenlight.core import sources
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError, all_of, suggestion
from evenlight.core.factors import JOINT
from evenlight.core.tables import read_table
from evenlight.datasets.importing import import_dataset, reader_of
from evenlight.datasets.rows import is_empty, name_of, named_rows
from evenlight.datasets.table import are_identifiers
from evenlight.models.architectures.trained import Trained
from evenlight.models.labels import labels_by_name, matched_labels, suggested_labels
from evenlight.models.published import Published, published
from evenlight.texts.items import check_explained

REMEDY = "correct the table, or the flag"
# Groups are few: a column with more values is taken for something else.
MOST_LEVELS = 10
# Of a column without a flag. A text has some words; a group that is guessed has few levels.
FEWEST_WORDS, MOST_GUESSED_LEVELS = 3, 5
# Variants of a text share so many of their words, in the median of so many pairs.
SHARED_WORDS, LOOKED_AT = 0.5, 200
# Pairs, or texts of each group, that are explained; all of a smaller table. Tokens around a text, at most.
MOST_EXPLAINED, AROUND = 2000, 16
# The longest text, in tokens, of a model whose files do not say it.
MOST_READ = 512
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


@dataclass(frozen=True)
class Proposal:
    """The settings of a study, what was guessed of it, and what is good to know of the table, a line each."""

    study: dict
    said: list[str]
    notes: list[str]


def proposed(asked: Asked) -> Proposal:
    """The study that audits a model on a table.

    Raises:
        InputError: with file, field and remedy for all that cannot be used or guessed.
    """
    found = all_of({"table": partial(_read, asked), "model": partial(published, asked.model, asked.revision)})
    table, model = found["table"], found["model"]
    said: list[str] = []
    text = asked.text or _guessed_text(asked, table, said)
    _refuse_other_than_texts(table[text], asked, text)
    _refuse_repeated(asked, table)
    label = asked.label or _guessed_label(asked, table, {text, asked.pair, asked.item}, model, said)
    made = all_of(
        {
            "classes": partial(_classes, asked, table[label], label, model, said),
            "groups": partial(_groups, asked, table, {text, asked.pair, asked.item}, label, said),
        }
    )
    levels = made["groups"]
    pair = asked.pair or _guessed_pair(table, text, levels, {text, label, asked.item, *levels}, said)
    columns = {"text": text, "label": label} | {k: v for k, v in (("pair", pair), ("item", asked.item)) if v}
    classes, labels = made["classes"]
    of_model = _model(asked, labels, model, table[text].dropna(), said)
    study = _study(asked, columns | {"classes": classes}, of_model, levels, said)
    units = table[pair].nunique() if pair else len(table)
    if units > MOST_EXPLAINED:
        study["explain"] = {"pairs": MOST_EXPLAINED}
        what = "pairs" if pair else "texts of each group"
        said.append(f"guessed: explain.pairs {MOST_EXPLAINED:,}, so many {what}, since the table has {units:,}")
    return Proposal(study, said, _notes_of(study))


def as_name(text: str) -> str:
    """A name that a study may have, from any text.

    >>> as_name("Tickets-2024 (süd)"), as_name("2024"), as_name("性别")
    ('tickets_2024_sud', 'x2024', 'x')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    return (name if name[:1].isalpha() else f"x{name}")[:60]


def _read(asked: Asked) -> pd.DataFrame:
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


def _one_of(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


# Texts and classes --------------------------------------------------------------------------------------------------


def _guessed_text(asked: Asked, table: pd.DataFrame, said: list[str]) -> str:
    """The column with the most words, where no other one has half as many."""
    taken = {asked.label, asked.pair, asked.item, *asked.groups}
    words = {name: _median_words(table[name]) for name in table if name not in taken}
    most = max(words, key=words.get, default=None)
    if most is None or words[most] < FEWEST_WORDS:
        raise _not_guessed(asked, table, "text", f"no column has texts of {FEWEST_WORDS} words or more")
    near = [name for name in words if 2 * words[name] >= words[most]]
    if len(near) > 1:
        raise _not_guessed(asked, table, "text", f"the texts may stand in {_one_of(near)}")
    said.append(f"guessed: --text {most!r}, since it has the most words ({words[most]:g} in the median)")
    return most


def _median_words(column: pd.Series) -> float:
    counts = [len(value.split()) for value in column.dropna()]
    return float(np.median(counts)) if counts else 0.0


def _refuse_other_than_texts(column: pd.Series, asked: Asked, name: str) -> None:
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


def _refuse_repeated(asked: Asked, table: pd.DataFrame) -> None:
    """Refuse identifiers of texts that several rows have."""
    names = table[asked.item].dropna() if asked.item else pd.Series()
    if (repeated := names.duplicated()).any():
        first = names[repeated].iloc[0]
        raise InputError(
            f"{asked.texts}: column {asked.item!r} (--item) has {first!r} in {(names == first).sum():,} rows; give "
            "each text an identifier of its own, or leave --item out"
        )


def _guessed_label(asked: Asked, table: pd.DataFrame, taken: set, model: Published, said: list[str]) -> str:
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
        why = f"{_one_of(fitting)} have {labels}" if fitting else f"no column has {labels}"
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


def _classes(
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


def _groups(asked: Asked, table: pd.DataFrame, taken: set, label: str, said: list[str]) -> dict[str, list[str]]:
    """The levels of each column of groups, in the order of the table; that of the labels where there is no other."""
    names = list(dict.fromkeys(asked.groups))
    if not names:
        few = [name for name in table if name not in taken and _may_be_groups(table[name])]
        few = [name for name in few if name != label] or few
        if len(few) != 1:
            why = f"groups may stand in {_one_of(few)}" if few else "no column has two to five names, each often"
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
            f"{where}: {_one_of(single)} has one text, and a comparison needs at least 2; leave the field empty in "
            "that row, join groups, or name those to compare, such as --compare "
            + " ".join(str(level) for level in counts.nlargest(2).index)
        )
    return levels


def _guessed_pair(
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


# The study ----------------------------------------------------------------------------------------------------------


def _study(
    asked: Asked,
    columns: Mapping[str, object],
    of_model: dict,
    groups: Mapping[str, list[str]],
    said: list[str],
) -> dict:
    names = _different_names(groups)
    compare = {names[column]: _compared(asked, levels) for column, levels in groups.items()}
    compare = {name: sides for name, sides in compare.items() if sides}
    if unknown := [level for sides in asked.compare for level in sides if level not in _all(groups)]:
        raise InputError(
            f"--compare {unknown[0]}: no group of {_one_of(list(groups))} in {asked.texts}, which has "
            f"{_one_of(_all(groups))}{suggestion(unknown[0], _all(groups))}"
        )
    if not compare:
        raise InputError(f"--compare {' '.join(asked.compare[0])}: these are no groups of one column; name two of one")
    counted = sum(map(len, compare.values()))
    if not asked.compare and counted > 1:
        said.append(f"guessed: --compare each group with each, {counted} comparisons; fewer need fewer texts")
    attributes = {names[column]: {"column": column, "levels": _named(levels)} for column, levels in groups.items()}
    name = as_name(Path(asked.texts).stem)
    dataset = {"reader": "table", "file": asked.texts, **columns, "attributes": attributes}
    return {
        "study": asked.study or f"audit_{name}",
        "datasets": {name: dataset},
        "models": {as_name(Path(asked.model).name): of_model},
        "statistics": {"compare": compare},
    }


def _model(asked: Asked, labels: Mapping[str, str | None], model: Published, texts: pd.Series, said: list[str]) -> dict:
    """The settings of the model, of which those that are not needed are left out."""
    if model.special_tokens:
        tokens = ", ".join(f"{token} as {role}" for role, token in model.special_tokens.items())
        said.append(f"guessed: special_tokens, since the model's tokenizer lacks them: {tokens}")
    settings = {
        "architecture": "trained",
        "source": asked.model,
        "revision": asked.revision,
        "classes": labels,
        "special_tokens": model.special_tokens,
    }
    return {key: value for key, value in settings.items() if value} | _lengths(texts, model, said)


def _lengths(texts: pd.Series, model: Published, said: list[str]) -> dict:
    """How long texts may be, where the workflow's own limit is not that of the model, or too short for the texts."""
    usual = Trained.model_fields["max_tokens"].default
    limit = model.limit or max(usual, MOST_READ)
    # Only these can have more tokens than that: a token is a byte or more, beside those around a text.
    long = [text for text in texts if len(text.encode()) + AROUND > min(usual, limit)]
    lengths = model.tokens(long) if long else None
    longest = 0 if lengths is None else int(lengths.max())
    if longest <= limit:
        longest = max(longest, min(usual, limit))
        if longest == usual:
            return {}
        why = "the longest text has as many tokens" if longest > usual else "the model reads no longer texts"
        said.append(f"taken: max_tokens {longest}, since {why}")
        return {"max_tokens": longest}
    left_out = int((lengths > limit).sum())
    reads = "that the model reads" if model.limit else "that are taken for its limit, since the model's files name none"
    said.append(
        f"guessed: long_items drop, so that {left_out:,} of {len(texts):,} texts are left out, of more than the "
        f"{limit} tokens {reads}; long_items: windows reads them in parts"
    )
    return {"max_tokens": limit, "long_items": "drop"}


def _all(groups: Mapping[str, list[str]]) -> list[str]:
    return [level for levels in groups.values() for level in levels]


def _different_names(columns: Sequence[str]) -> dict[str, str]:
    """A name for each column; of those that are called alike, the later ones have a number."""
    names: dict[str, str] = {}
    for column in columns:
        name = as_name(column)
        names[column] = name if name not in names.values() else f"{name}_{len(names) + 1}"
    return names


def _named(levels: list[str]) -> list[str] | dict[str, str]:
    """The levels; in place of the sign that joins levels of two factors stands a word."""
    return {level: _level_name(level) for level in levels} if any(JOINT in level for level in levels) else levels


def _level_name(level: str) -> str:
    return level.replace(JOINT, " and more")


def _compared(asked: Asked, levels: list[str]) -> list[list[str]]:
    pairs = [list(sides) for sides in asked.compare if set(sides) <= set(levels)] if asked.compare else []
    pairs = pairs if asked.compare else [list(sides) for sides in combinations(levels, 2)]
    return [[_level_name(level) for level in sides] for sides in pairs]


def _notes_of(study: dict) -> list[str]:
    """What the workflow's own reader says of the table, which is read as it will be.

    Raises:
        InputError: the configuration or the table cannot be used.
    """
    config = configuration.complete(study)
    [(name, settings)] = config["datasets"].items()
    _, reader = reader_of({"dataset": name} | settings)
    compared = {"comparisons": config["statistics"]["compare"], "strata": {}}
    with tempfile.TemporaryDirectory() as folder:
        items, units = Path(folder, "items.parquet"), Path(folder, "units.parquet")
        files = {file: Path(file) for file in reader.named_files()}
        notes = import_dataset(files, reader, name, items, units)
        test = read_table(items, ITEMS)
        test = test[test["split"] == "test"]
        check_explained(name, test, np.full(len(test), None), read_table(units, UNITS), compared)
    return [f"note: {note}" for note in notes]
