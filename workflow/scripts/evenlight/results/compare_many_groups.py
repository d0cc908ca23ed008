"""Test sets of more than two groups: Kruskal-Wallis, Friedman, and Dunn's comparisons of their pairs."""

from evenlight.core.contracts.results import GROUP_PAIRS, GROUPS
from evenlight.results import Computed, Inputs
from evenlight.statistics.groups import group_tables
from evenlight.statistics.score_files import score_notes

TABLES = (
    GROUPS,
    GROUP_PAIRS,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per set, and one per pair of groups in it, with which groups were too small."""
    study, others = inputs.study(settings)
    tests, pairs, notes = group_tables(study, **others)
    return Computed([tests, pairs], notes + score_notes(study))
