"""Sum up how far the explainers agree, over texts and seeds and between groups."""

from evenlight.core.contracts.results import AGREEMENT_SUMMARY
from evenlight.results import Computed, Inputs
from evenlight.statistics.explainer_agreement import summarise_agreement
from evenlight.statistics.files import Runs
from evenlight.statistics.study import taken

TABLES = (AGREEMENT_SUMMARY,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The summary."""
    runs, others = taken(Runs, settings)
    return Computed([summarise_agreement(inputs.folders["agreement"], inputs.folders["datasets"], runs, **others)])
