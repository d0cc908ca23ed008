"""Hold the ground truth of the datasets against the words that are associated with their labels."""

from evenlight.core.contracts.results import GROUND_TRUTH, WORD_ASSOCIATIONS
from evenlight.results import Computed, Inputs
from evenlight.statistics.ground_truth import ground_truth_tables

TABLES = (
    GROUND_TRUTH,
    WORD_ASSOCIATIONS,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per dataset, and the table of words."""
    words, summary = ground_truth_tables(inputs.folders["datasets"], **settings)
    return Computed([summary, words], said=[summary.to_string(index=False)])
