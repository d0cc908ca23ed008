"""One row per comparison of a study, over all its seeds: who wins how often, effect sizes, and a verdict."""

from collections.abc import Collection, Iterator, Mapping
from typing import ClassVar, Literal

import pandas as pd

from evenlight.core.contracts.results import EFFECT_COUNTS, EFFECTS
from evenlight.core.kinds import COMPARING
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, JudgedAtLooks
from evenlight.statistics.arrays.multiple_testing import ONE_LOOK, Looks
from evenlight.statistics.comparisons.cells import ModelScores
from evenlight.statistics.comparisons.compared import read_first
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.study import StudyScores, VerdictSettings
from evenlight.statistics.comparisons.verdict_tables import notes_of, tables_of, tied_notes
from evenlight.statistics.comparisons.verdicts import adjustment_notes
from evenlight.texts.items import check_compared


def effect_tables(
    study: StudyScores, judging: VerdictSettings, *, looks: Looks = ONE_LOOK
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """All comparisons of a study, rows of :data:`EFFECTS`, counts of sets of them, rows of :data:`EFFECT_COUNTS`,
    and notes on how families were adjusted, on forms that have no score, and on ties.

    Args:
        study: its scores, those of the present interim analysis.
        judging: the level, the margins (``smallest_effects``) and the families.
        looks: the interim analyses that are planned, up to this one.

    Raises:
        InputError: a margin is larger than what scores of its metric differ by.
    """

    def read(units: int | None) -> Iterator[ModelScores]:
        for model in read_first(study, units):
            check_compared(model.dataset, model.units, model.items["item_id"], model.comparisons, study.smallest_group)
            yield model

    table, counts = tables_of(read, judging, looks)
    notes = [*notes_of(table, judging), *tied_notes(table), *adjustment_notes(table, judging, looks)]
    return table[EFFECTS.schema.names], counts, notes


class EstimateEffects(JudgedAtLooks):
    """Count in how many pairs each group is explained better, estimate effect sizes, and say what can be claimed."""

    tables: ClassVar[Mapping[str, Contract]] = {"effects": EFFECTS, "effect_counts": EFFECT_COUNTS}
    version: ClassVar[int] = 4
    of_kinds: ClassVar[Collection[str]] = COMPARING
    minutes: ClassVar[int] = 120

    result: Literal["estimate_effects"]

    def compute(self, inputs: Inputs) -> Computed:
        """A row per cell with its verdict, and a row per set of cells."""
        study, looks = inputs.located(self.study), self.looks_made(inputs)
        # If the record is lost, this tells it.
        about = {"looks": {self.looks.plan: looks.units}} if self.looks else {}
        effects, counts, notes = effect_tables(study, self.judging, looks=looks)
        notes = [*(inputs.notes[0] if self.looks else []), *score_notes(study), *notes]
        return Computed([effects, counts], notes, [effects["verdict"].value_counts().to_string()], about)
