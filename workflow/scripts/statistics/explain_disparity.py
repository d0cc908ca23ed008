"""Split every disparity into what goes with length, gendered words' pieces and confidence, and what remains."""

import argparse

from evenlight import command_line, tables
from evenlight.statistics.causes import cause_table


def main(arguments: argparse.Namespace) -> None:
    """Write the table of causes."""
    table, notes = cause_table(
        arguments.scores, arguments.items, arguments.predictions, arguments.attributions, arguments.settings
    )
    tables.write_table(table, arguments.output, tables.CAUSES, {"notes": notes})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_scores_flag(parser)
    for flag, layout in {
        "--items": "{dataset}/items.parquet",
        "--predictions": "{dataset}/{model}/seed{seed}.parquet",
        "--attributions": "{dataset}/{model}/seed{seed}/{explainer}.parquet, one for each run",
    }.items():
        parser.add_argument(flag, nargs="+", required=True, metavar="PATH", help=f"files {layout}")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
