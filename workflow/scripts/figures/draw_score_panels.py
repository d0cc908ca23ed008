"""Draw the scores of one model on one dataset, a panel per metric: a box per explainer and group, over all seeds."""

import argparse

import pandas as pd

from evenlight import command_line
from evenlight.figures.score_panels import draw_score_panels
from evenlight.figures.style import draw
from evenlight.statistics.score_files import read_scores
from evenlight.statistics.study import (
    SCORE_LAYOUT,
    comparisons,
    label_of,
    labels,
    metrics,
    names,
    ordered_groups,
    study_runs,
)


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = arguments.settings
    runs = study_runs(arguments.scores, SCORE_LAYOUT, settings)
    shown = names(settings, "metrics"), names(settings, "explainers")
    scores = pd.concat([read_scores(files, *shown) for files in runs.values()], ignore_index=True)
    run = next(iter(runs))
    title = f"{label_of(settings, 'models', run.model)} on {label_of(settings, 'datasets', run.dataset)}"
    groups = ordered_groups(scores["group"], comparisons(settings))
    draw(
        arguments.output,
        lambda: draw_score_panels(scores, metrics(settings), labels(settings, "explainers"), groups, title),
        title,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--settings",
        type=command_line.settings_argument,
        required=True,
        metavar="JSON",
        help="with the one dataset and model of the scores",
    )
    parser.add_argument(
        "--scores", nargs="+", required=True, metavar="PATH", help="files {dataset}/{model}/seed{seed}/{family}.parquet"
    )
    parser.add_argument(
        "--output", nargs="+", required=True, metavar="PATH", help="one or more, ending in .svg, .pdf or .png"
    )
    command_line.run(main, parser)
