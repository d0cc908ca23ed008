"""Estimate the effects of all cells over their seeds, with intervals, and say what can be claimed."""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import EFFECTS
from evenlight.statistics.effects import effect_table
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.study import VerdictSettings, study_of, taken


def main(arguments: argparse.Namespace) -> None:
    """Write the table of effects, with what is to be said of the scores."""
    study, settings = study_of(arguments)
    judging, others = taken(VerdictSettings, settings)
    effects = effect_table(study, judging, **others)
    tables.write_table(effects, arguments.output, EFFECTS, {"notes": score_notes(study)})
    print(effects["verdict"].value_counts().to_string())


if __name__ == "__main__":
    command_line.run(main, command_line.compared_parser(__doc__))
