"""Hold the change of decision between two forms against that between two answers to one form."""

from evenlight.core.contracts.results import DECISIONS
from evenlight.results import Computed, Inputs
from evenlight.statistics.decisions import decision_table
from evenlight.statistics.score_files import score_notes

TABLES = (DECISIONS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per model, explainer in words and pair of forms."""
    study, judging, _ = inputs.judged(settings)
    return Computed([decision_table(study, judging, inputs.folders["answers"])], score_notes(study))
