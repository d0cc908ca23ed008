"""Average every metric per group over the seeds, as CSV, HTML and LaTeX."""

import argparse

from evenlight import command_line
from evenlight.figures.html_table import write_page
from evenlight.figures.latex_table import write_latex
from evenlight.figures.result_pages import score_page
from evenlight.statistics.score_files import explainer_notes
from evenlight.statistics.study import SCORE_LAYOUT, names, study_runs
from evenlight.statistics.summary import summarise_scores, write_csv


def main(arguments: argparse.Namespace) -> None:
    """Write all forms of the table of scores."""
    summary = summarise_scores(arguments.scores, arguments.settings)
    write_csv(summary, arguments.csv)
    runs = study_runs(arguments.scores, SCORE_LAYOUT, arguments.settings)
    notes = explainer_notes(runs, names(arguments.settings, "explainers"))
    page = score_page(summary, arguments.settings, notes)
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
