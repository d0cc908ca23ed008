"""Say whether explainers that challenge all others are better than each of them."""

from evenlight.core.contracts.results import CHALLENGER_PAIRS, CHALLENGERS
from evenlight.results import Computed, Inputs
from evenlight.statistics.challengers import challenger_tables
from evenlight.statistics.score_files import score_notes

TABLES = (
    CHALLENGERS,
    CHALLENGER_PAIRS,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The verdicts, and the pairs of explainers behind them."""
    study, others = inputs.study(settings)
    verdicts, pairs = challenger_tables(study, **others)
    return Computed([verdicts, pairs], score_notes(study), [verdicts["verdict"].value_counts().to_string()])
