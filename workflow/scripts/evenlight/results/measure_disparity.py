"""Test, run by run, whether two groups get explanations of the same quality."""

from evenlight.core.contracts.results import DISPARITY
from evenlight.results import Computed, Inputs
from evenlight.statistics.disparity import disparity_table

TABLES = (DISPARITY,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per cell and seed, with what could not be compared."""
    study, others = inputs.study(settings)
    table, notes = disparity_table(study, **others)
    return Computed([table], notes)
