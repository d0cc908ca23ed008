"""How differently the forms of a sentence are explained: figures, of which the CSV table has every run."""

from evenlight.core.contracts.results import ATTRIBUTION_DIFFERENCES
from evenlight.reports.entries import Drawn, Shown

TABLES = (ATTRIBUTION_DIFFERENCES,)


def shown(study) -> Shown | None:
    """In a study of strategies that compares forms of texts."""
    if "compare_attributions" not in study.results:
        return None
    drawn = Drawn(
        "A map of the p-values of differences between forms on one dataset, by run.",
        "attribution_differences/{dataset}",
        study.drawn_of_dataset(
            "explainers", strategies=study.config["statistics"]["strategies"], **study.of_statistics("alpha")
        ),
        shows="attribution differences",
    )
    return Shown("Strategies", figures={"attribution_differences": drawn})
