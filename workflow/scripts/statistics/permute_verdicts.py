"""Make all verdicts again with the groups' labels permuted."""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import VERDICT_CONTROL
from evenlight.statistics.study import VerdictSettings, study_of, taken
from evenlight.statistics.verdict_control import permuted_verdicts


def main(arguments: argparse.Namespace) -> None:
    """Write how many disparities each permutation has."""
    study, settings = study_of(arguments)
    judging, others = taken(VerdictSettings, settings)
    control = permuted_verdicts(study, judging, **others)
    tables.write_table(control, arguments.output, VERDICT_CONTROL)
    print(control.to_string(index=False))


if __name__ == "__main__":
    command_line.run(main, command_line.compared_parser(__doc__))
