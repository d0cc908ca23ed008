"""On which words a model relies, by group: pairs of forms, words that name the group, and a table of words."""

from evenlight.core.contracts.results import GROUP_RELIANCE, PAIR_INVARIANCE, WORDS_BY_GROUP
from evenlight.results import Computed, Inputs
from evenlight.statistics.files import Runs
from evenlight.statistics.reliance import measure_reliance
from evenlight.statistics.study import taken

TABLES = (
    PAIR_INVARIANCE,
    GROUP_RELIANCE,
    WORDS_BY_GROUP,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """How alike the forms are explained, what the words get that name the group, and what all words get."""
    runs, others = taken(Runs, settings)
    folders = inputs.folders
    found = measure_reliance(
        folders["attributions"], folders["datasets"], runs, predictions=folders["predictions"], **others
    )
    return Computed(found)
