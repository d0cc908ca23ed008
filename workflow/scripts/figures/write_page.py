"""Write the page of a study."""

import argparse
from pathlib import Path

from evenlight.core import tables
from evenlight.core.contracts.results import EFFECT_COUNTS, EFFECTS
from evenlight.jobs import command_line
from evenlight.reports.index.content import Folders, study_content
from evenlight.reports.index.page import write_page
from evenlight.reports.index.store import Store
from evenlight.statistics.interim_analyses import warnings_of


def main(arguments: argparse.Namespace) -> None:
    """Write the page."""
    folders = Folders(
        arguments.scores, arguments.datasets, arguments.attributions, arguments.predictions, arguments.answers
    )
    effects = tables.read_exactly(arguments.effects, EFFECTS) if arguments.effects else None
    counts = tables.read_exactly(arguments.counts, EFFECT_COUNTS) if arguments.effects else None
    store = Store()
    warnings = warnings_of(arguments.record) if arguments.record else []
    content = study_content(folders, effects, counts, store, warnings=warnings, **arguments.settings)
    write_page(content, store, arguments.output)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "scores", "datasets")
    command_line.add_folder_flags(parser, "attributions", "predictions", "answers", required=False)
    parser.add_argument("--effects", metavar="PARQUET", help="the effects of the study, where it tells verdicts")
    parser.add_argument("--counts", metavar="PARQUET", help="in how many comparisons groups differ, with --effects")
    parser.add_argument("--record", type=Path, metavar="PARQUET", help="of the interim analyses behind these verdicts")
    parser.add_argument("--output", required=True, metavar="HTML")
    command_line.run(main, parser)
