"""Reading score files: one row per item, one column per metric, a file per explainer and family of metrics."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.chance import note_on_chance
from evenlight.core.contracts.explanations import ANSWER_SCORES, SCORES
from evenlight.core.errors import InputError
from evenlight.statistics.comparisons.files import Run, Runs, notes_of_runs, score_path
from evenlight.statistics.comparisons.study import StudyScores

STANDARD_ERROR = "_standard_error"
_REMEDY = "delete the file and run the workflow again"


def read_scores(
    folder: str | Path, run: Run, explainer: str, metrics: Mapping[str, str], only_items: bool = False
) -> pd.DataFrame:
    """The scores of one run's explainer: ``item_id`` and a column for each of ``metrics`` (name to family).

    NaN where a score is undefined. A metric that is a mean of random draws has a column ``<metric>_standard_error``
    beside it. What the files hold besides is left out; with ``only_items`` all metrics. Of answers, of which an item
    may have several, it is the mean of those that are defined; :func:`read_draws` has each.
    """
    parts: list[pd.DataFrame] = []
    for family in dict.fromkeys(metrics.values()):
        path = score_path(folder, run, family, explainer)
        table = _read_file(path, [] if only_items else [name for name in metrics if metrics[name] == family])
        if parts and not table["item_id"].equals(parts[0]["item_id"]):
            table = _in_order(table, parts[0]["item_id"], path)
        parts.append(table if not parts else table.drop(columns="item_id"))
        if only_items:
            break
    return pd.concat(parts, axis=1)


def with_most_texts(folder: str | Path, run: Run, explainers: Sequence[str], metrics: Mapping[str, str]) -> str:
    """The explainer of a run that has scores of most texts: one that a look has closed has only those of this look."""
    family = next(iter(metrics.values()))
    paths = {name: score_path(folder, run, family, name) for name in explainers}
    # One that is not there is refused when it is read.
    return max(explainers, key=lambda name: tables.count_rows(paths[name], SCORES) if paths[name].is_file() else 0)


def _read_file(path: Path, metrics: Collection[str]) -> pd.DataFrame:
    there = tables.read_columns(path, SCORES)
    for metric in metrics:
        if metric not in there:
            raise InputError(f"{path}: no column '{metric}'; rule {SCORES.rule} makes it, {_REMEDY}")
    errors = [f"{metric}{STANDARD_ERROR}" for metric in metrics if f"{metric}{STANDARD_ERROR}" in there]
    if "draw" in there:
        table = tables.read_table(path, ANSWER_SCORES.only("item_id", *metrics))
        table = table.groupby("item_id", sort=False)[list(metrics)].mean().reset_index()
    else:
        table = tables.read_table(path, SCORES.only("item_id", *metrics, *errors))
    repeated = table.loc[table["item_id"].duplicated(), "item_id"]
    if len(repeated):
        raise InputError(f"{path}: item '{repeated.iloc[0]}' has two rows; {_REMEDY}")
    for metric in metrics:
        if np.isinf(table[metric]).any():
            raise InputError(f"{path}: column '{metric}' has infinite scores; {_REMEDY}")
    return table


def is_of_answers(folder: str | Path, run: Run, explainer: str, metrics: Mapping[str, str]) -> bool:
    """Whether the scores of an explainer are of answers in words."""
    return "draw" in tables.read_columns(score_path(folder, run, next(iter(metrics.values())), explainer), SCORES)


def read_draws(folder: str | Path, run: Run, explainer: str, metrics: Mapping[str, str]) -> pd.DataFrame | None:
    """The scores of single answers: ``item_id``, ``draw`` and a column for each of ``metrics`` (name to family).

    None where explanations are no answers.

    Raises:
        InputError: two answers to a question have the same draw, or families have scored other answers.
    """
    if not is_of_answers(folder, run, explainer, metrics):
        return None
    parts: list[pd.DataFrame] = []
    for family in dict.fromkeys(metrics.values()):
        path = score_path(folder, run, family, explainer)
        columns = [name for name in metrics if metrics[name] == family]
        table = tables.read_table(path, ANSWER_SCORES.only("item_id", "draw", *columns))
        table = table.set_index(["item_id", "draw"])
        if table.index.has_duplicates:
            item, draw = table.index[table.index.duplicated()][0]
            raise InputError(f"{path}: item '{item}' has two rows of draw {draw}; {_REMEDY}")
        if parts and not table.index.equals(parts[0].index):
            raise InputError(f"{path}: other answers than those of the other metrics; {_REMEDY}")
        parts.append(table)
    return pd.concat(parts, axis=1).reset_index()


def _in_order(table: pd.DataFrame, items: pd.Series, path: Path) -> pd.DataFrame:
    """The rows in the order of ``items``, which must be the same."""
    if set(table["item_id"]) != set(items):
        raise InputError(
            f"{path}: column 'item_id' has other items than the other metrics of the same explainer; {_REMEDY}"
        )
    return table.set_index("item_id").loc[items].reset_index()


def score_notes(study: StudyScores) -> list[str]:
    """What a reader of any table of the scores must know: which texts are left out, and of the explainers."""
    notes: dict[str, None] = {}
    for source in study.sources().values():
        names = (study.folders["scores"], source, source.explainers, source.metrics)
        notes |= dict.fromkeys(left_out_notes(*names) + explainer_notes(*names))
    return list(notes)


def left_out_notes(folder: str | Path, runs: Runs, explainers: Sequence[str], metrics: Mapping[str, str]) -> list[str]:
    """Which texts have no scores, as the predictions say it."""
    # All scores of a run are of the same texts.
    family, notes = next(iter(metrics.values())), {}
    for run in runs:
        for explainer in runs.explainers_of(run.dataset, explainers)[:1]:
            metadata = tables.read_metadata(score_path(folder, run, family, explainer), SCORES)
            notes[run] = metadata.get("left_out", [])
    return notes_of_runs(notes)


def explainer_notes(
    folder: str | Path, runs: Runs, explainers: Collection[str], metrics: Mapping[str, str]
) -> list[str]:
    """What a reader must know of the explainers, as their attribution files say it: each remark once, with its runs.

    Remarks that differ in their numbers only are one. How much of the scores is chance is said once for each explainer,
    over all runs.
    """
    # Every family of metrics has scored the same attribution files.
    family = next(iter(metrics.values()))
    explained = [(run, name) for run in runs for name in runs.explainers_of(run.dataset, explainers)]
    remarks: dict[tuple[str, str], dict[Run, str]] = {}
    explained_again: dict[str, list[list[dict]]] = {}
    for run, explainer in explained:
        metadata = tables.read_metadata(score_path(folder, run, family, explainer), SCORES)
        explained_again.setdefault(explainer, []).append(metadata.get("explained_again", []))
        for remark in _ENDS.split(metadata.get("note") or ""):
            if remark:
                remarks.setdefault((explainer, _NUMBERS.sub("", remark)), {})[run] = remark
    said: dict[str, list[str]] = {}
    for (explainer, _), of_runs in remarks.items():
        places = _places(of_runs, [run for run, name in explained if name == explainer])
        said.setdefault(f"{_added_up(list(of_runs.values()))}{places}", []).append(f"'{explainer}'")
    notes = [
        f"{'explainer' if len(names) == 1 else 'explainers'} {', '.join(names)}: {text}" for text, names in said.items()
    ]
    on_chance = {explainer: note_on_chance(of_runs) for explainer, of_runs in explained_again.items()}
    return notes + [f"explainer '{explainer}': {note}" for explainer, note in on_chance.items() if note]


# Where a remark ends and the next begins; what follows these words belongs to the remark before.
_ENDS = re.compile("; (?!the rest: |take )")
# What of a remark differs between runs.
_NUMBERS = re.compile(r"\d+ of \d+ items|\d[\d.]*%")


def _added_up(remarks: Sequence[str]) -> str:
    """One remark of several that differ in their numbers: counts of items add up, shares are told from low to high.

    >>> _added_up(["12% is left over in 2 of 8 items", "9% is left over in 1 of 8 items"])
    '9% to 12% is left over in 3 of 16 items'
    """
    numbers = zip(*map(_NUMBERS.findall, remarks), strict=True)
    return _NUMBERS.sub(lambda _: _one_number(next(numbers)), remarks[0])


def _one_number(numbers: Sequence[str]) -> str:
    if numbers[0].endswith("%"):
        ordered = sorted(numbers, key=lambda number: float(number.removesuffix("%")))
        return " to ".join(dict.fromkeys((ordered[0], ordered[-1])))
    counts, sizes = zip(*(map(int, re.findall(r"\d+", number)) for number in numbers), strict=True)
    return f"{sum(counts)} of {sum(sizes)} items"


def _places(some: Collection[Run], runs: Sequence[Run]) -> str:
    """In which of the runs, in brackets; nothing where these are all.

    >>> study = [Run("plots", model, seed) for model in ("small", "large") for seed in (0, 1)]
    >>> _places(study[:3], study), _places(study, study)
    (" (dataset 'plots': 'small', 'large' with seed 0)", '')
    """
    if len(some) == len(runs):
        return ""
    told: dict[str, list[str]] = {}
    for dataset, model in dict.fromkeys((run.dataset, run.model) for run in some):
        seeds, all_seeds = (
            [run.seed for run in of if (run.dataset, run.model) == (dataset, model)] for of in (some, runs)
        )
        which = f" with {'seed' if len(seeds) == 1 else 'seeds'} {' and '.join(map(str, seeds))}"
        told.setdefault(dataset, []).append(f"'{model}'" + which * (seeds != all_seeds))
    of_datasets = [f"dataset '{dataset}': {', '.join(models)}" for dataset, models in told.items()]
    return f" ({'; '.join(of_datasets)})"
