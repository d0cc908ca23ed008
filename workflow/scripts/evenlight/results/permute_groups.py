"""Test again with permuted groups: is the number of significant cells more than chance?"""

from evenlight.core.contracts.results import CONTROL
from evenlight.results import Computed, Inputs, said_of_left_out
from evenlight.statistics.control import permuted_rates
from evenlight.statistics.score_files import score_notes

TABLES = (CONTROL,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The rates of significant cells, real and permuted."""
    study, others = inputs.study(settings)
    notes = said_of_left_out(others.pop("left_out", ()))
    return Computed([permuted_rates(study, **others)], notes + score_notes(study))
