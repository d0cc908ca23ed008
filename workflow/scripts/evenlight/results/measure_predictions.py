"""Measure what models take for what: confusions, and curves of true and false positives."""

from evenlight.core.contracts.results import CONFUSIONS, ROC_CURVES
from evenlight.results import Computed, Inputs
from evenlight.statistics.predictions import prediction_tables

TABLES = (
    CONFUSIONS,
    ROC_CURVES,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """Both tables."""
    confusions, curves = prediction_tables(inputs.folders["datasets"], inputs.folders["predictions"], **settings)
    areas = curves.groupby(["dataset", "model", "class"], sort=False)["auc"].mean()
    return Computed([confusions, curves], said=[areas.to_string()])
