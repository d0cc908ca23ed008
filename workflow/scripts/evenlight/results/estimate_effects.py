"""Count in how many pairs each group is explained better, estimate effect sizes, and say what can be claimed."""

from evenlight.core.contracts.results import EFFECT_COUNTS, EFFECTS, LOOKS
from evenlight.results import Computed, Inputs
from evenlight.statistics.effects import effect_tables
from evenlight.statistics.look_records import planned_looks
from evenlight.statistics.score_files import score_notes

TABLES = (EFFECTS, EFFECT_COUNTS)
# Where looks are planned.
READS = (LOOKS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per cell with its verdict, and a row per set of cells."""
    study, judging, others = inputs.judged(settings)
    planned = others.pop("looks", None)
    looks = planned_looks(planned, judging.alpha, inputs.tables)
    # If the record is lost, this tells it.
    about = {"looks": {planned["plan"]: looks.units}} if planned else {}
    effects, counts, notes = effect_tables(study, judging, **others, looks=looks)
    notes = [*(inputs.notes[0] if planned else []), *score_notes(study), *notes]
    return Computed([effects, counts], notes, [effects["verdict"].value_counts().to_string()], about)
