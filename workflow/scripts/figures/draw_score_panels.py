"""Draw the scores of one model on one dataset, a panel per metric: a box per explainer and group, over all seeds."""

import argparse

from evenlight.core.kinds import MODALITIES
from evenlight.jobs import command_line
from evenlight.reports.keywords import keywords
from evenlight.reports.plots.score_panels import draw_score_panels
from evenlight.reports.style import draw
from evenlight.statistics.analyses.base import Inputs
from evenlight.statistics.analyses.summary import grouped_scores
from evenlight.statistics.comparisons.study import StudyScores, ordered_levels

# Below <results>: the scores, and what has them.
FOLDERS = tuple(dict.fromkeys(["scores", *(modality.units for modality in MODALITIES.values())]))


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = keywords(arguments.settings)
    explainers, modalities = settings["explainers"], settings["modalities"]
    [(dataset, on_dataset)], [(model, of_model)] = settings["datasets"].items(), settings["models"].items()
    study = StudyScores(
        datasets=[dataset],
        models={model: settings["seeds"]},
        explainers=list(explainers),
        metrics=settings["families"],
        modalities=modalities,
    )
    inputs = Inputs(command_line.named_folders(arguments, *FOLDERS))
    scores = grouped_scores(inputs.located(study), settings["factors"])
    levels = ordered_levels(scores["group"], settings["levels"])
    title = f"{of_model} on {on_dataset}"
    panels = (scores, settings["metrics"], explainers, levels, title, modalities)
    draw(arguments.output, lambda: draw_score_panels(*panels), title)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, *FOLDERS, required=False)
    command_line.add_figure_flag(parser)
    command_line.run(main, parser)
