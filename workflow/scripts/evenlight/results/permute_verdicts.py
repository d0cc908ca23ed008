"""Make all verdicts again with the groups' labels permuted."""

from evenlight.core.contracts.results import LOOKS, VERDICT_CONTROL
from evenlight.results import Computed, Inputs
from evenlight.statistics.look_records import planned_looks
from evenlight.statistics.verdict_control import permuted_verdicts

TABLES = (VERDICT_CONTROL,)
# Where looks are planned.
READS = (LOOKS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """How many disparities each permutation has."""
    study, judging, others = inputs.judged(settings)
    looks = planned_looks(others.pop("looks", None), judging.alpha, inputs.tables)
    control = permuted_verdicts(study, judging, **others, looks=looks)
    return Computed([control], said=[control.to_string(index=False)])
