"""What answers in words decide, by group."""

from evenlight.core.contracts.results import ANSWERED, DECIDED
from evenlight.results import Computed, Inputs
from evenlight.statistics.decision_counts import decision_tables
from evenlight.statistics.score_files import score_notes

TABLES = (ANSWERED, DECIDED)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per group and explainer; one per decision."""
    study, _ = inputs.study(settings)
    return Computed(list(decision_tables(study, inputs.folders["answers"])), score_notes(study))
