"""Ask a trained model once about every text: probabilities, and what its last linear layer is given."""

import argparse
from pathlib import Path

import numpy as np

from evenlight.core.contracts.explanations import REPRESENTATIONS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_table, write_table
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.representations import represented
from evenlight.engine.sentences import encoded, token_counts
from evenlight.jobs.command_line import add_model_flags, run, settings_argument
from evenlight.models.classifier import load_saved
from evenlight.models.devices import use_processor


def main(arguments: argparse.Namespace) -> None:
    """Write the table; weights and bias of the layer stand in its metadata."""
    use_processor(arguments.threads)
    limit = arguments.settings["max_tokens"]
    classifier = load_saved(arguments.model, limit, arguments.device)
    items = read_table(arguments.items, ITEMS)
    tokens = token_counts(classifier, items)
    if (tokens > limit).any():
        name = items["item_id"].iloc[int(np.argmax(tokens))]
        raise InputError(f"item {name}: has {tokens.max()} tokens, models.<model>.max_tokens is {limit}; raise it")
    rows = [sentence.row for sentence in encoded(classifier, items, items["label"], None)]
    probability, representation, head = represented(Evaluator(classifier, arguments.tokens_per_batch or 0), rows)
    table = items[["item_id", "split"]].assign(probability=list(probability), representation=list(representation))
    write_table(table, arguments.output, REPRESENTATIONS, head)
    right = probability.argmax(axis=1) == items["label"].to_numpy()
    for split, of_split in items.groupby("split").groups.items():
        print(f"{split}: accuracy {right[of_split].mean():.4f} on {len(of_split)} texts")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: max_tokens")
    add_model_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of representations (Parquet)")
    run(main, parser)
