"""The specification curves: figures of all explainers; the CSV tables have the curve of each method, too."""

from evenlight.core.contracts.results import SPECIFICATION_CURVES, SPECIFICATIONS
from evenlight.reports.entries import Shown

TABLES = (SPECIFICATION_CURVES, SPECIFICATIONS)


def shown(study) -> Shown | None:
    """In a study of disparity that asks a question in several ways."""
    if "measure_specifications" not in study.results:
        return None
    curves = {"dataset": study.compared_datasets(), "kind": list(study.specified())}
    return Shown("Disparity", further={"draw_specifications": curves})
