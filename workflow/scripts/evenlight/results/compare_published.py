"""Lay this study's disparities beside the published ones: cell by cell, and how far both agree."""

from evenlight.core.contracts.results import PUBLISHED, PUBLISHED_AGREEMENT, PUBLISHED_QUALITY, QUALITY, SUMMARY
from evenlight.results import Computed, Inputs
from evenlight.statistics.published import agreement_beside, lay_beside, quality_beside, read_published

READS = (
    SUMMARY,
    QUALITY,
)
TABLES = (
    PUBLISHED,
    PUBLISHED_AGREEMENT,
    PUBLISHED_QUALITY,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """The cells of both studies, how far they agree, and the quality of the models beside the published one."""
    summary, models = inputs.tables
    names = {key: settings[key] for key in ("datasets", "models", "explainers", "metrics")}
    beside, published = settings["beside"], read_published(inputs.folders["published"])
    cells = lay_beside(summary, published, **names, beside=beside)
    quality = quality_beside(models, published, datasets=names["datasets"], beside=beside)
    return Computed([cells, agreement_beside(cells, **names), quality], inputs.notes[0])
