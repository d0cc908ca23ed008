"""Draw the scores of one model on one dataset, a panel per metric: a box per explainer and group, over all seeds."""

import argparse

import pandas as pd

from evenlight import command_line
from evenlight.figures.score_panels import draw_score_panels
from evenlight.figures.settings import keywords
from evenlight.figures.style import draw
from evenlight.figures.text import ordered_levels
from evenlight.statistics.score_files import read_scores
from evenlight.statistics.study import SCORE_LAYOUT, study_runs


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = keywords(arguments.settings)
    metrics, explainers = settings["metrics"], settings["explainers"]
    runs = study_runs(arguments.scores, SCORE_LAYOUT, settings)
    scores = pd.concat([read_scores(files, metrics, explainers) for files in runs.values()], ignore_index=True)
    run = next(iter(runs))
    title = f"{settings['models'][run.model]} on {settings['datasets'][run.dataset]}"
    levels = ordered_levels(scores["group"], settings["levels"])
    draw(arguments.output, lambda: draw_score_panels(scores, metrics, explainers, levels, title), title)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_scores_flag(parser)
    command_line.add_figure_flag(parser)
    command_line.run(main, parser)
