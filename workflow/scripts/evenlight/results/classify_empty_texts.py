"""Which class does each model have for texts without words?"""

from evenlight.core.contracts.results import WITHOUT_WORDS
from evenlight.results import Computed, Inputs
from evenlight.statistics.files import Runs
from evenlight.statistics.study import taken
from evenlight.statistics.without_words import classes_without_words

TABLES = (WITHOUT_WORDS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per run and way of hiding words."""
    runs, others = taken(Runs, settings)
    folders = inputs.folders["predictions"], inputs.folders["datasets"]
    return Computed([classes_without_words(*folders, runs, **others)])
