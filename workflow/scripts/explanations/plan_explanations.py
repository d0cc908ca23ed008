"""Say how long the explainers will take on this machine, and what comes on top, before any of them starts."""

import argparse
from pathlib import Path

import numpy as np

from evenlight.core.tables import replacing
from evenlight.engine import open_evaluator
from evenlight.engine.progress import duration
from evenlight.engine.sentences import Sentence
from evenlight.engine.throughput import seconds_per_row
from evenlight.explainers import Explainer
from evenlight.explainers.explained_again import explained_twice
from evenlight.explainers.planned import planned_rows
from evenlight.jobs.command_line import add_model_flags, run, settings_argument
from evenlight.metrics import Metric
from evenlight.metrics.base import planned_rows as planned_of_scores
from evenlight.texts.predictions import read_explained, sentences_of

# A pass that is differentiated takes about as many products of matrices backwards as forwards.
BACKWARD = 2
# Texts that are read at a time.
SOME = 4096


def read_sentences(arguments: argparse.Namespace) -> list[Sentence]:
    """The texts that are explained, without their words."""
    texts = read_explained(arguments.predictions, arguments.items, SOME)
    return [sentence for some in texts for sentence in sentences_of(some)]


def plan(arguments: argparse.Namespace, sentences: list[Sentence]) -> list[str]:
    """The plan in words: a line for each explainer that asks the model, their sum, and what is not in it."""
    evaluator = open_evaluator(arguments)
    pace = seconds_per_row(sentences, evaluator)
    lengths = [len(sentence.token_id) for sentence in sentences]
    seconds_of_row = np.array([pace(length) for length in lengths])
    text = f"{len(sentences):,} texts of {min(lengths)} to {max(lengths)} tokens on {evaluator.classifier.device}"
    return [
        f"{arguments.model.parent.name} explained on {arguments.items.parent.name}, {text}:",
        *explaining_said(arguments.settings, sentences, seconds_of_row),
        f"  on top: {scoring_said(arguments.settings, sentences, seconds_of_row)}; of every job its start and reading, "
        "and what explainers compute themselves; the statistics",
    ]


def explaining_said(settings: dict, sentences: list[Sentence], seconds_of_row: np.ndarray) -> list[str]:
    """A line for each explainer, and their sum over the runs of the model."""
    if not settings["explainers"]:
        return ["  no explainer asks the model"]
    again = explained_twice((sentence.item_id for sentence in sentences), settings["seed"])
    entries = {
        name: each
        for of_family in settings["explainers"].values()
        for name, each in Explainer.parse_all(of_family).items()
    }
    lines, all_rows, all_seconds = [], 0.0, 0.0
    for name, entry in entries.items():
        rows = planned_rows({name: entry}, sentences, again)
        seconds = rows @ seconds_of_row * (BACKWARD if entry.needs_internals else 1)
        known = f"about {round(rows.sum()):,} rows, {told(seconds)}"
        lines.append(f"  {name}: {known if rows.any() else 'code of your own, whose rows nobody knows'}")
        all_rows, all_seconds = all_rows + rows.sum(), all_seconds + seconds
    runs = settings["runs"]
    of_runs = f", for each of {runs} runs" if runs > 1 else ""
    return [*lines, f"  together: about {round(all_rows):,} rows, {told(all_seconds)}{of_runs}"]


def scoring_said(settings: dict, sentences: list[Sentence], seconds_of_row: np.ndarray) -> str:
    """What the scores of all explanations ask the model, as far as it is known."""
    asked, unknown = np.zeros(len(sentences)), []
    for metrics in map(Metric.parse_all, settings["metrics"].values()):
        rows = planned_of_scores(metrics, sentences, settings["explanations"])
        if rows is None:
            unknown += metrics
        else:
            asked = asked + rows
    known = [f"scores, about {round(asked.sum()):,} rows, {told(asked @ seconds_of_row)}"] if asked.any() else []
    return "; ".join([*known, *(f"scores of {name}, whose rows nobody knows" for name in unknown)]) or "scores"


def told(seconds: float) -> str:
    """Seconds in words; a plan of none would be taken for nothing to do.

    >>> told(0.2), told(74.0)
    ('under 1 s', '1 min 14 s')
    """
    return "under 1 s" if seconds < 1 else duration(seconds)


def main(arguments: argparse.Namespace) -> None:
    """Print and write the plan."""
    text = "\n".join(plan(arguments, read_sentences(arguments))) + "\n"
    print(text, end="", flush=True)
    with replacing(arguments.output) as temporary:
        Path(temporary).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--predictions", type=Path, required=True, help="table of predictions (Parquet)")
    parser.add_argument(
        "--settings",
        type=settings_argument,
        required=True,
        help="JSON: explainers and metrics by family, explanations of a text, runs, limits",
    )
    add_model_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="text file")
    run(main, parser)
