"""Count the seeds with a significant disparity and average their effect sizes: a row per cell."""

from evenlight.core.contracts.results import DISPARITY, SUMMARY
from evenlight.results import Computed, Inputs
from evenlight.statistics.summary import direction_notes, summarise_disparity

READS = (DISPARITY,)
TABLES = (SUMMARY,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The summary, with what is to be said of its directions and of the disparities."""
    summary = summarise_disparity(inputs.tables[0], **settings)
    return Computed([summary], [*direction_notes(summary), *inputs.notes[0]])
