"""Sum up what concepts do to every model, and how far every explainer's estimates of it are off."""

from evenlight.core.contracts.explanations import CONCEPT_LABELS
from evenlight.core.contracts.results import CONCEPT_EFFECTS, CONCEPT_ERRORS
from evenlight.core.tables import read_metadata
from evenlight.results import Computed, Inputs
from evenlight.statistics.concept_summary import concept_tables, forgetting_notes, notes_of_explainers

TABLES = (
    CONCEPT_ERRORS,
    CONCEPT_EFFECTS,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """Errors and effects; how good the predicted levels are, and what networks have forgotten, is written beside
    them.
    """
    results, settings = inputs.folders["results"], dict(settings)
    forgetting = settings.pop("forgetting")
    errors, effects = concept_tables(results, **settings)
    notes = [
        f"dataset '{dataset}': {note}"
        for dataset in settings["concepts"]
        for note in read_metadata(results / "changes" / dataset / "labels.parquet", CONCEPT_LABELS)["notes"]
    ]
    notes += notes_of_explainers(results, **settings)
    notes += forgetting_notes(results, settings["concepts"], settings["models"], forgetting)
    return Computed([errors, effects], notes)
