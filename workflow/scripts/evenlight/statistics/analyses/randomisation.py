"""The sanity check by random layers, summed up over texts and seeds."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.explanations import RANDOMISED
from evenlight.core.contracts.results import RANDOMISATION
from evenlight.core.kinds import TOKENS
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfRuns
from evenlight.statistics.analyses.summary import population_sd
from evenlight.statistics.comparisons.files import Run, explainer_path, notes_of_runs

STAGE = ["order", "stage", "layer"]
VALUES = ["rank_correlation", "rank_correlation_absolute"]


class SummariseRandomisation(OfRuns):
    """Sum up how the scores of every explainer change by random layers.

    A row has the number of ``seeds``; the most ``texts`` of a seed whose correlation is defined; the mean over seeds of
    the mean over a seed's texts of either correlation, and its standard deviation over the seeds.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"randomisation": RANDOMISATION}
    modality: ClassVar[str] = TOKENS
    minutes: ClassVar[int] = 30
    alone: ClassVar[bool] = True

    result: Literal["summarise_randomisation"]
    explainers: list[str]

    @classmethod
    def is_made(cls, study) -> bool:
        """Where a study asks for random layers, and a dataset has explainers that can be asked again."""
        return bool(super().is_made(study) and study.config["randomisation"] and study.randomised_datasets())

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The runs, and the explainers that can be asked again."""
        return super().asked(study) | {"explainers": study.randomised_explainers}

    @classmethod
    def files_of_runs(cls, study) -> dict[str, list[str]]:
        """Of each of these explainers the correlations."""
        return study.files_of_runs("randomised", explainer=study.randomised_explainers)

    def compute(self, inputs: Inputs) -> Computed:
        """A row per dataset, model, explainer, order and stage."""
        rows: list[dict] = []
        notes: dict[Run, list[str]] = {}
        by_seed: dict[tuple[str, str, str], list[pd.DataFrame]] = {}
        for run in self.runs:
            for explainer in self.runs.explainers_of(run.dataset, self.explainers):
                path = explainer_path(inputs.folders["randomised"], run, explainer)
                by_stage = tables.read_table(path, RANDOMISED).groupby(STAGE, sort=False)[VALUES]
                means = by_stage.mean().assign(texts=by_stage.count().max(axis=1))
                by_seed.setdefault((run.dataset, run.model, explainer), []).append(means)
                said = tables.read_metadata(path, RANDOMISED).get("notes", [])
                notes.setdefault(run, []).extend(f"explainer '{explainer}': {text}" for text in said)
        for names, parts in by_seed.items():
            for keys, stage in pd.concat(parts).groupby(level=STAGE, sort=False):
                row = dict(zip(["dataset", "model", "explainer", *STAGE], (*names, *keys), strict=True))
                row |= {"seeds": len(stage), "texts": int(stage["texts"].max())}
                for name in VALUES:
                    defined = stage[name].dropna()
                    row |= {name: defined.mean(), f"{name}_sd": population_sd(defined)}
                rows.append(row)
        return Computed([pd.DataFrame(rows, columns=RANDOMISATION.schema.names)], notes_of_runs(notes))
