"""Draw one metric's scores of one model on one dataset: a box per explainer and group, over all seeds."""

import argparse

from evenlight.jobs import command_line
from evenlight.reports.keywords import keywords
from evenlight.reports.model_scores import FOLDERS, model_scores
from evenlight.reports.plots.scores import draw_scores
from evenlight.reports.style import draw


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = keywords(arguments.settings)
    metric = settings.pop("metrics")[arguments.metric]
    scores, levels, model_on_dataset = model_scores(
        command_line.named_folders(arguments, *FOLDERS), [metric.name], **settings
    )
    title = f"{metric.label}: {model_on_dataset}"
    draw(arguments.output, lambda: draw_scores(scores, metric, settings["explainers"], levels, title), title)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--metric", required=True, metavar="NAME")
    command_line.add_folder_flags(parser, *FOLDERS, required=False)
    command_line.add_figure_flag(parser)
    command_line.run(main, parser)
