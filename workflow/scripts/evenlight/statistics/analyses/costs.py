"""What explanations cost: seconds and rows through the model, per text."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import ClassVar, Literal

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.explanations import COSTS
from evenlight.core.contracts.results import COST_SUMMARY
from evenlight.core.kinds import TOKENS
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfRuns
from evenlight.statistics.comparisons.files import explainer_path

# What the costs of an explainer stand apart by: times on two devices have no mean.
APART = ["dataset", "model", "explainer", "together", "device", "threads"]
PER_TEXT = ["seconds", "rows", "rows_asked"]


class SummariseCosts(OfRuns):
    """How many seconds and rows through the model does each explainer take, per text?

    ``seconds`` are those of all explainers of ``together``, which share their passes through the model, and
    ``rows_asked`` what they asked of it; ``rows`` are those of the explainer, shared ones included. All are means over
    the ``texts`` of all runs of which they are known.

    What estimates effects of changes asks no model, and has no times of its own.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"costs": COST_SUMMARY}
    modality: ClassVar[str] = TOKENS
    folders: ClassVar[Sequence[str]] = ("costs",)
    alone: ClassVar[bool] = True

    result: Literal["summarise_costs"]
    explainers: list[str]

    def compute(self, inputs: Inputs) -> Computed:
        """A row per dataset, model, explainer and device; one without a device where nothing is known."""
        rows, runs = [], self.runs
        for run in runs:
            for explainer in runs.explainers_of(run.dataset, self.explainers):
                path = explainer_path(inputs.folders["costs"], run, explainer)
                parts = tables.read_table(path, COSTS.only("texts", *PER_TEXT, "device", "threads", "together"))
                together = [", ".join(names) for names in parts["together"]]
                rows.append(parts.assign(**vars(run), explainer=explainer, together=together))
        known = pd.concat(rows)
        summed = known.groupby(APART, sort=False).agg(
            seeds=("seed", "nunique"), texts=("texts", "sum"), **{name: (name, "sum") for name in PER_TEXT}
        )
        summed[PER_TEXT] = summed[PER_TEXT].div(summed["texts"], axis=0)
        # In the order of the study, with a row for what is not known.
        names = [
            (dataset, model, explainer)
            for dataset in runs.datasets
            for model, explainer in product(runs.models_of(dataset), runs.explainers_of(dataset, self.explainers))
        ]
        table = pd.DataFrame(names, columns=APART[:3]).merge(summed.reset_index(), how="left", on=APART[:3])
        return Computed([table.fillna({"seeds": 0, "texts": 0})])
