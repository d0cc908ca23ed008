"""How many answers in words a group has, and what they decide. No decision is counted as such."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.explanations import ANSWERS
from evenlight.core.contracts.results import ANSWERED, DECIDED
from evenlight.core.kinds import TEXT
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfScores
from evenlight.statistics.comparisons.cells import ModelScores, Side
from evenlight.statistics.comparisons.compared import read_compared
from evenlight.statistics.comparisons.files import Run, explainer_path
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.study import StudyScores


def decision_tables(study: StudyScores, answers: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A row per group, explainer and comparison; and one per decision of them.

    Args:
        study: of answers.
        answers: their folder.

    Returns:
        Tables in the contracts ``ANSWERED`` and ``DECIDED``.
    """
    counts, decided = [], []
    for model in read_compared(study):
        for explainer in study.explaining(model.dataset):
            runs = [Run(model.dataset, model.model, seed) for seed in model.seeds]
            given = pd.concat([_answers(explainer_path(answers, run, explainer)).assign(seed=run.seed) for run in runs])
            place = {"dataset": model.dataset, "model": model.model, "explainer": explainer}
            for design in model.designs:
                pair = place | design.comparison._asdict()
                for level, side in zip(design.comparison.levels, (design.a, design.b), strict=True):
                    of_level = _of_level(given, side, model)
                    counts.append(pair | {"level": level} | _counts(of_level))
                    decided += [pair | {"level": level} | row for row in _decided(of_level)]
    return tuple(
        pd.DataFrame(rows, columns=contract.schema.names) for rows, contract in ((counts, ANSWERED), (decided, DECIDED))
    )


def _answers(path: Path) -> pd.DataFrame:
    table = tables.read_table(path, ANSWERS.only("item_id", "draw", "decision", "text"))
    return table.assign(empty=table["text"].str.strip() == "").drop(columns="text")


def _of_level(given: pd.DataFrame, side: Side, model: ModelScores) -> pd.DataFrame:
    items = set(model.items["item_id"].to_numpy()[np.unique(side.columns)])
    return given[given["item_id"].isin(items)]


def _counts(answers: pd.DataFrame) -> dict[str, int]:
    return {
        "questions": answers["item_id"].nunique(),
        "answers": len(answers),
        "once": int((answers.groupby(["seed", "item_id"]).size() == 1).sum()),
        "empty": int(answers["empty"].sum()),
        "undecided": int(answers["decision"].isna().sum()),
    }


def _decided(answers: pd.DataFrame) -> list[dict]:
    """How many answers have each decision, the most frequent first."""
    return [{"decision": name, "answers": int(count)} for name, count in answers["decision"].value_counts().items()]


class CountDecisions(OfScores):
    """What answers in words decide, by group."""

    tables: ClassVar[Mapping[str, Contract]] = {"answered": ANSWERED, "decided": DECIDED}
    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    modality: ClassVar[str] = TEXT
    folders: ClassVar[Sequence[str]] = ("scores", "answers", "datasets")
    minutes: ClassVar[int] = 30

    result: Literal["count_decisions"]

    def compute(self, inputs: Inputs) -> Computed:
        """A row per group and explainer; one per decision."""
        study = inputs.located(self.study)
        return Computed(list(decision_tables(study, inputs.folders["answers"])), score_notes(study))
