"""Count what each definition of a disputed metric finds and how far two of them agree, as CSV, HTML and LaTeX."""

import argparse

from evenlight import command_line, tables
from evenlight.figures.definition_page import definition_page
from evenlight.figures.html_table import write_page
from evenlight.figures.latex_table import write_latex
from evenlight.statistics.definitions import definitions_table
from evenlight.statistics.summary import summarise_disparity, write_csv


def main(arguments: argparse.Namespace) -> None:
    """Write both forms of the table of definitions."""
    disparity = tables.read_table(arguments.disparity, tables.DISPARITY)
    table = definitions_table(summarise_disparity(disparity, arguments.settings), arguments.settings)
    write_csv(table, arguments.csv)
    page = definition_page(table, arguments.settings)
    write_page(page, arguments.html)
    write_latex(page, arguments.latex)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=command_line.settings_argument, required=True, metavar="JSON")
    parser.add_argument("--disparity", required=True, metavar="PARQUET")
    parser.add_argument("--csv", required=True)
    parser.add_argument("--html", required=True)
    parser.add_argument("--latex", required=True)
    command_line.run(main, parser)
