"""Explain again by a model whose layers are random, and correlate the scores with those of the model as it is."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from evenlight.core.contracts.explanations import EXPLAINED, RANDOMISED
from evenlight.core.tables import read_arrow, write_table
from evenlight.engine import open_evaluator
from evenlight.engine.evaluator import Evaluator
from evenlight.explainers import Context, Explainer, training_items
from evenlight.explainers.randomisation import randomisation_rows, randomised_items
from evenlight.jobs.command_line import add_model_flags, run, settings_argument
from evenlight.models.layers import Layer, layers_of, randomised
from evenlight.texts.predictions import explained_items, read_explained, sentences_of


def main(arguments: argparse.Namespace) -> None:
    """Write one row per text, order and stage."""
    settings = arguments.settings
    item_ids = explained_items(arguments.predictions).to_pylist()
    scores = read_arrow(arguments.attributions, EXPLAINED).to_pydict()
    score_of = dict(zip(scores["item_id"], scores["token_score"], strict=True))
    # An explainer that a look has closed explains some of the texts.
    explained = [item for item in item_ids if item in score_of]
    drawn = randomised_items(explained, settings["texts"], settings["seed"])
    [texts] = read_explained(arguments.predictions, arguments.items, len(item_ids), "words")
    sentences = [sentence for sentence in sentences_of(texts) if sentence.item_id in drawn]
    before = [pd.Series(score_of[sentence.item_id], dtype=float).to_numpy() for sentence in sentences]
    entry = Explainer.parse(settings["method"])
    training = training_items(arguments.items, [entry])

    classifier = open_evaluator(arguments).classifier

    @contextmanager
    def context_with(chosen: list[Layer]) -> Iterator[Context]:
        with randomised(classifier.network, chosen, settings["seed"]):
            # What an evaluator keeps is of weights that were others.
            evaluator = Evaluator(classifier, arguments.tokens_per_batch or 0)
            yield Context(evaluator, settings["seed"], training)

    rows, notes = randomisation_rows(
        settings["explainer"],
        entry,
        sentences,
        before,
        settings["orders"],
        layers_of(classifier.network),
        context_with,
    )
    write_table(pd.DataFrame(rows), arguments.output, RANDOMISED, {"notes": notes})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--predictions", type=Path, required=True, help="table of predictions (Parquet)")
    parser.add_argument("--attributions", type=Path, required=True, help="the explainer's attribution file")
    parser.add_argument(
        "--settings",
        type=settings_argument,
        required=True,
        help="JSON: explainer, method, orders, texts, limits",
    )
    add_model_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of correlations (Parquet)")
    run(main, parser)
