"""Lay this study's disparities beside the published ones: cell by cell, and how far both agree."""

import argparse

from evenlight import command_line, tables
from evenlight.figures.html_table import write_page
from evenlight.figures.latex_table import write_latex
from evenlight.figures.published_pages import published_page
from evenlight.statistics.published import (
    agreement,
    lay_beside,
    quality_beside,
    read_model_summary,
    read_published,
)
from evenlight.statistics.summary import summarise_disparity, write_csv


def main(arguments: argparse.Namespace) -> None:
    """Write the comparison, the summary of agreement, the models' quality, and all of them as HTML and LaTeX."""
    settings = arguments.settings
    published = read_published(arguments.published)
    disparity = tables.read_table(arguments.disparity, tables.DISPARITY)
    comparison = lay_beside(summarise_disparity(disparity, settings), published, settings)
    summary = agreement(comparison, settings)
    quality = quality_beside(read_model_summary(arguments.models), published, settings)
    write_csv(comparison, arguments.csv)
    write_csv(summary, arguments.agreement)
    write_csv(quality, arguments.quality)
    page = published_page(comparison, summary, quality, settings)
    write_page(page, arguments.html)
    write_latex(page, arguments.latex)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=command_line.settings_argument, required=True, metavar="JSON")
    parser.add_argument("--disparity", required=True, metavar="PARQUET")
    parser.add_argument("--models", required=True, metavar="CSV", help="what tabulate_models.py wrote as --csv")
    parser.add_argument("--published", required=True, metavar="FOLDER", help="as resources/published")
    parser.add_argument("--csv", required=True, help="the cells of both studies")
    parser.add_argument("--agreement", required=True, metavar="CSV")
    parser.add_argument("--quality", required=True, metavar="CSV", help="the models' quality beside the published one")
    parser.add_argument("--html", required=True)
    parser.add_argument("--latex", required=True)
    command_line.run(main, parser)
