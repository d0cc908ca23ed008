"""Draw the scores of one model on one dataset, a panel per metric: a box per explainer and group, over all seeds."""

import argparse

from evenlight import command_line
from evenlight.figures.score_panels import draw_score_panels
from evenlight.figures.settings import keywords
from evenlight.figures.style import draw
from evenlight.figures.text import ordered_levels
from evenlight.statistics.summary import grouped_scores


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = keywords(arguments.settings)
    metrics, explainers = settings["metrics"], settings["explainers"]
    (dataset, on_dataset), (model, of_model) = (next(iter(settings[part].items())) for part in ("datasets", "models"))
    names = {key: settings[key] for key in ("seeds", "explainers", "factors")}
    scores = grouped_scores(
        arguments.scores, arguments.datasets, dataset=dataset, model=model, metrics=settings["families"], **names
    )
    title = f"{of_model} on {on_dataset}"
    levels = ordered_levels(scores["group"], settings["levels"])
    draw(arguments.output, lambda: draw_score_panels(scores, metrics, explainers, levels, title), title)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "scores", "datasets")
    command_line.add_figure_flag(parser)
    command_line.run(main, parser)
