"""Count in how many pairs each group is explained better, and say who is more often."""

from evenlight.core.contracts.results import LOOKS, MORE_OFTEN, MORE_OFTEN_COUNTS
from evenlight.results import Computed, Inputs
from evenlight.statistics.closed_records import closed_said
from evenlight.statistics.look_records import planned_looks
from evenlight.statistics.more_often import more_often_tables
from evenlight.statistics.score_files import score_notes

TABLES = (MORE_OFTEN, MORE_OFTEN_COUNTS)
# Where looks are planned.
READS = (LOOKS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per cell with its verdict, and a row per set of cells."""
    study, judging, others = inputs.judged(settings)
    planned, closed = others.pop("looks", None), others.pop("closed", {})
    looks = planned_looks(planned, judging.alpha, inputs.tables)
    table, counts = more_often_tables(study, judging, **others, looks=looks, closed=closed)
    notes = [*(inputs.notes[0] if planned else []), *closed_said(closed), *score_notes(study)]
    return Computed([table, counts], notes, [table["verdict"].value_counts().to_string()])
