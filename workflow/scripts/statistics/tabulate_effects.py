"""Tabulate the effects over all seeds and what each way of testing finds, as CSV, HTML and LaTeX."""

import argparse

from evenlight import command_line, tables
from evenlight.figures.effect_page import effect_page
from evenlight.figures.html_table import write_page
from evenlight.figures.latex_table import write_latex
from evenlight.statistics.counts import count_tests
from evenlight.statistics.summary import write_csv


def main(arguments: argparse.Namespace) -> None:
    """Write both tables and the page."""
    effects = tables.read_table(arguments.effects, tables.EFFECTS)
    counts = count_tests(tables.read_table(arguments.disparity, tables.DISPARITY), arguments.settings)
    page = effect_page(effects, counts, arguments.settings)
    write_csv(effects, arguments.csv)
    write_csv(counts, arguments.counts)
    write_page(page, arguments.html)
    write_latex(page, arguments.latex)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=command_line.settings_argument, required=True, metavar="JSON")
    parser.add_argument("--disparity", required=True, metavar="PARQUET")
    parser.add_argument("--effects", required=True, metavar="PARQUET")
    parser.add_argument("--csv", required=True)
    parser.add_argument("--counts", required=True, metavar="CSV")
    parser.add_argument("--html", required=True)
    parser.add_argument("--latex", required=True)
    command_line.run(main, parser)
