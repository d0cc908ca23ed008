"""Read a dataset as the workflow will, before anything long runs, and write down what is wrong with it."""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core import sources
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.findings import Findings
from evenlight.core.tables import read_table, write_table
from evenlight.datasets import Reader
from evenlight.datasets.importing import import_dataset, named_resources, reader_of
from evenlight.jobs.command_line import add_compared_flag, run, settings_argument
from evenlight.texts.items import check_explained

# Where the published files are that the workflow has fetched.
FETCHED = Path("results", "sources")
# What models read in place of texts that cannot be read.
STAND_IN = ("no", "text")


def check(dataset: str, reader: Reader, arguments: argparse.Namespace, findings: Findings) -> bool:
    """Whether the dataset can be read and has been written; what is wrong goes to the findings."""
    place, names = f"datasets.{dataset}", [*reader.resources, *reader.named_files()]
    if arguments.made:
        findings.unchecked.append(f"{place}, as the workflow makes {', '.join(arguments.made)}")
        return False
    with findings.at(place), tempfile.TemporaryDirectory() as folder:
        given = [path.as_posix() for path in arguments.resource]
        if absent := [name for name in names if not any(path.endswith(name) for path in given)]:
            raise InputError(*map(sources.missing, absent))
        files = named_resources(arguments.resource, names)
        files |= {name: fetched(name, Path(folder)) for name in reader.sources()}
        notes = import_dataset(files, reader, dataset, arguments.items, arguments.units)
        findings.notes += [f"{place}: {note}" for note in notes]
        findings.can_be_read("datasets", dataset)
        with findings.at(place):
            check_all_explained(dataset, arguments)
        for name in files:
            findings.can_be_read("files", name)
        return True
    return False


def check_all_explained(dataset: str, arguments: argparse.Namespace) -> None:
    """Refuse a dataset of which nothing could be compared even if all its texts were explained."""
    items, units = read_table(arguments.items, ITEMS), read_table(arguments.units, UNITS)
    test = items[items["split"] == "test"]
    if arguments.compared:
        check_explained(dataset, test, np.full(len(test), None), units, arguments.compared)


def fetched(name: str, folder: Path) -> Path:
    """A published file, where the workflow has it; else in ``folder``."""
    if not (FETCHED / name).is_file():
        sources.fetch(name, folder / name, sources.mirror_folder(), waits=())
        return folder / name
    sources.refuse_changed(name, FETCHED / name)
    return FETCHED / name


def write_stand_in(reader: Reader, items: Path, units: Path) -> None:
    """Write a dataset of one text in either split, by which models can be read; of no class where none is named."""
    part = [0, 1] if getattr(reader, "second", None) else None
    text = {"words": list(STAND_IN), "part": part, "ground_truth": None, "label": 0}
    rows = [text | {"item_id": split, "cluster": split, "split": split} for split in ("train", "test")]
    classes = getattr(reader, "classes", None)
    metadata = {"classes": classes if isinstance(classes, list) else [], "stand_in": True}
    write_table(pd.DataFrame(columns=UNITS.schema.names, dtype=object), units, UNITS)
    write_table(pd.DataFrame(rows), items, ITEMS, metadata)


def main(arguments: argparse.Namespace) -> None:
    """Check and write."""
    findings = Findings()
    dataset, reader = reader_of(arguments.settings)
    if not check(dataset, reader, arguments, findings):
        write_stand_in(reader, arguments.items, arguments.units)
    findings.write(arguments.output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: as import_dataset.py has them")
    parser.add_argument(
        "--resource", action="append", default=[], type=Path, help="path of a file that is there; may be repeated"
    )
    parser.add_argument("--made", nargs="*", default=[], help="files that are not there, since the workflow makes them")
    add_compared_flag(parser)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--units", type=Path, required=True, help="table of units (Parquet)")
    parser.add_argument("--output", type=Path, required=True, help="findings (JSON)")
    run(main, parser)
