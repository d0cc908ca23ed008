"""How large is every disparity, adjusted for length, confidence or correctness?"""

from evenlight.core.contracts.results import COVARIATE_ADJUSTED
from evenlight.results import Computed, Inputs, said_of_left_out
from evenlight.statistics.covariate_adjusted import covariate_adjusted_table
from evenlight.statistics.score_files import score_notes

TABLES = (COVARIATE_ADJUSTED,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The parts of every disparity."""
    study, others = inputs.study(settings)
    notes = said_of_left_out(others.pop("left_out", ()))
    return Computed([covariate_adjusted_table(study, **others)], notes + score_notes(study))
