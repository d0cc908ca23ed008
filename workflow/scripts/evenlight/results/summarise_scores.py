"""Average every metric per group over the seeds."""

from evenlight.core.contracts.results import SCORE_SUMMARY
from evenlight.results import Computed, Inputs
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.summary import summarise_scores

TABLES = (SCORE_SUMMARY,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The means."""
    study, others = inputs.study(settings)
    return Computed([summarise_scores(study, **others)], score_notes(study))
