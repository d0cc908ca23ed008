"""A dataset of the Hugging Face hub, or one in a folder as the hub or the library ``datasets`` lays it out."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from evenlight.core.errors import InputError, first_line
from evenlight.core.hub import asked_about, refused_by_hub
from evenlight.datasets import Dataset
from evenlight.datasets.rows import require_columns
from evenlight.datasets.table import REMEDY, dataset_of, named_columns

# What ``save_to_disk`` writes of one split, and of several.
SAVED = ("state.json", "dataset_dict.json")
# A column of ours, in which it stands whether a row is learned from or tested on.
SPLIT = " split"


def read(files: dict[str, Path], settings: dict) -> Dataset:
    """One item per row of the splits that ``settings["splits"]`` names; columns as in :mod:`evenlight.datasets.table`.

    A column of class labels has their names. Where one split is named for training and none for testing,
    ``test_share`` of its clusters are drawn for the test split.

    Raises :class:`InputError` where the dataset is not there, or as a table of one's own does.
    """
    splits = settings["splits"]
    settings = settings | {"split": None if list(splits) == ["train"] else SPLIT}
    columns = list(dict.fromkeys(named_columns(settings | {"split": None})))
    tables = {part: _loaded(settings, name) for part, name in splits.items()}
    commits = {split: commit for part, split in splits.items() if (commit := _commit(tables[part]))}
    _refuse_other_commits(commits, settings)
    notes = [f"{settings['source']}, split {split}: commit {commit}" for split, commit in commits.items()]
    rows = (row for part, loaded in tables.items() for row in _rows(loaded, columns, part, splits[part], settings))
    dataset = dataset_of(rows, settings, settings["source"])
    return replace(dataset, notes=[*notes, *dataset.notes])


def _loaded(settings: dict, split: str):
    """A split, as the library has it."""
    with _said_in_words(settings, split):
        # Here, since it takes a second that other readers need not wait.
        import datasets

        datasets.disable_progress_bars()
        folder = Path(settings["source"])
        if any((folder / name).is_file() for name in SAVED):
            saved = datasets.load_from_disk(str(folder))
            return saved if isinstance(saved, datasets.Dataset) else saved[split]
        return datasets.load_dataset(
            settings["source"], settings["configuration"], split=split, revision=settings["revision"]
        )


@contextmanager
def _said_in_words(settings: dict, split: str) -> Iterator[None]:
    source = settings["source"]
    try:
        yield
    except ImportError:
        raise InputError(
            "reader hub needs the library datasets, which is not installed; install envs/data.txt"
        ) from None
    # Network, cache, files and names may be wrong in any way, and the library raises all kinds of errors.
    except Exception as error:
        why = asked_about(source, settings["revision"]) if type(error).__name__ == "DatasetNotFoundError" else error
        if said := refused_by_hub(why, source, "datasets.<dataset>.source"):
            raise InputError(f"dataset {source}, split {split}: cannot be loaded ({said}") from None
        remedy = (
            "look at source, configuration, revision and splits; without a network, copy the hub's cache from a "
            "machine that has the dataset, name its folder in the environment variable HF_HOME and set "
            "HF_HUB_OFFLINE=1, or name a folder with the dataset's files as source"
        )
        raise InputError(f"dataset {source}, split {split}: cannot be loaded ({first_line(error)}); {remedy}") from None


def _rows(loaded, columns: list[str], part: str, split: str, settings: dict) -> Iterator[tuple[str, dict]]:
    """The rows of a split, each with its place."""
    origin = f"{settings['source']}, split {split}"
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
            yield f"{settings['source']}, row {split}/{number}", row | {SPLIT: part}


def _commit(loaded) -> str | None:
    """The commit of a split, under whose name the library keeps it; None of a folder."""
    names = {Path(file["filename"]).parent.name for file in loaded.cache_files}
    return next((name for name in names if re.fullmatch("[0-9a-f]{40}", name)), None)


def _refuse_other_commits(commits: dict[str, str], settings: dict) -> None:
    """Refuse splits of another commit than is named, and of several: without the hub, the library takes its newest.

    Raises:
        InputError: naming the split, both commits and what to do.
    """
    source, revision = settings["source"], settings["revision"] or ""
    named = revision if re.fullmatch("[0-9a-f]{40}", revision) else next(iter(commits.values()), None)
    for split, commit in commits.items():
        if commit != named:
            raise InputError(
                f"dataset {source}, split {split}: is of commit {commit} where {named} is asked for; the cache has no "
                "other, or the branch moved. Name one of them as datasets.<dataset>.revision, and run it with the hub"
            )
