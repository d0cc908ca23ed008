"""Hold the answers to two forms against two answers to one form."""

from evenlight.core.contracts.results import DRAWS
from evenlight.results import Computed, Inputs
from evenlight.statistics.draws import draw_table
from evenlight.statistics.score_files import score_notes

TABLES = (DRAWS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per cell of answers whose forms are pairs."""
    study, others = inputs.study(settings)
    return Computed([draw_table(study, **others)], score_notes(study))
