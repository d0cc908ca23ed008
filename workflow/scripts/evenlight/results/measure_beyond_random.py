"""What is left of every disparity beyond that of random explanations?"""

from evenlight.core.contracts.results import BEYOND_RANDOM
from evenlight.results import Computed, Inputs
from evenlight.statistics.beyond_random import beyond_random_table
from evenlight.statistics.score_files import score_notes

TABLES = (BEYOND_RANDOM,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The effects beyond random, with their verdicts."""
    study, judging, others = inputs.judged(settings)
    return Computed([beyond_random_table(study, judging, **others)], score_notes(study))
