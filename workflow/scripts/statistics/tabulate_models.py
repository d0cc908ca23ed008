"""Tell how well the models classify each group, per seed and over the seeds, as CSV, HTML and LaTeX."""

import argparse

from evenlight import command_line
from evenlight.figures.html_table import write_page
from evenlight.figures.latex_table import write_latex
from evenlight.figures.result_pages import model_page
from evenlight.statistics.model_quality import quality_per_seed, summarise_quality
from evenlight.statistics.summary import write_csv


def main(arguments: argparse.Namespace) -> None:
    """Write the tables of the models' quality."""
    per_seed = quality_per_seed(arguments.items, arguments.readings, arguments.settings)
    summary = summarise_quality(per_seed)
    write_csv(per_seed, arguments.csv_per_seed)
    write_csv(summary, arguments.csv)
    page = model_page(summary, arguments.settings)
    write_page(page, arguments.html)
    write_latex(page, arguments.latex)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=command_line.settings_argument, required=True, metavar="JSON")
    parser.add_argument("--items", nargs="+", required=True, metavar="PATH", help="files {dataset}/items.parquet")
    parser.add_argument(
        "--readings", nargs="+", required=True, metavar="PATH", help="files {dataset}/{model}/seed{seed}.parquet"
    )
    parser.add_argument("--csv-per-seed", required=True, metavar="CSV")
    parser.add_argument("--csv", required=True)
    parser.add_argument("--html", required=True)
    parser.add_argument("--latex", required=True)
    command_line.run(main, parser)
