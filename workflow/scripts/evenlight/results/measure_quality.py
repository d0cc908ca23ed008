"""Measure how well the models classify each group, per seed and over the seeds, and whether they have learnt."""

from evenlight.core.contracts.results import BALANCED_ACCURACY, QUALITY, QUALITY_PER_SEED
from evenlight.results import Computed, Inputs
from evenlight.statistics.chance_level import said_of_chance
from evenlight.statistics.files import Runs
from evenlight.statistics.model_quality import balanced_accuracies, quality_per_seed, summarise_quality
from evenlight.statistics.study import taken

TABLES = (
    QUALITY,
    QUALITY_PER_SEED,
    BALANCED_ACCURACY,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """Over the seeds, with the texts that were left out; per seed; and beside guessing, with models that only guess."""
    runs, others = taken(Runs, settings)
    predicted = inputs.folders["datasets"], inputs.folders["predictions"], runs
    per_seed, notes = quality_per_seed(*predicted, **others)
    balanced = balanced_accuracies(*predicted)
    guessing = [f"warning: {text}" for text in said_of_chance(balanced)]
    return Computed([summarise_quality(per_seed), per_seed, balanced], notes, guessing)
