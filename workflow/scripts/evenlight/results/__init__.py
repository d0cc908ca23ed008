"""What a study computes of its runs: a module for each result, which the rule of the same name runs.

A module of this package has

- ``TABLES``: the contracts of the tables that it makes, in the order in which they are written;
- ``READS``: the contracts of the tables that it reads, where it reads any;
- ``compute(inputs, settings)``, which takes :class:`Inputs` and gives :class:`Computed`.

``settings`` are what the configuration says of the result. The rules that name a result say where its files lie.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from evenlight.core.kinds import MODALITIES
from evenlight.statistics.study import StudyScores, VerdictSettings, taken


@dataclass(frozen=True)
class Inputs:
    """What a result reads.

    Attributes:
        folders: of what runs have made, by the names that the rule gives them.
        tables: those that its module reads, in the order of ``READS``.
        notes: what is to be said of each of these tables.
    """

    folders: Mapping[str, Path]
    tables: Sequence[pd.DataFrame] = ()
    notes: Sequence[Sequence[str]] = ()

    def study(self, settings: Mapping[str, Any]) -> tuple[StudyScores, dict[str, Any]]:
        """The scores of the study, and the settings that are about something else."""
        units = {name: self.folders[of.units] for name, of in MODALITIES.items() if of.units in self.folders}
        several = {name: of | {"units": units[name]} for name, of in settings.get("modalities", {}).items()}
        folders = {"scores": self.folders.get("scores"), "units": next(iter(units.values()))}
        folders |= {"modalities": several, "predictions": self.folders.get("predictions")}
        return taken(StudyScores, {**settings, **folders})

    def judged(self, settings: Mapping[str, Any]) -> tuple[StudyScores, VerdictSettings, dict[str, Any]]:
        """The same, and what leads from scores to verdicts."""
        study, others = self.study(settings)
        return study, *taken(VerdictSettings, others)


@dataclass(frozen=True)
class Computed:
    """What a result has made.

    Attributes:
        tables: in the order of ``TABLES``.
        notes: what is to be said of them on every page; the first table keeps it.
        said: lines for the log. Those that begin with ``warning:`` are shown where the run was started, too.
        about: what else the first table says of itself.
    """

    tables: Sequence[pd.DataFrame]
    notes: Sequence[str] = ()
    said: Sequence[str] = ()
    about: Mapping[str, Any] = field(default_factory=dict)


def said_of_left_out(explainers: Sequence[str]) -> list[str]:
    """What a table of explained tokens says where the study explains in words or by changes, too, by these explainers.

    >>> said_of_left_out(["leace", "tcav"]), said_of_left_out([])
    (["explanations of changes of a concept, or in words, are not in this table: 'leace', 'tcav'"], [])
    """
    listed = ", ".join(map(repr, explainers))
    return [f"explanations of changes of a concept, or in words, are not in this table: {listed}"] if listed else []
