"""What users say of a table of scores beside its columns: margins, directions, levels and a plan."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral, Real

import numpy as np

from evenlight.core.errors import InputError, suggestion
from evenlight.judging.cells import Cells
from evenlight.statistics.arrays.multiple_testing import LEAST_PLANNED, ONE_LOOK, Looks
from evenlight.statistics.arrays.units import threshold

# How messages name an argument of judge: at their beginning, or with "=" behind it.
NAMED = re.compile(r"^(\w+)(?=: )|(?<![\w-])(\w+)=(?!\w)")
DIRECTIONS = ("higher", "lower")
# Metrics that a line names.
SHOWN = 8


@contextmanager
def named_as(names: Mapping[str, str]) -> Iterator[None]:
    """What a block refuses names arguments of judge as its users do, who write no Python."""
    try:
        yield
    except InputError as error:
        raise InputError(*(renamed(problem, names) for problem in error.problems)) from None


def renamed(said: str, names: Mapping[str, str]) -> str:
    """A message or a note with other names of the arguments of judge.

    >>> renamed("unit: found 1; name it by cell=, or add rows", {"unit": "--unit", "cell": "--cell"})
    '--unit: found 1; name it by --cell, or add rows'
    """
    return NAMED.sub(lambda found: names.get(found[1] or found[2], found[0]), said)


def share(name: str, given: object) -> float:
    """A number between 0 and 1."""
    if not isinstance(given, Real) or isinstance(given, bool) or not 0 < given < 1:
        raise InputError(f"{name}: found {given!r}; give a number between 0 and 1, such as 0.05")
    return float(given)


def one_of(name: str, given: object, allowed: Sequence[str]) -> str:
    """One of some words."""
    if given not in allowed:
        raise InputError(f"{name}: found {given!r}; give {' or '.join(allowed)}{suggestion(given, allowed)}")
    return str(given)


def whole(name: str, given: object, least: int) -> int:
    """A whole number that is not too small."""
    if not isinstance(given, Integral) or isinstance(given, bool) or given < least:
        raise InputError(f"{name}: found {given!r}; give a whole number of at least {least}")
    return int(given)


def by_metric(name: str, given: object, cells: Cells) -> dict[str, object]:
    """What is said of metrics, by their names: of all the same, or of each by a mapping.

    The name of the only column with scores stands for all of its metrics.

    Raises:
        InputError: there is no such metric.
    """
    metrics, columns = cells.metrics, list(cells.table.scores)
    if not isinstance(given, Mapping):
        return dict.fromkeys(metrics, given)
    found = {}
    for metric, value in given.items():
        if metric not in metrics and columns != [metric]:
            there = f"there {'are' if len(metrics) > 1 else 'is'} {listed(metrics)}"
            raise InputError(f"{name}: names metric {metric!r}; {there}{suggestion(metric, metrics)}")
        found |= {metric: value} if metric in metrics else dict.fromkeys(metrics, value)
    return found


def listed(names: Sequence[str]) -> str:
    """Some names, the first ones where they are many."""
    return ", ".join(map(repr, names[:SHOWN])) + f" and {len(names) - SHOWN:,} more" * (len(names) > SHOWN)


def directions(given: str | Mapping[str, str] | None, cells: Cells) -> tuple[dict[str, bool], list[str]]:
    """Of each metric whether higher scores are better, and what is guessed of that."""
    said = by_metric("better", {} if given is None else given, cells)
    for way in said.values():
        one_of("better", way, DIRECTIONS)
    unsaid = [metric for metric in cells.metrics if metric not in said]
    guesses = [f"better: higher, for {listed(unsaid)}"] if unsaid else []
    return {metric: said.get(metric) != "lower" for metric in cells.metrics}, guesses


def margins(given: float | Mapping[str, float], cells: Cells) -> dict[str, float]:
    """The margin of each metric that has one.

    Raises:
        InputError: one is no margin, or is lost in rounding, or is wider than all that scores differ by.
    """
    said = by_metric("margin", given, cells)
    for value in said.values():
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= value < np.inf:
            raise InputError(f"margin: found {value!r}; give a number that is not negative, in the units of the scores")
    found = {metric: float(value) for metric, value in said.items() if value}
    if not found:
        return {}
    place = cells.table.place
    for metric, scores in cells.scores_by_metric():
        rounding, margin = float(threshold(scores)[0]), found.get(metric)
        span = float(scores.max() - scores.min())
        if margin is not None and 0 < rounding > margin:
            raise InputError(
                f"margin: found {margin:g} for '{metric}' of {place}, and scores of this size are rounded to "
                f"{rounding:.2g}; name a larger margin, or leave it out, as rounding never counts"
            )
        if margin is not None and 0 < span < margin:
            raise InputError(
                f"margin: found {margin:g} for '{metric}' of {place}, whose scores differ by {span:.3g} at most, so "
                "that every pair would be a tie; name a smaller margin, in the units of the scores"
            )
    return found


def primary_cells(given: Mapping[str, Sequence[str]] | None, cells: Cells) -> dict[str, tuple[str, ...]]:
    """The comparisons that matter, by the columns of a cell as tables of a study call them.

    Raises:
        InputError: no column of a cell, or no name in it, is called so.
    """
    found, table = {}, cells.table
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f'primary: found {given!r}; give columns of a cell with names, such as {{"metric": ["gini"]}}')
    roles = {column: role for role, column in table.of_cell.items()}
    roles |= {role: role for role in (*table.of_cell, "metric")}
    for column, names in (given or {}).items():
        if column not in roles:
            raise InputError(f"primary: names column {column!r}; a cell has {listed(list(roles))}, name one of these")
        there = cells.metrics if roles[column] == "metric" else table.names[roles[column]]
        names = (names,) if isinstance(names, str) else tuple(names)
        for name in names:
            if name not in there:
                raise InputError(
                    f"primary: column '{column}' has no {name!r}; it has {listed(there)}{suggestion(name, there)}"
                )
        found[roles[column]] = names
    return found


def looks_planned(planned: Sequence[int] | None, spending: str, cells: Cells) -> Looks:
    """The interim analyses that the table has units for.

    Raises:
        InputError: the numbers do not rise, or the table has fewer units than the first of them.
    """
    if planned is None:
        return ONE_LOOK
    planned = planned if isinstance(planned, list | tuple) else [planned]
    numbers = tuple(whole("planned", number, LEAST_PLANNED) for number in planned)
    if not numbers or list(numbers) != sorted(set(numbers)):
        raise InputError(f"planned: found {list(planned)}; give numbers of units that rise, such as 100, 200, 400")
    there = cells.units()
    made = tuple(number for number, units in enumerate(numbers) if units <= there)
    if not made:
        raise InputError(
            f"planned: the first interim analysis has {numbers[0]:,} units, and {cells.table.place} has {there:,}; add "
            "units, and judge it then"
        )
    return Looks(numbers, made, spending)


def look_notes(looks: Looks, alpha: float, cells: Cells) -> list[str]:
    """What a reader must know of the interim analyses."""
    if looks.is_one:
        return []
    made, planned, there = looks.units[-1], looks.planned, cells.units()
    waiting = f". {there - made:,} units wait for the next one" if there > made and made < planned[-1] else ""
    more = f". {there - made:,} units are beyond the plan and do not count" if there > made == planned[-1] else ""
    return [
        f"interim analysis {planned.index(made) + 1} of {len(planned)}, of the first {made:,} units: "
        f"{looks.spent(alpha)[-1]:.2g} of the level {alpha:g} is spent. Verdicts hold over all analyses of the plan if "
        f"it was written before the first one, and new units stand behind the others{waiting}{more}"
    ]


def constant_metrics(cells: Cells) -> list[str]:
    """The metrics of which all scores are equal, so that they decide nothing."""
    return [name for name, scores in cells.scores_by_metric() if scores.min() == scores.max()]


def constant_notes(constant: Sequence[str], cells: Cells) -> list[str]:
    """That such metrics decide nothing, and what to do."""
    if not constant:
        return []
    columns = list(cells.table.scores)
    of = "column" if columns == cells.metrics else f"column '{columns[0]}', metric"
    return [
        f"{cells.table.place}: {of} {listed(constant)}: all scores are equal, so that every pair is a tie; look at "
        "what made them, or leave them out"
    ]


def moved_notes(cells: Cells) -> list[str]:
    """Which columns of a cell have another name in the tables."""
    moved = {role: column for role, column in cells.table.of_cell.items() if role != column}
    return [f"column '{column}' stands as '{role}' in tables and pages" for role, column in moved.items()]
