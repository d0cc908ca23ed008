"""The record of looks: which looks of a plan were made, with which texts, and what they spent.

The level of a plan holds only if the plan and the texts of earlier looks stay as they are. So a look that is made is
written down, and what would void the level is refused (:mod:`evenlight.statistics.comparisons.look_plans`).
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import LOOK_TEXTS, LOOKS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.errors import InputError
from evenlight.core.kinds import COMPARING
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, JudgedAtLooks
from evenlight.statistics.arrays.multiple_testing import Looks
from evenlight.statistics.comparisons.compared import read_compared
from evenlight.statistics.comparisons.files import items_path
from evenlight.statistics.comparisons.look_plans import (
    Plan,
    Planned,
    looks_of,
    now_as_text,
    read_record,
    record_digest,
    refuse_another_plan,
    refuse_other_texts,
)
from evenlight.statistics.comparisons.study import StudyScores


def texts_digest(study: StudyScores, units: int) -> str:
    """A digest of the texts that the first so many units have, of all datasets: words, labels, clusters and levels.

    It is the same before they are scored, of a study without scores.
    """
    lines = set()
    for source in replace(study, first=units).sources().values():
        words: dict[str, pd.DataFrame] = {}
        for model in read_compared(source):
            if model.dataset not in words:
                path = items_path(source.folders["units"], model.dataset)
                items = tables.read_table(path, ITEMS.only("item_id", "words", "label", "cluster"))
                words[model.dataset] = items.set_index("item_id")[["words", "label", "cluster"]]
            names = model.items["item_id"]
            texts = words[model.dataset].loc[names].itertuples()
            lines |= {json.dumps([model.dataset, row.Index, list(row.words), row.label, row.cluster]) for row in texts}
            units_of = model.units[model.units["item_id"].isin(names)].astype(str)
            lines |= {json.dumps([model.dataset, *row]) for row in units_of.itertuples(index=False)}
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def with_look(record: pd.DataFrame, plan: Plan, units: int, digests: Mapping[int, str], when: str) -> pd.DataFrame:
    """The record with the present look, which is that of ``units``; as it was where this look was made before.

    Args:
        record: rows of :data:`LOOKS`, of this plan and others.
        plan: the present one.
        units: of the present look.
        digests: of the texts that each look of the plan up to this one has now (:func:`texts_digest`).
        when: the time, as text.

    Raises :class:`InputError` where the plan, or a text of an earlier look, is another than it was, or a later look was
    made already.
    """
    refuse_another_plan(record, plan, units)
    refuse_other_texts(record, plan, digests)
    if units in set(record.loc[record["plan"] == plan.name, "units"]):
        return record
    number = plan.planned.index(units)
    looks = Looks(plan.planned, (*looks_of(plan, record).made, number), plan.spending)
    row = {
        "plan": plan.name,
        "planned": plan.shown,
        "settings": plan.settings,
        "look": number + 1,
        "units": units,
        "spent": float(looks.spent(plan.alpha)[-1]),
        "texts": digests[units],
        "made": when,
    }
    return pd.concat([record, pd.DataFrame([row])], ignore_index=True)[LOOKS.schema.names]


def describe_looks(plan: Plan, record: pd.DataFrame) -> list[str]:
    """What a reader must know of the looks that were made."""
    looks = looks_of(plan, record)
    spent = looks.spent(plan.alpha)
    present = looks.made[-1]
    said = [
        f"look {present + 1} of {len(plan.planned)}, with {plan.planned[present]} of {plan.planned[-1]} pairs (texts, "
        f"where there are none): {spent[-1]:.2g} of the level {plan.alpha:g} is spent so far. Verdicts hold over all "
        "looks of the plan; tests without a verdict hold at this look alone, and are exploratory"
    ]
    if skipped := [str(number + 1) for number in range(present) if number not in looks.made]:
        which = f"look{'s' if len(skipped) > 1 else ''} {', '.join(skipped)}"
        said.append(f"skipped, so that nothing was spent by them: {which}")
    return said


class PlannedLooks(JudgedAtLooks):
    """Looks of a plan, which there must be.

    Attributes:
        pairs: the units of the present look.
        record: the file of the record, which need not be there.
    """

    of_kinds: ClassVar[Collection[str]] = COMPARING

    looks: Planned
    pairs: int
    record: str

    @classmethod
    def is_made(cls, study) -> bool:
        """Whether a study compares, and plans looks."""
        return bool(super().is_made(study) and study.planned_looks)

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """As of verdicts, with the present look and its record."""
        present = {"pairs": study.config["explain"]["pairs"], "record": study.looks_made}
        return super().asked(study) | present


class CheckLooks(PlannedLooks):
    """Refuse, before anything is explained, what would void the level that the plan of looks states."""

    tables: ClassVar[Mapping[str, Contract]] = {"look_texts": LOOK_TEXTS}
    reads: ClassVar[Mapping[str, Contract]] = {}
    folders: ClassVar[Sequence[str]] = ("units", "predictions")

    result: Literal["check_looks"]

    def compute(self, inputs: Inputs) -> Computed:
        """The digests of the texts that each look up to the present one has."""
        plan, unscored = Plan.of(self.looks, self.judging.alpha), inputs.located(self.study)
        record = read_record(Path(self.record), plan)
        refuse_another_plan(record, plan, self.pairs)
        digests = {number: texts_digest(unscored, number) for number in plan.planned if number <= self.pairs}
        refuse_other_texts(record, plan, digests)
        for (earlier, before), (later, now) in pairwise(digests.items()):
            if before == now:
                raise InputError(
                    f"explain.pairs: the look with {later} pairs has the texts of that with {earlier} and no more, so "
                    "that what was predicted is of an earlier look, or no dataset has more pairs; make it again: "
                    "snakemake --forcerun read_texts. Where that changes nothing, the plan ends with the look of "
                    f"{earlier}"
                )
        return Computed([pd.DataFrame({"units": list(digests), "texts": list(digests.values())})])


class RecordLooks(PlannedLooks):
    """Write down the look that is made, and refuse what would void the level that the plan of looks states."""

    tables: ClassVar[Mapping[str, Contract]] = {"looks": LOOKS}
    reads: ClassVar[Mapping[str, Contract]] = {"look_texts": LOOK_TEXTS}
    keeps: ClassVar[bool] = True

    result: Literal["record_looks"]

    def compute(self, inputs: Inputs) -> Computed:
        """The record with a row for this look."""
        plan, [texts] = Plan.of(self.looks, self.judging.alpha), inputs.tables
        # The table that is there is the record of earlier looks.
        before = read_record(Path(self.record), plan)
        digests = dict(zip(texts["units"], texts["texts"], strict=True))
        record = with_look(before, plan, self.pairs, digests, now_as_text())
        about = {"digest": record_digest(record, LOOKS)}
        return Computed([record], describe_looks(plan, record), [record.to_string()], about)
