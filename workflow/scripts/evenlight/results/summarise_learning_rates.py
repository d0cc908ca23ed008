"""Put the trainings with several learning rates into a table, and say which rate is best."""

from evenlight.core.contracts.results import LEARNING_RATES
from evenlight.results import Computed, Inputs
from evenlight.statistics.learning_rates import learning_rates

TABLES = (LEARNING_RATES,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per model and rate."""
    table = learning_rates(inputs.folders["trainings"], **settings)
    return Computed([table], said=[table[table["chosen"]].to_string(index=False)])
