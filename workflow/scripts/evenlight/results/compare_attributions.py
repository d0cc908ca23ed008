"""Compare what explanations give to the ground-truth words of both forms of a sentence, run by run."""

from evenlight.core.contracts.results import ATTRIBUTION_DIFFERENCES
from evenlight.results import Computed, Inputs
from evenlight.statistics.word_attributions import attribution_differences

TABLES = (ATTRIBUTION_DIFFERENCES,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per run, explainer and pair of levels."""
    folders = inputs.folders
    table, notes = attribution_differences(
        folders["attributions"], folders["datasets"], predictions=folders["predictions"], **settings
    )
    return Computed([table], notes)
