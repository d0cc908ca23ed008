"""Sum up how the scores of every explainer change by random layers."""

from evenlight.core.contracts.results import RANDOMISATION
from evenlight.results import Computed, Inputs
from evenlight.statistics.randomisation import summarise_randomisation

TABLES = (RANDOMISATION,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The summary."""
    table, notes = summarise_randomisation(inputs.folders["randomised"], **settings)
    return Computed([table], notes)
