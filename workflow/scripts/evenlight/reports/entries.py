"""What a study shows: a page of tables with its figures, said by the module of the page in ``shown(study)``.

The study is asked as rules ask it (:class:`evenlight.workflow.study.Study`). Snakemake reads all of these modules, so
none imports at its head what draws, or what reads a configuration.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenlight.core.tables import Contract

# What a comparison is of.
COMPARED = ("datasets", "models", "explainers", "metrics")


@dataclass(frozen=True)
class Drawn:
    """A figure drawn of one table: by the module of its name in evenlight.reports.plots, in the rule draw_<name>.

    Attributes:
        about: what the rule is for.
        path: of the figure below <results>/figures/, without its suffix; of one dataset, where {dataset} is in it.
        settings: as of a rule.
        shows: under which name the report lists it, beside the wildcards of its path.
        on: which of the wildcards a study shows, where not all; None where it shows none of itself.
        table: of what it is drawn, the first table of its page.
        views: where {view} is in the path, a pattern of what may stand there.
        category: its place in the report, that of its page.
    """

    about: str
    path: str
    settings: str | Callable[..., str]
    shows: str
    on: Mapping[str, Any] | None = field(default_factory=dict)
    table: Contract | None = None
    views: str | None = None
    category: str | None = None

    @property
    def named(self) -> dict[str, str]:
        """The wildcards of its path that are no part of what it shows."""
        wildcards = re.findall(r"{\w+}", self.path)
        return {name.strip("{}"): name for name in wildcards if name not in self.shows}

    @property
    def place(self) -> str:
        """Where its logs lie below the folder of its rule: the path without the first folder."""
        return "".join(self.path.partition(os.sep)[1:])


@dataclass(frozen=True)
class Shown:
    """A page of tables in a study, or figures alone: their place in the report, and settings.

    Attributes:
        category: its place in the report.
        settings: as of a rule, keywords of ``page``; of figures alone none.
        tables: what it reads, where a study does without the last of its tables.
        at_one_look: whether it tests, and its tests do not know of a plan of looks.
        verdicts: whether it has verdicts, which do.
        figures: by the names of their modules.
        further: figures that a rule of its own draws, by the name of this rule, with the wildcards that are shown.
    """

    category: str
    settings: str = ""
    tables: Sequence[Contract] | None = None
    at_one_look: bool = False
    verdicts: bool = False
    figures: Mapping[str, Drawn] = field(default_factory=dict)
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
