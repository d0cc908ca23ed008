"""What is left of every disparity beyond that of random explanations?"""

from evenlight.core.contracts.results import BEYOND_RANDOM, LOOKS
from evenlight.results import Computed, Inputs
from evenlight.statistics.beyond_random import beyond_random_table
from evenlight.statistics.look_records import planned_looks
from evenlight.statistics.score_files import score_notes

TABLES = (BEYOND_RANDOM,)
# Where looks are planned.
READS = (LOOKS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The effects beyond random, with their verdicts."""
    study, judging, others = inputs.judged(settings)
    looks = planned_looks(others.pop("looks", None), judging.alpha, inputs.tables)
    return Computed([beyond_random_table(study, judging, **others, looks=looks)], score_notes(study))
