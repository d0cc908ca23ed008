"""Draw one metric's scores of one model on one dataset: a box per explainer and group, over all seeds."""

import argparse

from evenlight import command_line
from evenlight.figures.score_boxes import draw_score_boxes
from evenlight.figures.style import draw
from evenlight.statistics.score_files import read_model_scores
from evenlight.statistics.study import comparisons, label_of, labels, metrics, ordered_groups, required


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = arguments.settings
    required(settings, f"metrics.{arguments.metric}")
    metric = metrics(settings)[arguments.metric]
    run, scores = read_model_scores(arguments.scores, metric.name, settings)
    title = (
        f"{metric.label}: {label_of(settings, 'models', run.model)} on {label_of(settings, 'datasets', run.dataset)}"
    )
    groups = ordered_groups(scores["group"], comparisons(settings))
    draw(
        arguments.output,
        lambda: draw_score_boxes(scores, metric, labels(settings, "explainers"), groups, title),
        title,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=command_line.settings_argument, required=True, metavar="JSON")
    parser.add_argument("--metric", required=True, metavar="NAME")
    parser.add_argument(
        "--scores", nargs="+", required=True, metavar="PATH", help="files {dataset}/{model}/seed{seed}/{family}.parquet"
    )
    parser.add_argument(
        "--output", nargs="+", required=True, metavar="PATH", help="one or more, ending in .svg, .pdf or .png"
    )
    command_line.run(main, parser)
