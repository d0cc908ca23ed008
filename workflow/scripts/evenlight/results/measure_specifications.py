"""Ask the same question in every way that the study has, and again with permuted groups: the specification curves."""

from evenlight.core.contracts.results import SPECIFICATION_CURVES, SPECIFICATIONS
from evenlight.results import Computed, Inputs
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.specifications import specification_tables

TABLES = (
    SPECIFICATION_CURVES,
    SPECIFICATIONS,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """A row per question and curve, and one for each way to ask it."""
    study, others = inputs.study(settings)
    specifications, curves = specification_tables(study, **others)
    return Computed([curves, specifications], score_notes(study))
