"""Draw the scores of one model on one dataset, a panel per metric: a box per explainer and group, over all seeds."""

import argparse

from evenlight.jobs import command_line
from evenlight.reports.keywords import keywords
from evenlight.reports.model_scores import FOLDERS, model_scores
from evenlight.reports.plots.score_panels import draw_score_panels
from evenlight.reports.style import draw


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = keywords(arguments.settings)
    metrics = settings.pop("metrics")
    scores, levels, title = model_scores(command_line.named_folders(arguments, *FOLDERS), **settings)
    explainers, modalities = settings["explainers"], settings["modalities"]
    draw(arguments.output, lambda: draw_score_panels(scores, metrics, explainers, levels, title, modalities), title)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, *FOLDERS, required=False)
    command_line.add_figure_flag(parser)
    command_line.run(main, parser)
