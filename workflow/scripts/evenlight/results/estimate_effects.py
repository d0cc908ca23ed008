"""Estimate the effects of all cells over their seeds, with intervals, and say what can be claimed."""

from evenlight.core.contracts.results import EFFECTS, LOOKS
from evenlight.results import Computed, Inputs
from evenlight.statistics.effects import effect_table
from evenlight.statistics.look_records import planned_looks
from evenlight.statistics.score_files import score_notes

TABLES = (EFFECTS,)
# Where looks are planned.
READS = (LOOKS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per cell, with its verdict."""
    study, judging, others = inputs.judged(settings)
    planned = others.pop("looks", None)
    looks = planned_looks(planned, judging.alpha, inputs.tables)
    notes = list(inputs.notes[0]) if planned else []
    # If the record is lost, this tells it.
    about = {"looks": {planned["plan"]: looks.units}} if planned else {}
    effects = effect_table(study, judging, **others, looks=looks)
    return Computed([effects], notes + score_notes(study), [effects["verdict"].value_counts().to_string()], about)
