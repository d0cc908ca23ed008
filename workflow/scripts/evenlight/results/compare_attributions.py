"""Compare what explanations give to the ground-truth words of both forms of a sentence, run by run."""

from evenlight.core.contracts.results import ATTRIBUTION_DIFFERENCES
from evenlight.results import Computed, Inputs
from evenlight.statistics.files import Runs
from evenlight.statistics.study import taken
from evenlight.statistics.word_attributions import attribution_differences

TABLES = (ATTRIBUTION_DIFFERENCES,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per run, explainer and pair of levels."""
    runs, others = taken(Runs, settings)
    folders = inputs.folders
    table, notes = attribution_differences(
        folders["attributions"], folders["datasets"], runs, predictions=folders["predictions"], **others
    )
    return Computed([table], notes)
