"""The study as the statistics and figures see it: names and labels in order, group pairs, runs and their files."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from evenlight.errors import InputError

SCORE_LAYOUT = "{dataset}/{model}/seed{seed}/{family}.parquet"
READING_LAYOUT = "{dataset}/{model}/seed{seed}.parquet"


@dataclass(frozen=True)
class Metric:
    """A metric's name in the files, its name for readers, and which scores are the better ones."""

    name: str
    label: str
    higher_is_better: bool

    @property
    def label_with_direction(self) -> str:
        """The label with an arrow in the direction of better scores."""
        # With a no-break space, so that no line begins with the arrow.
        return f"{self.label}\N{NO-BREAK SPACE}{'↑' if self.higher_is_better else '↓'}"


@dataclass(frozen=True)
class Run:
    """One model trained with one seed on one dataset."""

    dataset: str
    model: str
    seed: int

    def __str__(self) -> str:
        return f"dataset '{self.dataset}', model '{self.model}', seed {self.seed}"


class Comparison(NamedTuple):
    """Two levels of a factor that are compared: a positive d means that the first has higher scores."""

    factor: str
    level_a: str
    level_b: str

    @property
    def levels(self) -> tuple[str, str]:
        """Both levels, in order."""
        return self.level_a, self.level_b

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """The rows of a table that are about this comparison."""
        return table[(table[["factor", "level_a", "level_b"]] == list(self)).all(axis=1)]


def required(settings: dict, key: str):
    """The value of a dotted ``key`` such as ``statistics.alpha``; :class:`InputError` where there is none."""
    value = settings
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            raise InputError(f"configuration: '{key}' is missing from the settings; add it")
        value = value[part]
    return value


def names(settings: dict, section: str) -> list[str]:
    """The names in ``datasets``, ``models``, ``explainers`` or ``metrics``, in configured order.

    A section is a mapping or a plain list of names. ``order``, where the settings have it, gives the order of a
    mapping whose own was lost: rules pass JSON with sorted keys.
    """
    entries = required(settings, section)
    return list(settings.get("order", {}).get(section, entries))


def labels(settings: dict, section: str) -> dict[str, str]:
    """Name to label of all entries of ``section`` (see :func:`names`); the name where there is no label."""
    entries = required(settings, section)
    if isinstance(entries, list):
        entries = {}
    return {name: (entries.get(name) or {}).get("label", name) for name in names(settings, section)}


def label_of(settings: dict, section: str, name: str) -> str:
    """The label of one dataset, model or explainer."""
    known = labels(settings, section)
    if name not in known:
        raise InputError(f"configuration: '{section}' has no '{name}' (it has {', '.join(known)}); correct the name")
    return known[name]


def metrics(settings: dict) -> dict[str, Metric]:
    """The configured metrics by name, in order."""
    found = {}
    for name, label in labels(settings, "metrics").items():
        better = required(settings, f"metrics.{name}.better")
        if better not in ("higher", "lower"):
            raise InputError(f"configuration: 'metrics.{name}.better' is {better!r}; it must be 'higher' or 'lower'")
        found[name] = Metric(name, label, higher_is_better=better == "higher")
    return found


def comparisons(settings: dict) -> list[Comparison]:
    """The pairs of levels to compare (``statistics.groups``)."""
    # The configuration has one factor and does not name it.
    return [Comparison("gender", *groups) for groups in _compared_groups(settings) if len(groups) == 2]


def group_sets(settings: dict) -> list[list[str]]:
    """The sets of more than two groups to compare (``statistics.groups``)."""
    return [groups for groups in _compared_groups(settings) if len(groups) > 2]


def _compared_groups(settings: dict) -> list[list[str]]:
    entries = required(settings, "statistics.groups")
    for groups in entries:
        if not isinstance(groups, list) or len(groups) < 2 or len(set(groups)) < len(groups):
            raise InputError(
                f"configuration: 'statistics.groups' has {groups!r}; each entry names two or more different groups"
            )
    return entries


def comparisons_in(table: pd.DataFrame) -> list[Comparison]:
    """The comparisons of a table, in the order of their first rows."""
    columns = table[list(Comparison._fields)].drop_duplicates()
    return [Comparison(*values) for values in columns.itertuples(index=False, name=None)]


def ordered_groups(present: Iterable[str], compared: Iterable[Comparison]) -> list[str]:
    """The groups that are there: first those that are compared, in configured order, then the others by name."""
    present = set(present)
    compared = dict.fromkeys(level for comparison in compared for level in comparison.levels if level in present)
    return [*compared, *sorted(present - set(compared))]


def run_of(path: str | Path, layout: str) -> Run:
    """The run that a file belongs to, read from its place: ``layout`` is the end of its path."""
    pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(layout)).replace("(?P<seed>[^/]+)", r"(?P<seed>\d+)")
    match = re.search(f"(?:^|/){pattern}$", Path(path).as_posix())
    if match is None:
        raise InputError(f"{path}: the path does not end in {layout}; give the file where the workflow put it")
    return Run(match["dataset"], match["model"], int(match["seed"]))


def paths_by_run(
    paths: Iterable[str | Path], layout: str, datasets: Iterable[str], models: Iterable[str], seeds: Iterable[int]
) -> dict[Run, list[Path]]:
    """The files of every (dataset, model, seed), in configured order.

    A file of a run that is not asked for, and a run without a file, are refused: "significant in 3 of 5 seeds"
    must never silently become "of 4".
    """
    found = {Run(*names): [] for names in product(datasets, models, seeds)}
    for path in map(Path, paths):
        run = run_of(path, layout)
        if run not in found:
            raise InputError(
                f"{path}: {run} is not part of the study; leave the file out or add it to the configuration"
            )
        found[run].append(path)
    for run, files in found.items():
        if not files:
            raise InputError(f"{run}: no file {layout} was given; run the workflow for it or remove it from the study")
    return found


def study_runs(paths: Iterable[str | Path], layout: str, settings: dict) -> dict[Run, list[Path]]:
    """:func:`paths_by_run` for all datasets, models and seeds of the study."""
    return paths_by_run(
        paths, layout, names(settings, "datasets"), names(settings, "models"), required(settings, "seeds")
    )
