"""Answers in words that the authors of a study have released: where their files are, and what makes one table of them.

Nothing of them is in the repository. Files are fetched by address and SHA-256 (:mod:`evenlight.core.sources`), or taken
from a mirror. The Snakefile imports this module, so it imports no library of tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from evenlight.core import sources

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Release:
    """Released answers.

    Attributes:
        module: of :mod:`evenlight.datasets`, whose ``read_part(folder, part, resources)`` makes a table of some files.
        parts: the sources of each part that a study may read, by names of the registry of sources.
        resources: the file of this repository that is needed, if any.
    """

    module: str
    parts: Mapping[str, Sequence[str]]
    resources: str | None = None

    def read(self, folder: Path, part: str, resources: Path | None = None) -> "pd.DataFrame":
        """The table of a part, of a folder in which its files lie under their names."""
        return import_module(f"evenlight.datasets.{self.module}").read_part(folder, part, resources)


TALK = tuple(f"walk_the_talk/{path}" for path in sources.WALK_THE_TALK_SHA256)

RELEASES = {
    "dialect": Release(
        "dialect",
        {
            "bigbench": [f"dialect/{path}" for path in sources.DIALECT_SHA256],
            "uncertainty": [f"dialect/uncertainty/{path}" for path in sources.DIALECT_DRAWS_SHA256],
        },
    ),
    "walk_the_talk": Release(
        "walk_the_talk", {"questions": TALK, "swapped": TALK}, "resources/published/walk_the_talk.yaml"
    ),
}
