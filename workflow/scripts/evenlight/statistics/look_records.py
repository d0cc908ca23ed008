"""The record of looks: which looks of a plan were made, with which texts, and what they spent.

The level of a plan holds only if the plan and the texts of earlier looks stay as they are. So a look that is made is
written down, and what would void the level is refused.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import LOOKS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.errors import InputError
from evenlight.statistics.compared import read_compared
from evenlight.statistics.files import items_path
from evenlight.statistics.looks import Looks
from evenlight.statistics.study import StudyScores


@dataclass(frozen=True)
class Plan:
    """What a study says of its looks.

    Attributes:
        name: of the plan; another name begins anew.
        planned: units of every look.
        spending: as :class:`evenlight.statistics.looks.Looks` has it.
        alpha: the level that is spent.
        settings: what else must not change after the first look, as text.
    """

    name: str
    planned: tuple[int, ...]
    spending: str | tuple[float, ...]
    alpha: float
    settings: str

    @classmethod
    def of(cls, looks: Mapping[str, Any], alpha: float, settings: str) -> "Plan":
        """The plan of what the configuration says."""
        spending = tuple(looks["spending_shares"]) or looks["spending"]
        return cls(looks["plan"], tuple(looks["looks"]), spending, alpha, settings)

    @property
    def shown(self) -> str:
        """Its numbers, in words."""
        spending = self.spending if isinstance(self.spending, str) else " ".join(f"{part:g}" for part in self.spending)
        return f"{' '.join(map(str, self.planned))} by {spending} at {self.alpha:g}"

    def looks(self, record: pd.DataFrame) -> Looks:
        """The looks that a record has of it."""
        made = record.loc[record["plan"] == self.name, "look"].sort_values() - 1
        return Looks(self.planned, tuple(int(number) for number in made), self.spending)


def texts_digest(study: StudyScores, units: int) -> str:
    """A digest of the texts that the first so many units have, of all datasets: words, labels, clusters and levels."""
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
    of_plan = record[record["plan"] == plan.name]
    remedy = (
        "take the change back, or begin a new plan with texts that nobody has looked at: give statistics.plan another "
        "name"
    )
    for look in of_plan.itertuples():
        if (look.planned, look.settings) != (plan.shown, plan.settings):
            change = f"{look.planned}, is now {plan.shown}"
            if look.planned == plan.shown:
                change = f"other settings than now ({', '.join(_differing(look.settings, plan.settings))})"
            raise InputError(
                f"statistics.looks: plan '{plan.name}' had {change}, and look {look.look} was made on {look.made}; "
                f"{remedy}"
            )
        if look.units > units:
            raise InputError(
                f"explain.pairs: found {units}, but the look with {look.units} was made on {look.made}; {remedy}"
            )
        if look.texts != digests[look.units]:
            raise InputError(
                f"explain.pairs: the texts of the look with {look.units} pairs are others than on {look.made}; {remedy}"
            )
    if units in set(of_plan["units"]):
        return record
    number = plan.planned.index(units)
    looks = Looks(plan.planned, (*plan.looks(record).made, number), plan.spending)
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


def _differing(before: str, now: str) -> list[str]:
    """The keys of two mappings, as JSON, whose values differ.

    >>> _differing('{"a": 1, "b": 2}', '{"a": 1, "b": 3, "c": 4}')
    ['b', 'c']
    """
    first, second = json.loads(before), json.loads(now)
    return sorted(key for key in first.keys() | second.keys() if first.get(key) != second.get(key))


def looks_said(plan: Plan, record: pd.DataFrame, draws: int) -> list[str]:
    """What a reader must know of the looks that were made."""
    looks = plan.looks(record)
    spent = looks.spent(plan.alpha)
    present = looks.made[-1]
    said = [
        f"look {present + 1} of {len(plan.planned)}, with {plan.planned[present]} of {plan.planned[-1]} pairs (texts, "
        f"where there are none): {spent[-1]:.2g} of the level {plan.alpha:g} is spent so far. Verdicts hold over all "
        "looks of the plan; other tables test at this look alone"
    ]
    if skipped := [number + 1 for number in range(present) if number not in looks.made]:
        said.append(f"skipped, so that nothing was spent by them: {_numbered(skipped)}")
    little = [number + 1 for number, part in zip(looks.made, spent, strict=True) if part < 2 / (draws + 1)]
    if little:
        said.append(
            f"{_numbered(little)} spent less than {draws} resamples can show, and finds nothing: take more "
            "statistics.bootstrap_draws, a later first look, or statistics.spending: pocock"
        )
    return said


def _numbered(looks: Sequence[int]) -> str:
    """Numbers of looks, in words.

    >>> _numbered([1]), _numbered([1, 2])
    ('look 1', 'looks 1, 2')
    """
    return f"look{'s' if len(looks) > 1 else ''} {', '.join(map(str, looks))}"
