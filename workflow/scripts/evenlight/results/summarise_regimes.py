"""Say how correct the explanations are in every regime, beside the baseline and beside random scores."""

from evenlight.core.contracts.results import REGIMES
from evenlight.results import Computed, Inputs
from evenlight.statistics.regime_summary import regime_table
from evenlight.statistics.score_files import score_notes

TABLES = (REGIMES,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The means of every regime."""
    study, others = inputs.study(settings)
    table, notes = regime_table(study, **others)
    return Computed([table], notes + score_notes(study))
