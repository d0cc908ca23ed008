"""How many texts are audited: of each dataset and group, explained ones, and copies of others."""

from evenlight.core.contracts.results import AUDITED_GROUPS, AUDITED_TEXTS, DIFFERENT_TEXTS
from evenlight.results import Computed, Inputs
from evenlight.statistics.files import Runs
from evenlight.statistics.study import taken
from evenlight.statistics.text_counts import count_texts

TABLES = (
    AUDITED_TEXTS,
    AUDITED_GROUPS,
    DIFFERENT_TEXTS,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per dataset, one per group, and one per comparison with copies."""
    runs, others = taken(Runs, settings)
    return Computed(count_texts(inputs.folders["scores"], inputs.folders["datasets"], runs, **others))
