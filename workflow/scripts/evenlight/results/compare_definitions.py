"""Count what each definition of a disputed metric finds and how far two of them agree."""

from evenlight.core.contracts.results import DEFINITIONS, SUMMARY
from evenlight.results import Computed, Inputs
from evenlight.statistics.definitions import definitions_table

READS = (SUMMARY,)
TABLES = (DEFINITIONS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The table of definitions, with the notes of the summary."""
    return Computed([definitions_table(inputs.tables[0], **settings)], inputs.notes[0])
