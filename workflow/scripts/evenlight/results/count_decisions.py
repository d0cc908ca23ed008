"""What answers in words decide, by group, and how often the answers to two forms decide differently."""

from evenlight.core.contracts.results import ANSWERED, DECIDED, DECISION_CHANGES
from evenlight.results import Computed, Inputs
from evenlight.statistics.decisions import decision_tables
from evenlight.statistics.score_files import score_notes

TABLES = (ANSWERED, DECIDED, DECISION_CHANGES)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per group and explainer; one per decision; one per comparison of forms."""
    study, others = inputs.study(settings)
    return Computed(list(decision_tables(study, inputs.folders["answers"], **others)), score_notes(study))
