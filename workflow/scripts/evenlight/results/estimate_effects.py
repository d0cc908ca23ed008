"""Estimate the effects of all cells over their seeds, with intervals, and say what can be claimed."""

from evenlight.core.contracts.results import EFFECTS, LOOKS
from evenlight.results import Computed, Inputs
from evenlight.statistics.closed_records import closed_said
from evenlight.statistics.effects import effect_table
from evenlight.statistics.look_records import planned_looks
from evenlight.statistics.score_files import score_notes

TABLES = (EFFECTS,)
# Where looks are planned.
READS = (LOOKS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per cell, with its verdict."""
    study, judging, others = inputs.judged(settings)
    planned, closed = others.pop("looks", None), others.pop("closed", {})
    looks = planned_looks(planned, judging.alpha, inputs.tables)
    notes = list(inputs.notes[0]) if planned else []
    # If the record is lost, this tells it.
    about = {"looks": {planned["plan"]: looks.units}} if planned else {}
    effects = effect_table(study, judging, **others, looks=looks, closed=closed)
    notes += closed_said(closed) + score_notes(study)
    return Computed([effects], notes, [effects["verdict"].value_counts().to_string()], about)
