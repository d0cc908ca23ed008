"""The study of an audit, proposed from a table of texts and the files of a model; what is guessed is said."""

import re
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight import configuration
from evenlight.commands.columns import (
    Asked,
    classes_of,
    groups_of,
    guessed_label,
    guessed_pair,
    guessed_text,
    one_of,
    read_cells,
    refuse_other_than_texts,
    refuse_repeated,
)
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError, all_of, suggestion
from evenlight.core.factors import JOINT
from evenlight.core.tables import read_table
from evenlight.datasets.importing import import_dataset, reader_of
from evenlight.models.architectures.trained import Trained
from evenlight.models.published import Published, published
from evenlight.statistics.analyses.audit_changes import Filed, digests_of, known_clusters, read_filed
from evenlight.statistics.arrays.exact_tests import least_decided
from evenlight.statistics.comparisons.study import LEAST_TEXTS, pairs_of
from evenlight.texts.items import check_explained, forms_of

# Pairs, or texts of each group, that are explained; all of a smaller table. Tokens around a text, at most.
MOST_EXPLAINED, AROUND = 2000, 16
# The longest text, in tokens, of a model whose files do not say it.
MOST_READ = 512


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
    found = all_of(
        {
            "table": partial(read_cells, asked),
            "model": partial(published, asked.model, asked.revision),
            "filed": partial(_filed, asked),
        }
    )
    table, model = found["table"], found["model"]
    said: list[str] = []
    text = asked.text or guessed_text(asked, table, said)
    refuse_other_than_texts(table[text], asked, text)
    refuse_repeated(asked, table)
    label = asked.label or guessed_label(asked, table, {text, asked.pair, asked.item}, model, said)
    made = all_of(
        {
            "classes": partial(classes_of, asked, table[label], label, model, said),
            "groups": partial(groups_of, asked, table, {text, asked.pair, asked.item}, label, said),
        }
    )
    levels = made["groups"]
    pair = asked.pair or guessed_pair(table, text, levels, {text, label, asked.item, *levels}, said)
    columns = {"text": text, "label": label} | {k: v for k, v in (("pair", pair), ("item", asked.item)) if v}
    classes, labels = made["classes"]
    of_model = _model(asked, labels, model, table[text].dropna(), said)
    study = _study(asked, _names(asked, found["filed"]), columns | {"classes": classes}, of_model, levels, said)
    units = table[pair].nunique() if pair else len(table)
    if units > MOST_EXPLAINED:
        study["explain"] = {"pairs": MOST_EXPLAINED}
        what = "pairs" if pair else "texts of each group"
        said.append(f"guessed: explain.pairs {MOST_EXPLAINED:,}, so many {what}, since the table has {units:,}")
    return Proposal(study, said, _notes_of(study, found["filed"]))


def as_name(text: str) -> str:
    """A name that a study may have, from any text.

    >>> as_name("Tickets-2024 (süd)"), as_name("2024"), as_name("性别")
    ('tickets_2024_sud', 'x2024', 'x')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    return (name if name[:1].isalpha() else f"x{name}")[:60]


def _filed(asked: Asked) -> Filed | None:
    """The last audit, where one is named."""
    return None if asked.baseline is None else read_filed(Path(asked.baseline))


def _names(asked: Asked, filed: Filed | None) -> dict[str, str]:
    """What the ``dataset`` and the ``model`` are called: as in the last audit, if that has one of each, so that its
    comparisons are found again.
    """
    names = {"dataset": as_name(Path(asked.texts).stem), "model": as_name(Path(asked.model).name)}
    if filed is None:
        return names
    of = filed.comparisons
    return {name: str(of[name][0]) if of[name].nunique() == 1 else own for name, own in names.items()}


def _study(
    asked: Asked,
    names_of: Mapping[str, str],
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
            f"--compare {unknown[0]}: no group of {one_of(list(groups))} in {asked.texts}, which has "
            f"{one_of(_all(groups))}{suggestion(unknown[0], _all(groups))}"
        )
    if not compare:
        raise InputError(f"--compare {' '.join(asked.compare[0])}: these are no groups of one column; name two of one")
    counted = sum(map(len, compare.values()))
    if not asked.compare and counted > 1:
        said.append(f"guessed: --compare each group with each, {counted} comparisons; fewer need fewer texts")
    attributes = {names[column]: {"column": column, "levels": _named(levels)} for column, levels in groups.items()}
    dataset = {"reader": "table", "file": asked.texts, **columns, "attributes": attributes}
    return {
        "study": asked.study or f"audit_{as_name(Path(asked.texts).stem)}",
        "datasets": {names_of["dataset"]: dataset},
        "models": {names_of["model"]: of_model},
        "statistics": {"compare": compare},
    } | ({"audit": {"baseline": asked.baseline}} if asked.baseline else {})


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
    if asked.compare:
        pairs = [sides for sides in asked.compare if set(sides) <= set(levels)]
    else:
        pairs = combinations(levels, 2)
    return [[_level_name(level) for level in sides] for sides in pairs]


def _notes_of(study: dict, filed: Filed | None) -> list[str]:
    """What the workflow's own reader says of the table, which is read as it will be; and what is new in it.

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
        read = read_table(units, UNITS)
        check_explained(name, test, np.full(len(test), None), read, compared)
    of_test = read[read["item_id"].isin(test["item_id"])]
    if reader.has_pairs():
        notes += _too_few_pairs(of_test, test.set_index("item_id")["cluster"], config)
    else:
        notes += _too_few_texts(of_test, compared["comparisons"])
    if filed is not None:
        notes.append(_new_texts(config["audit"]["baseline"], filed, name, test))
    return [f"note: {note}" for note in notes]


def _too_few_pairs(units: pd.DataFrame, cluster: pd.Series, config: Mapping) -> Iterator[str]:
    """Of groups with too few pairs for a verdict, win what may; pairs of a cluster have one vote."""
    compared = pairs_of(config["statistics"]["compare"])
    explainers = len(config["explainers"]) - len(configuration.no_hypotheses(config))
    size = len(compared) * explainers * len(config["metrics"])
    least = least_decided(size, config["statistics"]["alpha"])
    for pair in compared:
        forms = forms_of(units, pair.factor)
        a, b = (forms.loc[forms["level"] == level, "unit_id"] for level in pair.levels)
        votes = forms.loc[forms["unit_id"].isin(np.intersect1d(a, b)), "item_id"].map(cluster).nunique()
        if votes < least:
            yield (
                f"{votes} independent pairs of {' and '.join(pair.levels)} are too few for a verdict among {size:,} "
                f"comparisons: even where one group wins all, {least} that are not tied are needed; add pairs, or "
                "compare less"
            )


def _too_few_texts(units: pd.DataFrame, comparisons: Mapping[str, Sequence[Sequence[str]]]) -> Iterator[str]:
    """Of groups with too few texts for a verdict, where there are no pairs."""
    for factor, sets in comparisons.items():
        texts = forms_of(units, factor).groupby("level")["item_id"].nunique()
        few = texts[texts.index.isin({*chain(*sets)}) & (texts < LEAST_TEXTS)]
        if len(few):
            listed = ", ".join(f"{level} ({count})" for level, count in few.items())
            yield (
                f"without pairs a verdict takes {LEAST_TEXTS} texts of each group, so nothing will be decided of "
                f"{factor} {listed}; add texts, or name the column of pairs by --pair"
            )


def _new_texts(baseline: str, filed: Filed, dataset: str, items: pd.DataFrame) -> str:
    """How many texts the last audit has not judged.

    Raises:
        InputError: none, so that no change can be told.
    """
    known = known_clusters(digests_of(items), filed.texts.get(dataset, ()))
    new = int((~items["cluster"].isin(known)).sum())
    if not new:
        raise InputError(
            f"--baseline {baseline}: that audit has judged all {len(items):,} texts, or others of their cluster, and a "
            "change is told by new texts alone; name a table with new ones, or leave --baseline out"
        )
    return f"a change since the last audit is told by {new:,} of {len(items):,} texts, which it has not judged"
