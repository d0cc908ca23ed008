"""Measure what models take for what: confusions, and curves of true and false positives."""

from evenlight.core.contracts.results import CONFUSIONS, ROC_CURVES
from evenlight.results import Computed, Inputs
from evenlight.statistics.files import Runs
from evenlight.statistics.predictions import prediction_tables
from evenlight.statistics.study import taken

TABLES = (
    CONFUSIONS,
    ROC_CURVES,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """Both tables."""
    runs, _ = taken(Runs, settings)
    confusions, curves = prediction_tables(inputs.folders["datasets"], inputs.folders["predictions"], runs)
    areas = curves.groupby(["dataset", "model", "class"], sort=False)["auc"].mean()
    return Computed([confusions, curves], said=[areas.to_string()])
