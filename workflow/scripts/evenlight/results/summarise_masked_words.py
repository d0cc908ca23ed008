"""Sum up how probable masked language models find the texts of every group, before and after training."""

from evenlight.core.contracts.results import MASKED_SUMMARY
from evenlight.results import Computed, Inputs
from evenlight.statistics.files import Runs
from evenlight.statistics.masked_words import masked_summary
from evenlight.statistics.study import taken

TABLES = (MASKED_SUMMARY,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The summary, with the models that have no scores."""
    runs, others = taken(Runs, settings)
    table, notes = masked_summary(inputs.folders["masked_words"], inputs.folders["datasets"], runs, **others)
    return Computed([table], notes)
