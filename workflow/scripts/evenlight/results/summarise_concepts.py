"""Sum up what concepts do to every model, and how far every explainer's estimates of it are off."""

from evenlight.core.contracts.explanations import CONCEPT_LABELS
from evenlight.core.contracts.results import CONCEPT_EFFECTS, CONCEPT_ERRORS
from evenlight.core.tables import read_metadata
from evenlight.results import Computed, Inputs
from evenlight.statistics.concept_summary import concept_tables, forgetting_notes, notes_of_explainers
from evenlight.statistics.files import Runs
from evenlight.statistics.study import taken

TABLES = (
    CONCEPT_ERRORS,
    CONCEPT_EFFECTS,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """Errors and effects; how good the predicted levels are, and what networks have forgotten, is written beside
    them.
    """
    results, (runs, others) = (
        inputs.folders["results"],
        taken(Runs, settings | {"datasets": list(settings["concepts"])}),
    )
    forgetting = others.pop("forgetting")
    errors, effects = concept_tables(results, runs, **others)
    notes = [
        f"dataset '{dataset}': {note}"
        for dataset in runs.datasets
        for note in read_metadata(results / "changes" / dataset / "labels.parquet", CONCEPT_LABELS)["notes"]
    ]
    notes += notes_of_explainers(results, runs, others["explainers"])
    notes += forgetting_notes(results, runs, others["concepts"], forgetting)
    return Computed([errors, effects], notes)
