"""Write the explorer of scores that were made elsewhere: one HTML file in which a reader chooses what to see."""

import argparse
from pathlib import Path

from evenlight.core import tables
from evenlight.core.contracts.results import EFFECT_COUNTS, EFFECTS, JUDGED_SCORES
from evenlight.jobs import command_line
from evenlight.judging.explored import scores_content
from evenlight.reports.explorer.page import write_explorer
from evenlight.reports.explorer.store import Store
from evenlight.statistics.interim_analyses import warnings_of


def main(arguments: argparse.Namespace) -> None:
    """Write the page."""
    paths = {name: arguments.tables / f"{name}.parquet" for name in ("judged_scores", "effects", "effect_counts")}
    contracts = (JUDGED_SCORES, EFFECTS, EFFECT_COUNTS)
    read = [tables.read_exactly(path, contract) for path, contract in zip(paths.values(), contracts, strict=True)]
    notes = tables.read_metadata(paths["effects"], EFFECTS).get("notes", [])
    warnings = warnings_of(arguments.tables / "interim_analyses.parquet")
    store = Store()
    content = scores_content(*read, store, notes=notes, warnings=warnings, **arguments.settings)
    write_explorer(content, store, arguments.output)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--tables", type=Path, required=True, metavar="FOLDER", help="the study's tables")
    parser.add_argument("--output", required=True, metavar="HTML")
    command_line.run(main, parser)
