"""Ask the same question in every way that the study has, and again with permuted groups: the specification curves."""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import SPECIFICATION_CURVES, SPECIFICATIONS
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.specifications import specification_tables
from evenlight.statistics.study import study_of


def main(arguments: argparse.Namespace) -> None:
    """Write both tables, with what is to be said of the scores."""
    study, settings = study_of(arguments)
    specifications, curves = specification_tables(study, **settings)
    tables.write_table(specifications, arguments.output, SPECIFICATIONS)
    tables.write_table(curves, arguments.curves, SPECIFICATION_CURVES, {"notes": score_notes(study)})


if __name__ == "__main__":
    parser = command_line.compared_parser(__doc__)
    parser.add_argument("--curves", required=True, metavar="PARQUET", help="one row per question and curve")
    command_line.run(main, parser)
