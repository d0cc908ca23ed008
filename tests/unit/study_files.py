"""The files of a study for tests of its statistics, from one row per score as they are easiest to write down."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
from dataset_files import as_dataset

from evenlight.core import tables
from evenlight.core.contracts.explanations import SCORES
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.statistics.analyses.base import Computed, Inputs
from evenlight.statistics.comparisons.cells import Design, Side
from evenlight.statistics.comparisons.files import Run, Runs, items_path, score_path, units_path
from evenlight.statistics.comparisons.study import Comparison, StudyScores, VerdictSettings
from evenlight.statistics.results import Result

NAMES = ["item_id", "pair_id", "group", "explainer"]


class StudyFiles:
    """Folders of scores and datasets below ``folder``; ``folders`` are the first arguments of what reads them."""

    def __init__(self, folder: Path):
        self.scores, self.datasets, self.predictions = (folder / name for name in ("scores", "datasets", "predictions"))
        self._rows: dict[str, pd.DataFrame] = {}

    @property
    def folders(self) -> tuple[Path, Path]:
        return self.scores, self.datasets

    def write(
        self,
        table: pd.DataFrame,
        seed: int = 0,
        family: str = "complexity",
        dataset: str = "plots",
        model: str = "small",
        note: str | None = None,
    ) -> list[Path]:
        """Write a run's scores from ``item_id, pair_id, group, explainer`` and metrics; add its items to the dataset.

        Returns the files, one per explainer.
        """
        rows = table[["item_id", "pair_id", "group"]].drop_duplicates()
        known = pd.concat([self._rows.get(dataset, rows), rows]).drop_duplicates("item_id")
        self._rows[dataset] = known
        known = known.assign(label=0, split="test", ground_truth=None, words=[["a"]] * len(known))
        self.write_dataset(*as_dataset(known), dataset)
        metrics = [name for name in table.columns if name not in NAMES]
        paths = []
        for explainer, part in table.groupby("explainer", sort=False):
            path = score_path(self.scores, Run(dataset, model, seed), family, explainer)
            contract = SCORES.only("item_id", *metrics)
            part = part[["item_id", *metrics]].astype(dict.fromkeys(metrics, float))
            tables.write_table(part, path, contract, {"note": note} if note else {})
            paths.append(path)
        return paths

    def write_dataset(self, items: pd.DataFrame, units: pd.DataFrame, dataset: str = "plots") -> None:
        tables.write_table(items, items_path(self.datasets, dataset), ITEMS)
        tables.write_table(units, units_path(self.datasets, dataset), UNITS)


# What functions take together, by the name of the argument.
PARTS = {"runs": Runs, "study": StudyScores, "judging": VerdictSettings}


def taken(kind: type, settings: dict) -> tuple[object, dict]:
    """A dataclass of the settings that it has a field for, and the other settings."""
    names = {each.name for each in fields(kind)}
    part = {name: value for name, value in settings.items() if name in names}
    return kind(**part), {name: value for name, value in settings.items() if name not in names}


def result_of(
    result: str, files: StudyFiles | Mapping[str, Path], *tables_read: pd.DataFrame, **settings: object
) -> Computed:
    """A result with these settings, from the files of a study or from folders by their names, and from tables."""
    if isinstance(files, StudyFiles):
        files = {"scores": files.scores, "datasets": files.datasets, "predictions": files.predictions}
    return Result.parse({"result": result, **settings}).compute(Inputs(files, tables_read))


def made(result: str, files: StudyFiles | Mapping[str, Path], **settings: object) -> Sequence[pd.DataFrame]:
    """The tables of :func:`result_of`."""
    return result_of(result, files, **settings).tables


def called(function: Callable, scores: Path, units: Path, predictions: Path | None = None, **settings):
    """A function of the statistics with flat settings, in the parts that it takes."""
    settings["folders"] = {"scores": scores, "units": units} | ({"predictions": predictions} if predictions else {})
    parts = []
    for name, kind in PARTS.items():
        if name in signature(function).parameters:
            part, settings = taken(kind, settings)
            parts.append(part)
    return function(*parts, **settings)


def numbered_design(
    units_a: int,
    units_b: int,
    paired: bool = True,
    strata: Sequence | np.ndarray | None = None,
    clusters: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Design:
    """Numbered items, those of the first level first; ``strata`` (runs, items), ``clusters`` (units of a, of b)."""
    sides = []
    for number, (level, count, start) in enumerate((("m", units_a, 0), ("f", units_b, units_a))):
        items = np.array([f"{level}{n}" for n in range(count)], dtype=object)
        of_side = None if strata is None else np.asarray(strata)[:, start : start + count]
        cluster = items if clusters is None else np.array(clusters[number], dtype=object)
        sides.append(Side(items, cluster, start + np.arange(count), np.arange(count), of_side))
    return Design(Comparison("gender", "male", "female"), paired, *sides)


# A study of three metrics, and its scores: of one that differs, of one that does not, and of noise.
SEEDS = [0, 1, 2]
SETTINGS = {
    "datasets": ["plots"],
    "models": {"small": SEEDS},
    "explainers": ["lime"],
    "metrics": dict.fromkeys(("shifted", "same", "noisy"), "any"),
    "comparisons": {"gender": [["male", "female"]]},
}
JUDGED = {
    "alpha": 0.05,
    "smallest_effects": {},
    "as_often_bound": 0.2,
    "confidence": 0.95,
    "bootstrap_draws": 300,
    "primary": {},
    "noise": [],
}


def study_of(files: StudyFiles, settings: dict | None = None, **changed) -> StudyScores:
    """The scores of a study, by default of :data:`SETTINGS`, and not what else its settings say."""
    settings = SETTINGS if settings is None else settings
    folders = {"scores": files.scores, "units": files.datasets}
    return taken(StudyScores, {"folders": folders} | settings | changed)[0]


def scores(seed: int, pairs: int = 60) -> pd.DataFrame:
    """``shifted``: males one higher; ``same``: both forms nearly alike; ``noisy``: nothing but noise."""
    items = np.random.default_rng(7).normal(size=pairs)
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "item_id": f"{n}-{group}",
            "pair_id": str(n),
            "group": group,
            "explainer": "lime",
            "shifted": item + shift + draw.normal(scale=0.1),
            "same": item + draw.normal(scale=0.01),
            "noisy": draw.normal(),
        }
        for group, shift in (("male", 1.0), ("female", 0.0))
        for n, item in enumerate(items)
    )


def written(files: StudyFiles, table: Callable[[int], pd.DataFrame]) -> StudyFiles:
    """The study with ``table`` of every seed."""
    for seed in SEEDS:
        files.write(table(seed), seed, "any")
    return files
