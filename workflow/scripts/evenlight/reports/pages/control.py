"""The control with permuted labels: a figure, of which the CSV table has all numbers, and those of each model."""

from evenlight.core.contracts.results import CONTROL
from evenlight.reports.entries import Drawn, Shown

TABLES = (CONTROL,)


def shown(study) -> Shown | None:
    """In a study of disparity, where a dataset has both levels of a pair."""
    if "permute_groups" not in study.results or not study.compared_datasets(study.controlled):
        return None
    drawn = Drawn(
        "How many cells are significant, beside how many are with the groups' labels permuted.",
        "control",
        study.shown("datasets"),
        shows="control",
    )
    return Shown("Disparity", figures={"control": drawn})
