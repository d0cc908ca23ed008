"""Sum up what concepts do to every model, and how far every explainer's estimates of it are off."""

import argparse
from pathlib import Path

from evenlight import command_line
from evenlight.concepts.summary import concept_tables, forgetting_notes, notes_of_explainers
from evenlight.contracts.explanations import CONCEPT_LABELS
from evenlight.contracts.results import CONCEPT_EFFECTS, CONCEPT_ERRORS
from evenlight.tables import read_metadata, write_table


def main(arguments: argparse.Namespace) -> None:
    """Write both tables; how good the predicted levels are, and what networks have forgotten, goes along."""
    settings = dict(arguments.settings)
    forgetting = settings.pop("forgetting")
    errors, effects = concept_tables(arguments.results, **settings)
    notes = [
        f"dataset '{dataset}': {note}"
        for dataset in settings["concepts"]
        for note in read_metadata(arguments.results / "changes" / dataset / "labels.parquet", CONCEPT_LABELS)["notes"]
    ]
    notes += notes_of_explainers(arguments.results, **settings)
    notes += forgetting_notes(arguments.results, settings["concepts"], settings["models"], forgetting)
    write_table(errors, arguments.output, CONCEPT_ERRORS, {"notes": notes})
    write_table(effects, arguments.effects, CONCEPT_EFFECTS)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--results", type=Path, required=True, metavar="FOLDER", help="<results>")
    parser.add_argument("--output", required=True, metavar="PARQUET", help="table of errors")
    parser.add_argument("--effects", required=True, metavar="PARQUET", help="table of effects")
    command_line.run(main, parser)
