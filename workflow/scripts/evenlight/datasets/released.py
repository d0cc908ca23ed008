"""Answers in words that the authors of a study have released: where their files are, and what makes one table of them.

Nothing of them is in the repository. Files are fetched by address and SHA-256 (:mod:`evenlight.core.sources`), or taken
from a mirror. What was released in thousands of files is read from one archive of its repository. The Snakefile imports
this module, so it imports no library of tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from evenlight.core import sources

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Release:
    """Released answers.

    Attributes:
        name: of a module of :mod:`evenlight.datasets`, whose ``read_part(folder, part, resources)`` makes a table of
            some files. Where there is an archive of this name, ``tables(files)`` makes these files of it.
        parts: the sources of each part that a study may read, by names of the registry of sources; none of an archive.
        resources: the file of this repository that is needed, if any.
    """

    name: str
    parts: Mapping[str, Sequence[str]]
    resources: str | None = None

    def read(self, folder: Path, part: str, resources: Path | None = None) -> "pd.DataFrame":
        """The table of a part, of a folder in which its files lie under their names."""
        return self._module().read_part(folder, part, resources)

    def tables(self, files: Mapping[str, bytes]) -> "dict[str, pd.DataFrame]":
        """The tables that are made of the files of an archive, by their paths in its folder."""
        return self._module().tables(files)

    def _module(self) -> ModuleType:
        return import_module(f"evenlight.datasets.{self.name}")


_DIALECT = [name for name in sources.SOURCES if name.startswith("dialect/")]
_RELEASES = (
    Release(
        "dialect", {part: [name for name in _DIALECT if f"_{part}_" in name] for part in ("bigbench", "uncertainty")}
    ),
    Release("walk_the_talk", {"questions": (), "swapped": ()}, "resources/published/walk_the_talk.yaml"),
)
RELEASES = {release.name: release for release in _RELEASES}
