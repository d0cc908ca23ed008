"""Test sets of more than two groups: Kruskal-Wallis, Friedman, and Dunn's comparisons of their pairs."""

import argparse

from evenlight import command_line
from evenlight.figures.group_page import group_page
from evenlight.figures.html_table import write_page
from evenlight.figures.latex_table import write_latex
from evenlight.statistics.groups import group_tables
from evenlight.statistics.summary import write_csv


def main(arguments: argparse.Namespace) -> None:
    """Write both tables and print which groups were too small."""
    tests, comparisons, notes = group_tables(arguments.scores, arguments.settings)
    page = group_page(tests, comparisons, arguments.settings, notes)
    write_csv(comparisons, arguments.dunn)
    write_csv(tests, arguments.csv)
    write_page(page, arguments.html)
    write_latex(page, arguments.latex)
    for note in notes:
        print(f"note: {note}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=command_line.settings_argument, required=True, metavar="JSON")
    parser.add_argument(
        "--scores", nargs="+", required=True, metavar="PATH", help="files {dataset}/{model}/seed{seed}/{family}.parquet"
    )
    parser.add_argument("--csv", required=True, help="one row per cell and set of groups")
    parser.add_argument("--dunn", required=True, metavar="CSV", help="one row per pair of groups in it")
    parser.add_argument("--html", required=True)
    parser.add_argument("--latex", required=True)
    command_line.run(main, parser)
