"""On which words a model leans, by group: pairs of forms, words that name the group, and a table of words."""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import GROUP_RELIANCE, PAIR_INVARIANCE, WORDS_BY_GROUP
from evenlight.statistics.reliance import measure_reliance


def main(arguments: argparse.Namespace) -> None:
    """Write the three tables."""
    found = measure_reliance(
        arguments.attributions, arguments.datasets, readings=arguments.readings, **arguments.settings
    )
    tables.write_table(found[0], arguments.pairs, PAIR_INVARIANCE)
    tables.write_table(found[1], arguments.names, GROUP_RELIANCE)
    tables.write_table(found[2], arguments.words, WORDS_BY_GROUP)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "attributions", "datasets", "readings")
    parser.add_argument("--pairs", required=True, metavar="PARQUET", help="how alike the forms are explained")
    parser.add_argument("--names", required=True, metavar="PARQUET", help="the words that name the group")
    parser.add_argument("--words", required=True, metavar="PARQUET", help="all words")
    command_line.run(main, parser)
