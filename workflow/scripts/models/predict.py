"""Predict the test split with a trained model."""

import argparse
from pathlib import Path

import pandas as pd
import torch

from evenlight.command_line import add_model_flags, run, settings_argument
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import tokenize
from evenlight.items import items_with_units, units_beside
from evenlight.models.classifier import load_classifier
from evenlight.tables import ITEMS, PREDICTIONS, read_table, write_table


def main(arguments: argparse.Namespace) -> None:
    """Predict and write."""
    torch.set_num_threads(arguments.threads)
    settings = arguments.settings
    items = items_with_units(read_table(arguments.items, ITEMS), units_beside(arguments.items))
    items = items[items["split"] == "test"]
    classifier = load_classifier(arguments.model, settings["max_tokens"], arguments.device)
    sentences = tokenize(classifier, items, items["label"], settings["long_items"] == "drop")
    evaluator = Evaluator(classifier, arguments.tokens_per_batch, arguments.compile)
    probability = evaluator.probabilities([sentence.token_id for sentence in sentences])
    predicted = probability.argmax(1)
    accuracy = (predicted == [sentence.target for sentence in sentences]).mean()
    print(f"test accuracy {accuracy:.4f} on {len(sentences)} items")
    write_table(
        pd.DataFrame(
            {
                "item_id": [sentence.item_id for sentence in sentences],
                "probability": list(probability),
                "predicted": predicted,
            }
        ),
        arguments.output,
        PREDICTIONS,
        {"settings": settings},
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: limits")
    add_model_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of predictions (Parquet)")
    run(main, parser)
