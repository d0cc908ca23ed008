"""Compute one result of a study, a class of ``evenlight.statistics``, and write its tables, as CSV beside them, too."""

import argparse
from pathlib import Path

from evenlight.core import tables
from evenlight.jobs import command_line
from evenlight.judging.results import Result
from evenlight.statistics.analyses.base import Inputs


def main(arguments: argparse.Namespace) -> None:
    """Write the tables, the notes with the first of them."""
    result = Result.parse(arguments.settings | {Result.key: arguments.result})
    computed = result.compute(_inputs(arguments, result))
    notes = list(dict.fromkeys([*computed.notes, *result.notes_of_datasets()]))
    written = list(zip(computed.tables, arguments.output, result.tables.values(), strict=True))
    for number, (table, path, contract) in enumerate(written):
        tables.write_table(table, path, contract, {} if number else {"notes": notes, **computed.about})
        tables.write_csv(tables.read_exactly(path, contract), path.with_suffix(".csv"))
        print(f"{len(table):,} rows written to {path}")
    for line in [*(f"note: {note}" for note in notes), *computed.said]:
        print(line, flush=True)


def _inputs(arguments: argparse.Namespace, result: Result) -> Inputs:
    # Looks are read where they are planned.
    read = list(zip(arguments.tables, result.reads.values(), strict=False))
    notes = [tables.read_metadata(path, contract).get("notes", []) for path, contract in read]
    folders = command_line.named_folders(arguments, *arguments.folders)
    return Inputs(folders, [tables.read_table(path, contract) for path, contract in read], notes)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--result", choices=list(Result.entries), required=True, help="the name of its class")
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
