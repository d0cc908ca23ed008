"""Test sets of more than two groups: Kruskal-Wallis, Friedman, and Dunn's comparisons of their pairs."""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import GROUP_PAIRS, GROUPS
from evenlight.statistics.groups import group_tables
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.study import study_of


def main(arguments: argparse.Namespace) -> None:
    """Write both tables, with which groups were too small and what is to be said of the scores."""
    study, settings = study_of(arguments)
    tests, pairs, notes = group_tables(study, **settings)
    notes += score_notes(study)
    tables.write_table(tests, arguments.output, GROUPS, {"notes": notes})
    tables.write_table(pairs, arguments.pairs, GROUP_PAIRS)
    for note in notes:
        print(f"note: {note}")


if __name__ == "__main__":
    parser = command_line.compared_parser(__doc__)
    parser.add_argument("--pairs", required=True, metavar="PARQUET", help="one row per pair of groups in it")
    command_line.run(main, parser)
