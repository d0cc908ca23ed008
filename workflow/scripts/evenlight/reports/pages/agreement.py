"""How far the explainers agree: figures, of which the CSV table has all numbers, and those of each group."""

from evenlight.core.contracts.results import AGREEMENT_SUMMARY
from evenlight.core.kinds import TOKENS
from evenlight.reports.entries import Drawn, Shown

TABLES = (AGREEMENT_SUMMARY,)


def shown(study) -> Shown | None:
    """Where a study has agreement, of datasets with several explainers."""
    if "summarise_agreement" not in study.results:
        return None
    drawn = Drawn(
        "Agreement of every two explainers on one dataset, for each model.",
        "agreement/{dataset}",
        study.drawn_of_dataset("models", "explainers", of=TOKENS),
        shows="agreement",
        on={"dataset": study.datasets_of_several_explainers()},
    )
    return Shown("Explainers", figures={"agreement": drawn})
