"""Split every disparity into what goes with length, gendered words' pieces and confidence, and what remains."""

import argparse

from evenlight import command_line
from evenlight.figures.cause_page import cause_page
from evenlight.figures.html_table import write_page
from evenlight.figures.latex_table import write_latex
from evenlight.statistics.causes import cause_table
from evenlight.statistics.summary import write_csv


def main(arguments: argparse.Namespace) -> None:
    """Write both forms of the table."""
    table, notes = cause_table(arguments.scores, arguments.items, arguments.readings, arguments.settings)
    write_csv(table, arguments.csv)
    page = cause_page(table, arguments.settings, notes)
    write_page(page, arguments.html)
    write_latex(page, arguments.latex)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=command_line.settings_argument, required=True, metavar="JSON")
    for flag, layout in {
        "--scores": "{dataset}/{model}/seed{seed}/{family}.parquet",
        "--items": "{dataset}/items.parquet",
        "--readings": "{dataset}/{model}/seed{seed}.parquet",
    }.items():
        parser.add_argument(flag, nargs="+", required=True, metavar="PATH", help=f"files {layout}")
    parser.add_argument("--csv", required=True)
    parser.add_argument("--html", required=True)
    parser.add_argument("--latex", required=True)
    command_line.run(main, parser)
