"""Measure how faithful the reasons of each model are, beside what draws of one question do."""

from evenlight.core.contracts.results import FAITHFULNESS
from evenlight.results import Computed, Inputs
from evenlight.statistics.faithfulness import faithfulness_table

TABLES = (FAITHFULNESS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row for each measure of each run, of all questions and of each group."""
    table = faithfulness_table(inputs.folders, **settings)
    return Computed([table])
