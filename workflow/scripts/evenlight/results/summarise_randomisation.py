"""Sum up how the scores of every explainer change by random layers."""

from evenlight.core.contracts.results import RANDOMISATION
from evenlight.results import Computed, Inputs
from evenlight.statistics.files import Runs
from evenlight.statistics.randomisation import summarise_randomisation
from evenlight.statistics.study import taken

TABLES = (RANDOMISATION,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The summary."""
    runs, others = taken(Runs, settings)
    table, notes = summarise_randomisation(inputs.folders["randomised"], runs, **others)
    return Computed([table], notes)
