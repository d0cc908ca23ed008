"""Estimate the effects of all cells over their seeds, with intervals, and say what can be claimed."""

from evenlight.core.contracts.results import EFFECTS, LOOKS
from evenlight.results import Computed, Inputs
from evenlight.statistics.closed_records import closed_said
from evenlight.statistics.effects import effect_table
from evenlight.statistics.look_records import Plan
from evenlight.statistics.looks import ONE_LOOK
from evenlight.statistics.score_files import score_notes

TABLES = (EFFECTS,)
# Where looks are planned.
READS = (LOOKS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per cell, with its verdict."""
    study, judging, others = inputs.judged(settings)
    looks, notes, closed = ONE_LOOK, [], others.pop("closed", {})
    if planned := others.pop("looks", None):
        looks, notes = Plan.of(planned, judging.alpha, "").looks(inputs.tables[0]), list(inputs.notes[0])
    effects = effect_table(study, judging, **others, looks=looks, closed=closed)
    return Computed(
        [effects], notes + closed_said(closed) + score_notes(study), [effects["verdict"].value_counts().to_string()]
    )
