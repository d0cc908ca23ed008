"""Count what each way of testing single seeds finds, per dataset and metric."""

from evenlight.core.contracts.results import DISPARITY, TEST_COUNTS
from evenlight.results import Computed, Inputs
from evenlight.statistics.counts import count_tests

READS = (DISPARITY,)
TABLES = (TEST_COUNTS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The counts."""
    return Computed([count_tests(inputs.tables[0], **settings)])
