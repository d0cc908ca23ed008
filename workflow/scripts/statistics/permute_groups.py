"""Test again with permuted groups: is the number of significant cells more than chance?"""

import argparse

from evenlight import command_line
from evenlight.figures.control_page import control_page
from evenlight.figures.html_table import write_page
from evenlight.figures.latex_table import write_latex
from evenlight.statistics.control import permuted_rates
from evenlight.statistics.summary import write_csv


def main(arguments: argparse.Namespace) -> None:
    """Write both forms of the table."""
    table = permuted_rates(arguments.scores, arguments.settings)
    write_csv(table, arguments.csv)
    page = control_page(table, arguments.settings)
    write_page(page, arguments.html)
    write_latex(page, arguments.latex)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=command_line.settings_argument, required=True, metavar="JSON")
    parser.add_argument(
        "--scores", nargs="+", required=True, metavar="PATH", help="files {dataset}/{model}/seed{seed}/{family}.parquet"
    )
    parser.add_argument("--csv", required=True)
    parser.add_argument("--html", required=True)
    parser.add_argument("--latex", required=True)
    command_line.run(main, parser)
