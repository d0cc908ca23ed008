"""The sanity check by random layers: figures, of which the CSV table has all numbers."""

from evenlight.core.contracts.results import RANDOMISATION
from evenlight.core.kinds import TOKENS
from evenlight.reports.entries import Drawn, Shown

TABLES = (RANDOMISATION,)


def shown(study) -> Shown | None:
    """Where a study has random layers, of datasets with explainers that can be asked again."""
    if "summarise_randomisation" not in study.results:
        return None
    drawn = Drawn(
        "Rank correlations of every explainer's scores with those by random layers, on one dataset.",
        "randomisation/{dataset}",
        study.drawn_of_dataset("models", "explainers", of=TOKENS),
        shows="randomisation",
        on={"dataset": study.randomised_datasets()},
    )
    return Shown("Explainers", figures={"randomisation": drawn})
