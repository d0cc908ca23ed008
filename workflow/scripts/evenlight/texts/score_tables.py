"""A table of scores that were made anywhere: a row for each score, and columns that say of what and of whom it is.

A *unit* is what is compared, such as a pair of texts, a question or a text; its rows of two *groups* are held against
each other, in each *cell* by itself: a model, a metric, a task.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from evenlight.core.errors import InputError, first_line, suggestion
from evenlight.texts.logs import HARNESS, INSPECT, log_scores

# What a cell is named by in the tables of a study. Columns of other names take the first of these that is free.
NAMES = ("dataset", "model", "explainer", "metric")
# Under which names columns are guessed that nobody has named, in this order.
GUESSES = {
    "unit": ("unit", "unit_id", "pair", "pair_id"),
    "group": ("group", "level"),
    "score": ("score", "value"),
    "repeat": ("seed",),
    "cluster": ("cluster",),
    "stratum": ("stratum",),
}
WHAT = {
    "unit": "what is compared, such as a pair of texts or a question",
    "group": "the groups, such as male and female",
    "score": "the numbers",
}
# Words that stand for a score that is not there, and truth values, whatever the case of letters.
UNDEFINED = {"", "na", "n/a", "nan", "null", "none", "-"}
TRUTH = {"true": "1", "false": "0"}
PARSING = pyarrow.csv.ParseOptions(newlines_in_values=True)
# Rows that a message names.
SHOWN = 5
# Groups that are compared each with each, unless some are named.
MOST_GROUPS = 6
# A column with so many values at most may be a part of what scores are of.
FEW_VALUES = 50


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns say what.

    Attributes:
        unit, group: of the unit, and of its group.
        score: with scores, at least one. Of several each is a metric.
        cell: those that name a cell.
        repeat: of what is repeated, such as the seed of a model; scores are averaged over it.
        cluster: of what is one vote, or independent, where that is more than a unit.
        stratum: within which units are compared.
    """

    unit: str
    group: str
    score: tuple[str, ...]
    cell: tuple[str, ...] = ()
    repeat: str | None = None
    cluster: str | None = None
    stratum: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns that hold names, and no scores."""
        return [self.unit, self.group, *self.cell, *filter(None, (self.repeat, self.cluster, self.stratum))]


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """A table that was read: what stands in each row that has a group, by number.

    Attributes:
        place: the file, or what it is called in messages.
        columns: which say what.
        frame: all rows as they came, with all columns.
        places: which rows of these the table has, int (rows,).
        codes: int (rows,) of each of :data:`NAMES` that is not given by the name of a column of scores, of ``unit``,
            ``group``, ``repeat``, ``cluster`` and ``stratum``; −1 where a stratum is missing.
        names: what these numbers stand for, in the order in which they first occur.
        scores: of each column float (rows,), NaN where one is missing.
        notes: what a reader must know of it.
    """

    place: str
    columns: Columns
    frame: pd.DataFrame
    places: np.ndarray
    codes: Mapping[str, np.ndarray]
    names: Mapping[str, Sequence[str]]
    scores: Mapping[str, np.ndarray]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.places)

    @property
    def of_cell(self) -> dict[str, str]:
        """The column behind each of :data:`NAMES` that a cell has."""
        return {role: name for role, name in _roles(self.place, self.columns).items() if role in NAMES}

    def rows(self, chosen: np.ndarray) -> "ScoreTable":
        """Some of its rows, by number or bool; names stay as they are."""
        return replace(
            self,
            places=self.places[chosen],
            codes={role: codes[chosen] for role, codes in self.codes.items()},
            scores={name: scores[chosen] for name, scores in self.scores.items()},
        )


def read_score_table(
    scores: pd.DataFrame | str | Path | Sequence[str | Path], named: Mapping[str, str | Sequence[str] | None]
) -> tuple[ScoreTable, list[str]]:
    """A table of scores, and what was guessed of its columns, a sentence each.

    Args:
        scores: a table, the path of a CSV or Parquet file, or the paths of logs (:mod:`evenlight.texts.logs`), in which
            names with a point are fields of samples.
        named: of the fields of :class:`Columns` those that a user has named; an empty name is for none.

    Raises:
        InputError: it cannot be read, has no such column, or something in it is no score or has no name.
    """
    place = str(scores) if isinstance(scores, str | Path) else "the table of scores"
    if _are_logs(scores):
        paths = [Path(scores)] if isinstance(scores, str | Path) else [Path(path) for path in scores]
        scores = log_scores(paths, _fields_of(named))
        place = str(paths[0]) + f" and {len(paths) - 1:,} more" * (len(paths) > 1)
    if isinstance(scores, pd.DataFrame):
        if any(name is not None for name in scores.index.names):
            scores = scores.reset_index(allow_duplicates=True)
        scores = scores.set_axis([str(name) for name in scores.columns], axis=1)
    columns, guesses = _columns(place, _column_names(scores), named)
    frame = scores if isinstance(scores, pd.DataFrame) else _read_file(Path(scores), columns)
    if frame.empty:
        raise InputError(f"{place}: has no row; give a row for each score")
    table, notes = _numbered(place, frame, columns)
    return replace(table, notes=tuple(notes)), guesses


def _are_logs(scores: object) -> bool:
    """Whether these are paths of logs; of several files all must be."""
    paths = [scores] if isinstance(scores, str | Path) else scores
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str | Path) for path in paths):
        return False
    tables = [str(path) for path in paths if Path(path).suffix.lower() not in INSPECT + HARNESS]
    if tables and len(paths) > 1:
        raise InputError(f"{tables[0]}: is no log, and only logs may be several files; put tables into one")
    return not tables


def _fields_of(named: Mapping) -> dict[str, str]:
    """The fields of samples that columns are named by, and the arguments that name them."""
    listed = [(role, name) for role, value in named.items() for name in _names_given(value)]
    return {name: role for role, name in listed if "." in name}


# Which columns --------------------------------------------------------------------------------------------------------


def _columns(place: str, there: Sequence[str], named: Mapping) -> tuple[Columns, list[str]]:
    """The columns of a table, and what was guessed of them."""
    twice = sorted({name for name in there if list(there).count(name) > 1})
    if twice:
        raise InputError(f"{place}: has two columns '{twice[0]}'; give one of them another name")
    chosen: dict[str, Any] = {}
    problems = []
    for role in (field.name for field in fields(Columns)):
        several, names = role in ("score", "cell"), _names_given(named.get(role))
        if not several and len(names) > 1:
            problems.append(f"{role}: found {names}; name one column")
        for name in names:
            if name not in there:
                problems.append(f"{place}: has no column {name!r}, which {role}= names; {_there(name, there)}")
        chosen[role] = tuple(names) if several else next(iter(names), None)
    if problems:
        raise InputError(*problems)
    guesses = _guess(place, there, chosen, {role for role in named if named[role] is not None})
    used = _names_in(chosen)
    for name in used:
        if used.count(name) > 1:
            roles = [role for role, value in chosen.items() if name in _names_in({role: value})]
            raise InputError(f"{place}: column '{name}' is named as {' and as '.join(roles)}; name another one")
    return Columns(**chosen), guesses


def _names_given(given: object) -> list[str]:
    """The columns that a user has named for a role; an empty name is for none."""
    if given is None:
        return []
    names = given if isinstance(given, list | tuple) else [given]
    return [str(name) for name in names if str(name)]


def _names_in(chosen: Mapping[str, Any]) -> list[str]:
    """The columns that are chosen, one after the other."""
    return [name for value in chosen.values() for name in ([value] if isinstance(value, str) else value or ())]


def _guess(place: str, there: Sequence[str], chosen: dict[str, Any], given: set[str]) -> list[str]:
    """Fill in columns that nobody has named, and say so.

    Raises:
        InputError: one that must be there is not known.
    """
    guesses = []
    taken = set(_names_in(chosen))
    for role, candidates in GUESSES.items():
        if role in given:
            continue
        found = next((name for name in candidates if name in there and name not in taken), None)
        if found is None and role in WHAT:
            free = [name for name in there if name not in taken]
            which = f", one of {', '.join(free)}" if free else "; where there is none, add one that numbers the rows"
            raise InputError(f"{place}: no column is named that has {WHAT[role]}; name it by {role}={which}")
        if found is not None:
            chosen[role] = (found,) if role == "score" else found
            taken.add(found)
            guesses.append(f"{role}: column '{found}'")
    if "cell" not in given:
        free = [name for name in NAMES if name in there and name not in taken]
        if len(chosen["score"]) > 1:
            free = [name for name in free if name != "metric"]
        chosen["cell"] = tuple(free)
        if free:
            guesses.append(f"cell: {_listed('column', free)}")
    return guesses


def _there(name: str, there: Sequence[str]) -> str:
    return f"there are {', '.join(map(str, there))}{suggestion(name, there)}"


def _listed(what: str, names: Sequence[str]) -> str:
    """Some names in quotation marks.

    >>> _listed("column", ["model", "metric"])
    "columns 'model', 'metric'"
    """
    return f"{what}{'s' * (len(names) > 1)} {', '.join(repr(str(name)) for name in names)}"


# Files ----------------------------------------------------------------------------------------------------------------


def _column_names(scores: pd.DataFrame | str | Path) -> list[str]:
    if isinstance(scores, pd.DataFrame):
        return list(scores.columns)
    if not isinstance(scores, str | Path):
        raise InputError(
            f"scores: found {type(scores).__name__}; give a pandas DataFrame, a CSV or Parquet file, or logs"
        )
    path = Path(scores)
    with _readable(path):
        if path.suffix.lower() == ".parquet":
            return pq.read_schema(path).names
        if path.suffix.lower() == ".csv":
            with pa.csv.open_csv(path, parse_options=PARSING) as reader:
                return reader.schema.names
    raise InputError(f"{path}: ends in {path.suffix or 'nothing'}; give a file that ends in .csv or .parquet, or a log")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """What a block reads of a file; an error of it is an :class:`InputError`."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; give the path of a CSV or Parquet file with scores")
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: cannot be read as {path.suffix.lstrip('.')} ({first_line(error)}); write it again, with UTF-8 "
            "and a line of column names where it is CSV"
        ) from None


def _read_file(path: Path, columns: Columns) -> pd.DataFrame:
    """The rows of a file; names as categories, which need little memory."""
    with _readable(path):
        if path.suffix.lower() == ".parquet":
            return pq.read_table(path).to_pandas(ignore_metadata=True)
        names = pa.dictionary(pa.int32(), pa.string())
        types = dict.fromkeys(columns.names, names)
        try:
            return _read_csv(path, types | dict.fromkeys(columns.score, pa.float64()))
        except pa.ArrowInvalid:
            # Some score is no number; which one is told where it is read as one.
            return _read_csv(path, types | dict.fromkeys(columns.score, pa.string()))


def _read_csv(path: Path, types: Mapping[str, pa.DataType]) -> pd.DataFrame:
    others = [name for name in _column_names(path) if name not in types]
    options = pa.csv.ConvertOptions(
        column_types=dict(types) | dict.fromkeys(others, pa.dictionary(pa.int32(), pa.string())),
        null_values=[""],
        strings_can_be_null=True,
    )
    return pa.csv.read_csv(path, convert_options=options, parse_options=PARSING).to_pandas()


# Rows -----------------------------------------------------------------------------------------------------------------


def _numbered(place: str, frame: pd.DataFrame, columns: Columns) -> tuple[ScoreTable, list[str]]:
    """The table with numbers in the place of names, without rows that have no group, and notes."""
    roles = _roles(place, columns)
    read = {role: _codes(frame[name]) for role, name in roles.items()}
    problems = [
        _missing(place, roles[role], codes)
        for role, (codes, _) in read.items()
        if role not in ("group", "stratum") and (codes < 0).any()
    ]
    scores, notes = {}, []
    for name in columns.score:
        try:
            scores[name] = _numbers(place, name, frame[name])
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(*problems)
    table = ScoreTable(
        place=place,
        columns=columns,
        frame=frame,
        places=np.arange(len(frame)),
        codes={role: codes for role, (codes, _) in read.items()},
        names={role: names for role, (_, names) in read.items()},
        scores=scores,
    )
    if without := int((table.codes["group"] < 0).sum()):
        notes.append(f"{place}: {without:,} of {len(frame):,} rows have no '{columns.group}' and do not count")
        table = table.rows(table.codes["group"] >= 0)
    for name, values in table.scores.items():
        if missing := int(np.isnan(values).sum()):
            notes.append(f"{place}, column '{name}': {missing:,} of {len(table):,} rows have no score and do not count")
    return table, notes


def _roles(place: str, columns: Columns) -> dict[str, str]:
    """The column of each role, :data:`NAMES` among them."""
    roles = {name: name for name in NAMES if name in columns.cell}
    if len(columns.score) > 1 and "metric" in roles:
        raise InputError(
            f"{place}: has {_listed('column', columns.score)} with scores, of which each is a metric, and cell names "
            "'metric', too; give one column with scores, or leave 'metric' out"
        )
    free = [name for name in NAMES if name not in roles and (name != "metric" or len(columns.score) == 1)]
    others = [name for name in columns.cell if name not in roles]
    if len(others) > len(free):
        raise InputError(
            f"cell: names {_listed('column', columns.cell)}, and a cell has {len(NAMES)} at most; put several of them "
            f"together in one column, such as table['{others[-2]}'] + ' ' + table['{others[-1]}']"
        )
    roles |= dict(zip(free, others, strict=False))
    roles |= {"unit": columns.unit, "group": columns.group}
    others = {role: getattr(columns, role) for role in ("repeat", "cluster", "stratum")}
    return roles | {role: name for role, name in others.items() if name}


def _codes(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """Numbers from 0 for the names of a column, in the order in which they first occur, −1 where there is none.

    >>> codes, names = _codes(pd.Series([2.0, None, 1.0, 2.0]))
    >>> codes.tolist(), names
    ([0, -1, 1, 0], ['2', '1'])
    """
    try:
        codes, values = pd.factorize(column)
    except TypeError:
        raise InputError(
            f"the table of scores: column '{column.name}' has lists or mappings, which name nothing; name another"
        ) from None
    names = [_name(value) for value in values]
    if len(set(names)) == len(names) and "" not in names:
        return codes, names
    # A text and a number may have one name, and an empty one is none.
    again, different = pd.factorize(pd.Series([name or None for name in names], dtype=object))
    return np.append(again, -1)[codes], list(different)


def _name(value: object) -> str:
    """What a value is called; a whole number without a point, as it has in a file.

    >>> _name(3.0), _name("a"), _name(0.5)
    ('3', 'a', '0.5')
    """
    is_whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if is_whole else str(value)


def _missing(place: str, column: str, codes: np.ndarray) -> str:
    rows = np.flatnonzero(codes < 0)
    return f"{place}: column '{column}' is empty in {rows_named(rows)}; fill it in, or leave the {_plural(rows)} out"


def _plural(rows: np.ndarray) -> str:
    return "rows" if len(rows) > 1 else "row"


def rows_named(rows: np.ndarray) -> str:
    """Rows of a table by number, the first one after the names of columns is 1.

    >>> rows_named(np.array([0, 4])), rows_named(np.arange(9))
    ('rows 1, 5', 'rows 1, 2, 3, 4, 5, … (9 rows)')
    """
    shown = ", ".join(str(row + 1) for row in rows[:SHOWN])
    return f"{_plural(rows)} {shown}" + f", … ({len(rows):,} rows)" * (len(rows) > SHOWN)


def _numbers(place: str, name: str, column: pd.Series) -> np.ndarray:
    """The scores of a column, float (rows,), NaN where one is not there."""
    kinds = pd.api.types
    if kinds.is_bool_dtype(column) or (kinds.is_numeric_dtype(column) and not kinds.is_complex_dtype(column)):
        numbers = column.to_numpy(dtype=float, na_value=np.nan)
    else:
        words = column.astype(object).where(column.notna(), "").astype(str).str.strip()
        small = words.str.lower()
        words = small.replace(TRUTH).where(~small.isin(UNDEFINED), "nan")
        numbers = pd.to_numeric(words, errors="coerce").to_numpy(dtype=float)
        wrong = np.flatnonzero(np.isnan(numbers) & (words != "nan").to_numpy())
        if len(wrong):
            raise InputError(
                f"{place}: column '{name}' has no number in {rows_named(wrong)}: found {column.iloc[wrong[0]]!r}; give "
                "a number with a point, or nothing where a score is undefined"
            )
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise InputError(
            f"{place}: column '{name}' is infinite in {rows_named(infinite)}; leave the score empty where it is "
            "undefined"
        )
    if np.isnan(numbers).all():
        raise InputError(f"{place}: column '{name}' has no score at all; name the column that has them by score=")
    return numbers


def telling_column(table: ScoreTable, rows: np.ndarray) -> str | None:
    """A column that nobody has named and that tells some rows of one unit, group and cell apart; None without one.

    Columns with many values, as those of texts or of other scores, tell any rows apart.
    """
    used = {*table.columns.names, *table.columns.score}
    some = table.frame.iloc[table.places[rows]]
    for name in table.frame.columns:
        try:
            tells = name not in used and some[name].nunique(dropna=False) == len(some)
            if tells and table.frame[name].nunique() <= FEW_VALUES:
                return name
        except TypeError:  # lists and mappings
            continue
    return None


def pairs_compared(table: ScoreTable, compare: Iterable | None) -> tuple[list[tuple[str, str]], list[str]]:
    """Which groups are compared with which, and what was guessed of that.

    Args:
        table: the scores.
        compare: two groups, or several times two; None for all.

    Raises:
        InputError: there is no such group, or one has a single unit.
    """
    place, column = table.place, table.columns.group
    groups = len(table.names["group"])
    of_units = pd.unique(table.codes["unit"].astype(np.int64) * groups + table.codes["group"])
    units = np.bincount(of_units % groups, minlength=groups)
    there = {name: int(count) for name, count in zip(table.names["group"], units, strict=True) if count}
    if len(there) < 2:
        raise InputError(
            f"{place}: column '{column}' has one group, '{next(iter(there), '')}', and a comparison needs two; name "
            "another column by group=, or add the rows of the other group"
        )
    if compare is None:
        if len(there) > MOST_GROUPS:
            raise InputError(
                f"{place}: column '{column}' has {len(there):,} groups; say which are compared by "
                f"compare=, such as {_two(there)}, or name another column by group="
            )
        pairs = [(a, b) for number, a in enumerate(there) for b in list(there)[number + 1 :]]
        guesses = [f"compare: {' and '.join(f'{a} with {b}' for a, b in pairs)}"]
    else:
        if isinstance(compare, str) or not isinstance(compare, Iterable):
            raise InputError(f"compare: found {compare!r}; name two groups, such as {_two(there)}")
        given = list(compare)
        given = given if all(isinstance(each, list | tuple) for each in given) else [given]
        pairs, guesses = [_pair(table, pair, there) for pair in given], []
        if len({frozenset(pair) for pair in pairs}) < len(pairs):
            raise InputError(f"compare: found {pairs}, in which two groups stand twice; name them once")
    for group in dict.fromkeys(group for pair in pairs for group in pair):
        if there[group] < 2:
            raise InputError(
                f"{place}: group '{group}' of column '{column}' has one unit, and a comparison needs at least 2; add "
                "units, or name other groups by compare="
            )
    return pairs, guesses


def _two(there: Iterable[str]) -> str:
    """The first two groups, as an example."""
    return " and ".join(map(repr, list(there)[:2]))


def _pair(table: ScoreTable, pair: Sequence, there: Mapping[str, int]) -> tuple[str, str]:
    names = tuple(map(_name, pair))
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(f"compare: found {names}; name two different groups, such as {_two(there)}")
    for name in names:
        if name not in there:
            raise InputError(
                f"{table.place}: column '{table.columns.group}' has no group {name!r}, which compare= names; "
                f"{_there(name, list(there)[:20])}"
            )
    return names
