"""Sum up how probable masked language models find the texts of every group, before and after training."""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import MASKED_SUMMARY
from evenlight.statistics.masked_words import masked_summary


def main(arguments: argparse.Namespace) -> None:
    """Write the table, with the models that have no scores."""
    table, notes = masked_summary(arguments.masked_words, arguments.datasets, **arguments.settings)
    tables.write_table(table, arguments.output, MASKED_SUMMARY, {"notes": notes})
    print(f"{len(table):,} rows written to {arguments.output}")


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "masked_words", "datasets")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
