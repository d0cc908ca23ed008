"""Measure how faithful the reasons of each model are, beside what draws of one question do."""

from evenlight.core.contracts.results import FAITHFULNESS
from evenlight.metrics import Metric
from evenlight.results import Computed, Inputs
from evenlight.statistics.faithfulness import faithfulness_table
from evenlight.statistics.files import Runs
from evenlight.statistics.study import taken

TABLES = (FAITHFULNESS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row for each measure of each run, of all questions and of each group."""
    runs, others = taken(Runs, settings)
    metrics = {name: Metric.parse_all(others.pop(name)) for name in ("questions", "follow_ups")}
    return Computed([faithfulness_table(inputs.folders, runs, **metrics, **others)])
