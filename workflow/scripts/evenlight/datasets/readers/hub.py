"""A dataset of the Hugging Face hub, or one in a folder as the hub or the library ``datasets`` lays it out."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evenlight.core.errors import InputError, first_line
from evenlight.core.sources import asked_about, refused_by_hub
from evenlight.datasets.base import Dataset, Reader
from evenlight.datasets.columns import Columns
from evenlight.settings import Location, Text
from evenlight.texts.table_rows import require_columns

# What ``save_to_disk`` writes of one split, and of several.
SAVED = ("state.json", "dataset_dict.json")
# A column of ours, in which it stands whether a row is learned from or tested on.
SPLIT = " split"


class OnHub(Reader):
    """Where a dataset of the hub is."""

    source: Location = Field(
        description=(
            "Id of the dataset on the Hugging Face hub (`org/name`), or path of a folder with its files, as the hub or "
            "`save_to_disk` has them."
        )
    )
    revision: Text | None = Field(
        None,
        description=(
            "Commit, tag or branch on the hub. Name a commit to get the same texts next year; `null` takes the newest, "
            "whose commit stands in the notes of the dataset."
        ),
    )
    configuration: Text | None = Field(
        None, description="Configuration of the dataset, where it has several, such as a language."
    )
    splits: Annotated[dict[Literal["train", "test"], Text], Field(min_length=1)] = Field(
        {"test": "test"},
        description=(
            "Which split of the dataset models learn from and which they are tested on, such as `{train: train, test: "
            "validation}`; `train+validation` joins two. Without `test`, `test_share` of the other is drawn."
        ),
    )


class Hub(Columns, OnHub):
    """A dataset of the Hugging Face hub, by its id, from the hub, its cache or a folder; columns are named as those of
    a table. See [the example](../docs/datasets.md#a-dataset-of-the-hub).
    """

    title: ClassVar[str] = "A dataset of the Hugging Face hub"

    reader: Literal["hub"]

    def named_files(self) -> list[str]:
        """The files in a folder, hidden ones left out; none of an id on the hub."""
        folder = Path(self.source)
        paths = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        return [(folder / path).as_posix() for path in paths if not any(part.startswith(".") for part in path.parts)]

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """One item per row of the splits; columns as in :func:`evenlight.datasets.table.dataset_of`.

        A column of class labels has their names. Where one split is named for training and none for testing,
        ``test_share`` of its clusters are drawn for the test split.

        Raises:
            InputError: the dataset is not there, or as a table of one's own.
        """
        from evenlight.datasets.table import dataset_of

        tables = {part: self._loaded(name) for part, name in self.splits.items()}
        commits = {split: commit for part, split in self.splits.items() if (commit := _commit(tables[part]))}
        _refuse_other_commits(commits, self.source, self.revision or "")
        notes = [f"{self.source}, split {split}: commit {commit}" for split, commit in commits.items()]
        rows = (row for part, loaded in tables.items() for row in self._rows(loaded, part))
        dataset = dataset_of(rows, self, self.source, None if list(self.splits) == ["train"] else SPLIT)
        return replace(dataset, notes=[*notes, *dataset.notes])

    def _loaded(self, split: str):
        """A split, as the library has it."""
        with self._said_in_words(split):
            # Here, since it takes a second that other readers need not wait.
            import datasets

            datasets.disable_progress_bars()
            folder = Path(self.source)
            if any((folder / name).is_file() for name in SAVED):
                saved = datasets.load_from_disk(str(folder))
                return saved if isinstance(saved, datasets.Dataset) else saved[split]
            return datasets.load_dataset(self.source, self.configuration, split=split, revision=self.revision)

    @contextmanager
    def _said_in_words(self, split: str) -> Iterator[None]:
        source = self.source
        try:
            yield
        except ImportError:
            raise InputError(
                "reader hub needs the library datasets, which is not installed; install envs/data.txt"
            ) from None
        # Network, cache, files and names may be wrong in any way, and the library raises all kinds of errors.
        except Exception as error:
            why = asked_about(source, self.revision) if type(error).__name__ == "DatasetNotFoundError" else error
            if said := refused_by_hub(why, source, "datasets.<dataset>.source"):
                raise InputError(f"dataset {source}, split {split}: cannot be loaded ({said}") from None
            remedy = (
                "look at source, configuration, revision and splits; without a network, copy the hub's cache from a "
                "machine that has the dataset, name its folder in the environment variable HF_HOME and set "
                "HF_HUB_OFFLINE=1, or name a folder with the dataset's files as source"
            )
            raise InputError(
                f"dataset {source}, split {split}: cannot be loaded ({first_line(error)}); {remedy}"
            ) from None

    def _rows(self, loaded, part: str) -> Iterator[tuple[str, dict]]:
        """The rows of a split, each with its place."""
        import pyarrow as pa

        from evenlight.datasets.table import REMEDY

        split, columns = self.splits[part], list(dict.fromkeys(self.named_columns()))
        origin = f"{self.source}, split {split}"
        require_columns(origin, columns, loaded.column_names, REMEDY)
        # Classes are numbers with names; -1 is a row whose class is not published.
        names = {name: loaded.features[name].names for name in columns if hasattr(loaded.features[name], "names")}
        chosen = loaded.select_columns(columns).with_format("arrow")
        number = 0
        for batch in chosen.iter(batch_size=2**12):
            for row in pa.table(batch).to_pylist():
                number += 1
                for name, of_classes in names.items():
                    label = row[name]
                    row[name] = of_classes[label] if label is not None and 0 <= label < len(of_classes) else None
                # Each split counts its rows from 1.
                yield f"{self.source}, row {split}/{number}", row | {SPLIT: part}


def _commit(loaded) -> str | None:
    """The commit of a split, under whose name the library keeps it; None of a folder."""
    names = {Path(file["filename"]).parent.name for file in loaded.cache_files}
    return next((name for name in names if re.fullmatch("[0-9a-f]{40}", name)), None)


def _refuse_other_commits(commits: dict[str, str], source: str, revision: str) -> None:
    """Refuse splits of another commit than is named, and of several: without the hub, the library takes its newest.

    Raises:
        InputError: naming the split, both commits and what to do.
    """
    named = revision if re.fullmatch("[0-9a-f]{40}", revision) else next(iter(commits.values()), None)
    for split, commit in commits.items():
        if commit != named:
            raise InputError(
                f"dataset {source}, split {split}: is of commit {commit} where {named} is asked for; the cache has no "
                "other, or the branch moved. Name one of them as datasets.<dataset>.revision, and run it with the hub"
            )
