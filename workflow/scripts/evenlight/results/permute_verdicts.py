"""Make all verdicts again with the groups' labels permuted."""

from evenlight.core.contracts.results import VERDICT_CONTROL
from evenlight.results import Computed, Inputs
from evenlight.statistics.verdict_control import permuted_verdicts

TABLES = (VERDICT_CONTROL,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """How many disparities each permutation has."""
    study, judging, others = inputs.judged(settings)
    control = permuted_verdicts(study, judging, **others)
    return Computed([control], said=[control.to_string(index=False)])
