"""How many texts would decide each question that is open?"""

from evenlight.core.contracts.results import EFFECTS, TEXTS_NEEDED
from evenlight.results import Computed, Inputs
from evenlight.statistics.planning import texts_needed

TABLES = (TEXTS_NEEDED,)
READS = (EFFECTS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per undecided cell."""
    return Computed([texts_needed(*inputs.tables, **settings)])
