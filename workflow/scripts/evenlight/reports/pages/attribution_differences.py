"""How differently the forms of a sentence are explained: figures, of which the CSV table has every run."""

from evenlight.core.contracts.results import ATTRIBUTION_DIFFERENCES
from evenlight.reports.entries import Drawn, Shown

TABLES = (ATTRIBUTION_DIFFERENCES,)


def shown(study) -> Shown | None:
    """In a study of strategies that compares forms of texts."""
    if "compare_attributions" not in study.results:
        return None
    settings = {"strategies": study.config["statistics"]["strategies"], **study.of_statistics("alpha")}
    drawn = Drawn(
        "Differences between forms on one dataset: how large they are, or a map of their p-values by run.",
        "attribution_differences/{dataset}_{view}",
        lambda wildcards: study.shown(
            "explainers", dataset=study.label("datasets", wildcards.dataset), view=wildcards.view, **settings
        ),
        shows="attribution differences, {view}",
        on={"view": ["sizes", "tests"]},
        views="sizes|tests",
    )
    return Shown("Strategies", figures={"attribution_differences": drawn})
