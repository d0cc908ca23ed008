"""Explainers that are closed in a study that grows: they explain the texts of an earlier look and no others."""

import argparse
from collections.abc import Collection, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc

from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.core.tables import read_groups, read_metadata, read_table, write_groups
from evenlight.texts.items import sampled_units
from evenlight.texts.predictions import NOT_SAMPLED

# Texts whose predictions are changed together.
ROWS = 2**12
# The flags that name a file of each explainer.
OF_EXPLAINERS = ("output", "costs", "attributions")


def add_units_flag(parser: argparse.ArgumentParser) -> None:
    """The flag of commands that have explainers which are closed."""
    parser.add_argument(
        "--units", type=Path, nargs="*", default=[], help="table of units, where an explainer is closed"
    )


def by_texts(arguments: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """The arguments of a command for the explainers that have the same texts: closed ones first, then all others.

    Each has the predictions in which just these texts are explained, and ``job``, a name of its own. Settings no longer
    have ``closed``, which says how many units each closed explainer has, and by which factors units were drawn: rows do
    not depend on it.
    """
    settings = dict(arguments.settings)
    closed = settings.pop("closed", {"units": {}, "factors": []})
    names = [path.stem for path in arguments.output]
    for count in sorted({closed["units"].get(name) for name in names}, key=lambda count: (count is None, count)):
        chosen = {name for name in names if closed["units"].get(name) == count}
        files = {flag: getattr(arguments, flag) for flag in OF_EXPLAINERS if hasattr(arguments, flag)}
        part = {flag: [path for path in paths if path.stem in chosen] for flag, paths in files.items()}
        if "explainers" in settings:
            methods = settings["explainers"].items()
            part["settings"] = settings | {"explainers": {name: each for name, each in methods if name in chosen}}
        else:
            part["settings"] = settings
        if count is None:
            yield argparse.Namespace(**vars(arguments) | part | {"job": settings["family"]})
            continue
        with TemporaryDirectory() as folder:
            part["predictions"] = Path(folder, "predictions.parquet")
            [units] = arguments.units
            write_first(arguments.predictions, arguments.items, units, count, closed["factors"], part["predictions"])
            yield argparse.Namespace(**vars(arguments) | part | {"job": f"{settings['family']}.{count}"})


def write_first(
    predictions: Path, items: Path, units: Path, count: int, factors: Collection[str], output: Path
) -> None:
    """Write the predictions as they were when only ``count`` units were explained, the first that were drawn.

    Args:
        predictions, items, units: tables of the contracts of these names; more units may be explained.
        count: pairs, or texts where there are none.
        factors: by which units were drawn; empty for all of the dataset.
        output: where they go.
    """
    texts = read_table(items, ITEMS.only("item_id", "split"))
    drawn = sampled_units(texts[texts["split"] == "test"], read_table(units, UNITS), count, factors or None)
    names = pa.array(drawn["item_id"])
    groups = (_without_later(table, names) for table in read_groups(predictions, PREDICTIONS, ROWS))
    write_groups(groups, output, PREDICTIONS, read_metadata(predictions, PREDICTIONS))


def _without_later(table: pa.Table, drawn: pa.Array) -> pa.Table:
    """Rows of predictions in which texts that are not ``drawn`` are not explained."""
    is_later = pc.and_(pc.invert(pc.is_in(table["item_id"], value_set=drawn)), pc.is_null(table["left_out"]))
    for name, value in {"left_out": NOT_SAMPLED, "target": None, "foil": None}.items():
        number, field = table.schema.get_field_index(name), table.schema.field(name)
        table = table.set_column(number, field, pc.if_else(is_later, pa.scalar(value, field.type), table[name]))
    return table
