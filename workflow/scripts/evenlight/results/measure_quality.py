"""Measure how well the models classify each group, per seed and over the seeds, and whether they have learnt."""

from evenlight.core.contracts.results import BALANCED_ACCURACY, QUALITY, QUALITY_PER_SEED
from evenlight.results import Computed, Inputs
from evenlight.statistics.chance_level import said_of_chance
from evenlight.statistics.model_quality import balanced_accuracies, quality_per_seed, summarise_quality

TABLES = (
    QUALITY,
    QUALITY_PER_SEED,
    BALANCED_ACCURACY,
)


def compute(inputs: Inputs, settings: dict) -> Computed:
    """Over the seeds, with the texts that were left out; per seed; and beside guessing, with models that only guess."""
    folders = inputs.folders["datasets"], inputs.folders["predictions"]
    per_seed, notes = quality_per_seed(*folders, **settings)
    balanced = balanced_accuracies(*folders, **{name: settings[name] for name in ("datasets", "models")})
    guessing = [f"warning: {text}" for text in said_of_chance(balanced)]
    return Computed([summarise_quality(per_seed), per_seed, balanced], notes, guessing)
