"""The plan of looks, what is recorded of it, and what is refused: known before anything is explained.

The level of a plan holds only if the plan and the texts of earlier looks stay as they are. Where rules are made this is
imported, too, so that it waits for no library of statistics.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import EFFECTS, LOOKS
from evenlight.core.errors import InputError
from evenlight.core.tables import Contract
from evenlight.statistics.arrays.multiple_testing import Looks

REMEDY = (
    "take the change back, or begin a new plan with texts that nobody has looked at: give statistics.plan another name"
)
_PUT_BACK = "put back the file as it was written, such as from an archive of the study"


@dataclass(frozen=True, kw_only=True)
class Planned:
    """What the configuration says of looks.

    Attributes:
        plan, looks, spending, spending_shares: as in the section ``statistics``.
        settings: what else must not change after the first look, as text.
    """

    # Of the settings of a job it is made of a mapping.
    __pydantic_config__: ClassVar = {"strict": False, "extra": "forbid"}

    plan: str
    looks: Sequence[int]
    spending: str
    spending_shares: Sequence[float]
    settings: str = ""


@dataclass(frozen=True)
class Plan:
    """What a study says of its looks.

    Attributes:
        name: of the plan; another name begins anew.
        planned: units of every look.
        spending: as :class:`evenlight.statistics.arrays.multiple_testing.Looks` has it.
        alpha: the level that is spent.
        settings: what else must not change after the first look, as text.
    """

    name: str
    planned: tuple[int, ...]
    spending: str | tuple[float, ...]
    alpha: float
    settings: str

    @classmethod
    def of(cls, planned: Planned, alpha: float) -> "Plan":
        """The plan of what the configuration says."""
        spending = tuple(planned.spending_shares) or planned.spending
        return cls(planned.plan, tuple(planned.looks), spending, alpha, planned.settings)

    @property
    def shown(self) -> str:
        """Its numbers, in words."""
        spending = self.spending if isinstance(self.spending, str) else " ".join(f"{part:g}" for part in self.spending)
        return f"{' '.join(map(str, self.planned))} by {spending} at {self.alpha:g}"


def looks_of(plan: Plan, record: pd.DataFrame) -> Looks:
    """The looks that a record has of a plan."""
    made = record.loc[record["plan"] == plan.name, "look"].sort_values() - 1
    return Looks(plan.planned, tuple(int(number) for number in made), plan.spending)


def now_as_text() -> str:
    """The time as records have it."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def record_digest(record: pd.DataFrame, contract: Contract) -> str:
    """A digest of the rows of a record, which its file keeps."""
    return hashlib.sha256(record[contract.schema.names].to_csv(index=False).encode()).hexdigest()


def read_kept(path: Path, contract: Contract) -> pd.DataFrame:
    """A record that is written by jobs alone; without a row where it is not there.

    Raises:
        InputError: its rows were edited.
    """
    if not path.is_file():
        return pd.DataFrame(columns=contract.schema.names)
    record = tables.read_exactly(path, contract)
    if tables.read_metadata(path, contract).get("digest") != record_digest(record, contract):
        raise InputError(f"{path}: its rows are not those that were written; {_PUT_BACK}")
    return record


def read_record(path: Path, plan: Plan) -> pd.DataFrame:
    """The record of looks in a folder of tables; without a row before the first look.

    Raises:
        InputError: its rows were edited; or it is lost, or an earlier one, as effects beside it were estimated at a
            look of the plan that it does not have.
    """
    record, effects = read_kept(path, LOOKS), path.with_name("effects.parquet")
    known = tables.read_metadata(effects, EFFECTS).get("looks", {}) if effects.is_file() else {}
    if lost := sorted(set(known.get(plan.name, ())) - set(record.loc[record["plan"] == plan.name, "units"])):
        raise InputError(
            f"{path}: has no look with {', '.join(map(str, lost))}, at which {effects} was made by plan '{plan.name}'; "
            f"{_PUT_BACK}, or begin a new plan with texts that nobody has looked at: give statistics.plan another name"
        )
    return record


def settings_as_written(
    path: Path, name: str, now: dict[str, Any], with_defaults: Callable[[dict[str, Any]], dict[str, Any]]
) -> str:
    """What else a plan says, as JSON: as its first look wrote it down where nothing but defaults came since.

    A later version of this project knows settings that an earlier one did not. What it does by default is what the
    earlier one did, so that the plan is the same.

    Args:
        path: the record of looks, which need not be there.
        name: of the plan.
        now: what it says now, with all defaults.
        with_defaults: completes what was written down; InputError where a setting is known no longer.
    """
    present = json.dumps(now, sort_keys=True)
    record = tables.read_table(path, LOOKS) if path.is_file() else pd.DataFrame(columns=LOOKS.schema.names)
    for written in record.loc[record["plan"] == name, "settings"].head(1):
        try:
            completed = with_defaults(json.loads(written))
        except InputError:
            continue
        if json.dumps(completed, sort_keys=True) == present:
            return written
    return present


def refuse_another_plan(record: pd.DataFrame, plan: Plan, units: int) -> None:
    """Refuse a plan that is another one than at its first look, and fewer ``units`` than were looked at.

    Args:
        record: rows of :data:`LOOKS`, of this plan and others.
        plan: the present one.
        units: of the present look.
    """
    for look in record[record["plan"] == plan.name].itertuples():
        if (look.planned, look.settings) != (plan.shown, plan.settings):
            change = f"{look.planned}, is now {plan.shown}"
            if look.planned == plan.shown:
                change = f"other settings than now ({', '.join(_differing(look.settings, plan.settings))})"
            raise InputError(
                f"statistics.looks: plan '{plan.name}' had {change}, and look {look.look} was made on {look.made}; "
                f"{REMEDY}"
            )
        if look.units > units:
            raise InputError(
                f"explain.pairs: found {units}, but the look with {look.units} was made on {look.made}; {REMEDY}"
            )


def refuse_other_texts(record: pd.DataFrame, plan: Plan, digests: Mapping[int, str]) -> None:
    """Refuse texts of an earlier look that are others now.

    Args:
        record, plan: as for :func:`refuse_another_plan`.
        digests: of the texts that each look of the plan up to the present one has now.
    """
    for look in record[record["plan"] == plan.name].itertuples():
        if look.texts != digests[look.units]:
            raise InputError(
                f"explain.pairs: the texts of the look with {look.units} pairs are others than on {look.made}; {REMEDY}"
            )


def _differing(before: str, now: str) -> list[str]:
    """The keys of two mappings, as JSON, whose values differ.

    >>> _differing('{"a": 1, "b": 2}', '{"a": 1, "b": 3, "c": 4}')
    ['b', 'c']
    """
    first, second = json.loads(before), json.loads(now)
    return sorted(key for key in first.keys() | second.keys() if first.get(key) != second.get(key))
