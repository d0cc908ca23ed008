"""How probable masked language models find the words of texts: figures, of which the CSV table has all numbers."""

from evenlight.core.contracts.results import MASKED_SUMMARY
from evenlight.reports.entries import Drawn, Shown

TABLES = (MASKED_SUMMARY,)


def shown(study) -> Shown | None:
    """Where a study has masked words."""
    if "summarise_masked_words" not in study.results:
        return None
    drawn = Drawn(
        "How probable the words of the texts are before and after each training, by group.",
        "masked_words/{dataset}",
        study.drawn_of_dataset(strategies=study.config["statistics"]["strategies"]),
        shows="masked words",
    )
    return Shown("Models", figures={"masked_words": drawn})
