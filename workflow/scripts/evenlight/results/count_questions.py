"""How many questions of each dataset are audited, and how many have answers."""

from evenlight.core.contracts.results import AUDITED_QUESTIONS
from evenlight.results import Computed, Inputs
from evenlight.statistics.files import Runs
from evenlight.statistics.study import taken
from evenlight.statistics.text_counts import count_texts

TABLES = (AUDITED_QUESTIONS,)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per dataset: questions are texts, of which answers are what explains them."""
    runs, others = taken(Runs, settings)
    return Computed(count_texts(inputs.folders["scores"], inputs.folders["datasets"], runs, **others)[:1])
