"""Entries of which rules are made: results, pages of tables, and plots."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Result:
    """A result of the study: what its class in evenlight.statistics computes, and the rule of its name runs.

    Attributes:
        about: what the rule is for.
        tables: what it makes below <results>/tables/, in the order of the module's.
        settings: what the tables depend on.
        of_runs: what it reads of all runs: patterns and files, by the flag that names their folder; see of_runs().
        reads: the tables below <results>/tables/ that it reads, in the order of the module's.
        content: files of this repository whose content counts.
        minutes: how long it may take; a result without this is small, and is not sent to other machines.
        keeps: whether it adds to its tables that are there.
    """

    about: str
    tables: list[str]
    settings: str
    of_runs: dict = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)
    content: list[str] = field(default_factory=list)
    minutes: int | None = None
    keeps: bool = False

    @property
    def files(self) -> dict[str, list[str]]:
        """What the rule's job waits for, by the flag that names their folder."""
        return {flag: files for flag, (_, files) in self.of_runs.items()}


@dataclass(frozen=True)
class Page:
    """A page of tables: what it reads below <results>/tables/, its settings, its place in the report.

    ``csv``: the names of the CSV files, where they are not those of ``tables``. ``at_one_look``: whether it tests, and
    its tests do not know of a plan of looks. ``verdicts``: whether it has verdicts, which do.
    """

    tables: list[str]
    settings: str
    category: str
    csv: list[str] = field(default_factory=list)
    at_one_look: bool = False
    verdicts: bool = False


@dataclass(frozen=True)
class Plot:
    """A figure drawn of one table: by the module of its name in evenlight.reports.plots, in the rule draw_<name>.

    Attributes:
        about: what the rule is for.
        table: what it is drawn of, below <results>/tables/.
        path: of the figure below <results>/figures/, without its suffix; of one dataset, where {dataset} is in it.
        settings: as of a rule.
        caption, category, labels: its place in the report.
        views: where {view} is in the path, a pattern of what may stand there.
    """

    about: str
    table: str
    path: str
    settings: str | Callable[..., str]
    caption: str
    category: str
    labels: dict[str, str]
    views: str | None = None

    @property
    def place(self) -> str:
        """Where its logs lie below the folder of its rule: the path without the first folder."""
        return "".join(self.path.partition(os.sep)[1:])
