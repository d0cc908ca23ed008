"""Say whether explainers that challenge all others are better than each of them."""

from evenlight.core.contracts.results import CHALLENGER_PAIRS, CHALLENGERS, LOOKS
from evenlight.results import Computed, Inputs
from evenlight.statistics.challengers import challenger_tables
from evenlight.statistics.look_records import planned_looks
from evenlight.statistics.score_files import score_notes

TABLES = (CHALLENGERS, CHALLENGER_PAIRS)
# Where looks are planned.
READS = (LOOKS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The verdicts, and the pairs of explainers behind them."""
    study, judging, others = inputs.judged(settings)
    looks = planned_looks(others.pop("looks", None), judging.alpha, inputs.tables)
    verdicts, pairs, missing = challenger_tables(study, judging, **others, looks=looks)
    return Computed(
        [verdicts, pairs], [*score_notes(study), *missing], [verdicts["verdict"].value_counts().to_string()]
    )
