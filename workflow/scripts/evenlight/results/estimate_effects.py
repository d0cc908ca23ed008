"""Estimate the effects of all cells over their seeds, with intervals, and say what can be claimed."""

from evenlight.core.contracts.results import EFFECTS
from evenlight.results import Computed, Inputs
from evenlight.statistics.effects import effect_table
from evenlight.statistics.score_files import score_notes

TABLES = (EFFECTS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per cell, with its verdict."""
    study, judging, others = inputs.judged(settings)
    effects = effect_table(study, judging, **others)
    return Computed([effects], score_notes(study), [effects["verdict"].value_counts().to_string()])
