"""The check of the ground truth: figures of words that are associated with a label; the CSV tables have counts, too."""

from evenlight.core.contracts.results import WORD_ASSOCIATIONS
from evenlight.reports.entries import Drawn, Shown

TABLES = (WORD_ASSOCIATIONS,)


def shown(study) -> Shown | None:
    """In a study of strategies, of datasets whose words may be told."""
    if "check_ground_truth" not in study.results:
        return None
    drawn = Drawn(
        "The words that are associated most with each class, and how far all others do.",
        "word_associations/{dataset}",
        study.drawn_of_dataset(),
        shows="associations of words",
        on={"dataset": study.datasets_shown()},
    )
    return Shown("Data", figures={"associations": drawn})
