"""The record of looks: which looks of a plan were made, with which texts, and what they spent.

The level of a plan holds only if the plan and the texts of earlier looks stay as they are. So a look that is made is
written down, and what would void the level is refused (:mod:`evenlight.statistics.look_plans`).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import LOOKS
from evenlight.core.contracts.texts import ITEMS
from evenlight.statistics.compared import read_compared
from evenlight.statistics.files import items_path
from evenlight.statistics.look_plans import Plan, refuse_another_plan, refuse_other_texts
from evenlight.statistics.looks import ONE_LOOK, Looks
from evenlight.statistics.study import StudyScores


def looks_of(plan: Plan, record: pd.DataFrame) -> Looks:
    """The looks that a record has of a plan."""
    made = record.loc[record["plan"] == plan.name, "look"].sort_values() - 1
    return Looks(plan.planned, tuple(int(number) for number in made), plan.spending)


def planned_looks(planned: Mapping[str, Any] | None, alpha: float, tables: Sequence[pd.DataFrame]) -> Looks:
    """The looks that were made, of what the configuration says of a plan and of its record, the first of ``tables``.

    One look where there is no plan.
    """
    return looks_of(Plan.of(planned, alpha, ""), tables[0]) if planned else ONE_LOOK


def texts_digest(study: StudyScores, units: int) -> str:
    """A digest of the texts that the first so many units have, of all datasets: words, labels, clusters and levels.

    It is the same before they are scored, of a study without scores.
    """
    lines = set()
    for source in replace(study, first=units).sources().values():
        words: dict[str, pd.DataFrame] = {}
        for model in read_compared(source):
            if model.dataset not in words:
                items = tables.read_table(
                    items_path(source.units, model.dataset), ITEMS.only("item_id", "words", "label", "cluster")
                )
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


def looks_said(plan: Plan, record: pd.DataFrame) -> list[str]:
    """What a reader must know of the looks that were made."""
    looks = looks_of(plan, record)
    spent = looks.spent(plan.alpha)
    present = looks.made[-1]
    said = [
        f"look {present + 1} of {len(plan.planned)}, with {plan.planned[present]} of {plan.planned[-1]} pairs (texts, "
        f"where there are none): {spent[-1]:.2g} of the level {plan.alpha:g} is spent so far. Verdicts hold over all "
        "looks of the plan; tests without a verdict hold at this look alone, and are exploratory"
    ]
    if skipped := [number + 1 for number in range(present) if number not in looks.made]:
        said.append(f"skipped, so that nothing was spent by them: {_numbered(skipped)}")
    return said


def _numbered(looks: Sequence[int]) -> str:
    """Numbers of looks, in words.

    >>> _numbered([1]), _numbered([1, 2])
    ('look 1', 'looks 1, 2')
    """
    return f"look{'s' if len(looks) > 1 else ''} {', '.join(map(str, looks))}"
