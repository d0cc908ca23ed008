"""What part of every disparity goes along with length, confidence or correctness, and what remains?"""

from evenlight.contracts.results import ASSOCIATED
from evenlight.results import Computed, Inputs
from evenlight.statistics.associated import associated_table
from evenlight.statistics.score_files import score_notes

TABLES = (ASSOCIATED,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The parts of every disparity."""
    study, others = inputs.study(settings)
    return Computed([associated_table(study, **others)], score_notes(study))
