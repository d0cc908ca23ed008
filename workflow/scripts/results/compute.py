"""Compute one result of a study, a module of ``evenlight.results``, and write its tables."""

import argparse
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from evenlight import results
from evenlight.core import tables
from evenlight.jobs import command_line
from evenlight.statistics.files import notes_of_datasets


def main(arguments: argparse.Namespace) -> None:
    """Write the tables, the notes with the first of them."""
    result = import_module(f"evenlight.results.{arguments.result}")
    inputs = _inputs(arguments, getattr(result, "READS", ()))
    computed = result.compute(inputs, arguments.settings)
    only = {part: names for part, names in arguments.settings.get("only", {}).items() if part in arguments.settings}
    notes = list(dict.fromkeys([*computed.notes, *notes_of_datasets(only)]))
    written = list(zip(computed.tables, arguments.output, result.TABLES, strict=True))
    for number, (table, path, contract) in enumerate(written):
        tables.write_table(table, path, contract, {} if number else {"notes": notes, **computed.about})
        print(f"{len(table):,} rows written to {path}")
    for line in [*(f"note: {note}" for note in notes), *computed.said]:
        print(line, flush=True)


def _inputs(arguments: argparse.Namespace, contracts: tuple) -> results.Inputs:
    read = list(zip(arguments.tables, contracts, strict=False))
    notes = [tables.read_metadata(path, contract).get("notes", []) for path, contract in read]
    folders = command_line.named_folders(arguments, *arguments.folders)
    return results.Inputs(folders, [tables.read_table(path, contract) for path, contract in read], notes)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    names = [module.name for module in iter_modules(results.__path__)]
    parser.add_argument("--result", choices=names, required=True, help="a module of evenlight.results")
    parser.add_argument("--tables", nargs="*", default=[], metavar="PARQUET", help="those that the result reads")
    parser.add_argument(
        "--output", nargs="+", type=Path, required=True, metavar="PARQUET", help="one for each of its tables"
    )
    # Which folders a result reads, its rule says.
    _, others = parser.parse_known_args()
    folders = [flag.removeprefix("--").partition("=")[0] for flag in others if flag.startswith("--")]
    command_line.add_folder_flags(parser, *folders)
    parser.set_defaults(folders=folders)
    command_line.run(main, parser)
