"""Which texts the verdicts of a study judge: a digest for each comparison, by which other texts are known."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import INTERIM_ANALYSES
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.kinds import COMPARING
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfScores
from evenlight.statistics.analyses.interim_analyses import (
    COMPARISON,
    describe_repeated,
    of_present,
    with_analyses,
)
from evenlight.statistics.comparisons.cells import Design, ModelScores, Side
from evenlight.statistics.comparisons.compared import read_compared
from evenlight.statistics.comparisons.files import items_path
from evenlight.statistics.comparisons.look_plans import now_as_text, read_kept, record_digest
from evenlight.statistics.comparisons.study import StudyScores

COUNTED = ["units_a", "units_b", "texts"]


def judged_texts(study: StudyScores) -> pd.DataFrame:
    """The units that each comparison of a study judges, of all its explainers and metrics.

    Neither order nor names of texts change the digest, nor do new models, explainers or metrics, or another comparison.

    Returns:
        A row per comparison: its dataset, model, factor and both levels in alphabetical order; ``units_a`` and
        ``units_b``, how many units either has; ``texts``, the SHA-256 of their words, labels and pairs.
    """
    rows = []
    for source in study.sources().values():
        texts: dict[str, pd.Series] = {}
        for model in read_compared(source):
            if model.dataset not in texts:
                items = tables.read_table(
                    items_path(source.folders["units"], model.dataset), ITEMS.only("item_id", "words", "label")
                )
                written = [json.dumps([list(row.words), row.label]) for row in items.itertuples(index=False)]
                texts[model.dataset] = pd.Series(written, index=items["item_id"])
            words = texts[model.dataset].loc[model.items["item_id"]].tolist()
            rows += [_row(model, design, words, texts[model.dataset]) for design in model.designs]
    return pd.DataFrame(rows, columns=[*COMPARISON, *COUNTED])


def _row(model: ModelScores, design: Design, words: Sequence[str], texts: pd.Series) -> dict:
    """The row of one comparison; ``words`` of the items of the model, ``texts`` of all by name."""
    sides = sorted(zip(design.comparison.levels, (design.a, design.b), strict=True), key=lambda side: side[0])
    (level_a, a), (level_b, b) = sides
    # A pair is named by the words of one of its forms, the same one whatever the order of the levels.
    first = zip(a.items, b.items, strict=True) if design.paired else []
    pairs = [texts[of_b if of_a is None else of_a] for of_a, of_b in first]
    lines = sorted(
        json.dumps([level, words[column], pairs[unit] if pairs else None])
        for level, side in sides
        for column, unit in zip(side.columns, side.unit_index, strict=True)
    )
    found = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    place = (model.dataset, model.model, design.comparison.factor, level_a, level_b)
    return dict(zip([*COMPARISON, *COUNTED], (*place, _count(a), _count(b), found), strict=True))


def _count(side: Side) -> int:
    return len(np.unique(side.unit_index))


class RecordAnalyses(OfScores):
    """Write down which texts the verdicts of the study have judged, and say where they were judged several times.

    Attributes:
        record: the file of the record, which need not be there.
        plan, alpha, pairs: as :func:`evenlight.statistics.analyses.interim_analyses.with_analyses` has them.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"interim_analyses": INTERIM_ANALYSES}
    of_kinds: ClassVar[Collection[str]] = COMPARING
    keeps: ClassVar[bool] = True

    result: Literal["record_analyses"]
    record: str
    plan: str
    alpha: float
    pairs: dict[str, int | None]

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """What is compared, and what an analysis is written down with."""
        return super().asked(study) | study.analysis_settings()

    def compute(self, inputs: Inputs) -> Computed:
        """The record with the present analysis; without a new row where the same texts were judged before."""
        study = inputs.located(self.study)
        judged = judged_texts(study)
        # Changes of concepts come of the texts of a dataset: its files are theirs.
        folder = inputs.folders.get("datasets", study.folders["units"])
        files = {
            name: json.dumps(tables.read_metadata(items_path(folder, name), ITEMS).get("sources", {}), sort_keys=True)
            for name in study.datasets
        }
        # The table that is there is the record of earlier analyses.
        before = read_kept(Path(self.record), INTERIM_ANALYSES)
        record = with_analyses(
            before, judged, plan=self.plan, level=self.alpha, pairs=self.pairs, files=files, made=now_as_text()
        )
        present = describe_repeated(of_present(record, judged))
        about = {"digest": record_digest(record, INTERIM_ANALYSES), "present": present}
        return Computed([record], (), [f"warning: {text}" for text in present["warnings"]], about)
