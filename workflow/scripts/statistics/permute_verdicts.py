"""Make all verdicts again with the groups' labels permuted."""

import argparse

from evenlight import command_line, tables
from evenlight.statistics.verdict_control import permuted_verdicts


def main(arguments: argparse.Namespace) -> None:
    """Write how many disparities each permutation has."""
    control = permuted_verdicts(arguments.scores, arguments.datasets, readings=arguments.readings, **arguments.settings)
    tables.write_table(control, arguments.output, tables.VERDICT_CONTROL)
    print(control.to_string(index=False))


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "scores", "datasets")
    command_line.add_folder_flags(parser, "readings", required=False)
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
