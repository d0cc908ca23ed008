"""Put the trainings with several learning rates into a table, and say which rate is best."""

from evenlight.core.contracts.results import LEARNING_RATES
from evenlight.results import Computed, Inputs
from evenlight.statistics.files import Runs
from evenlight.statistics.learning_rates import learning_rates
from evenlight.statistics.study import taken

TABLES = (LEARNING_RATES,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per model and rate."""
    runs, _ = taken(Runs, settings)
    table = learning_rates(inputs.folders["trainings"], runs)
    return Computed([table], said=[table[table["chosen"]].to_string(index=False)])
