"""Count the seeds with a significant disparity and average their effect sizes, as CSV, HTML and LaTeX."""

import argparse

from evenlight import command_line, tables
from evenlight.figures.html_table import write_page
from evenlight.figures.latex_table import write_latex
from evenlight.figures.result_pages import disparity_page
from evenlight.statistics.summary import summarise_disparity, write_csv


def main(arguments: argparse.Namespace) -> None:
    """Write all forms of the disparity table."""
    disparity = tables.read_table(arguments.disparity, tables.DISPARITY)
    notes = tables.read_metadata(arguments.disparity, tables.DISPARITY).get("notes", [])
    summary = summarise_disparity(disparity, arguments.settings)
    write_csv(summary, arguments.csv)
    page = disparity_page(summary, arguments.settings, notes)
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
