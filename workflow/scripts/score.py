"""Score all explanations of one model with one family of metrics."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.command_line import add_model_flags, run, settings_argument
from evenlight.configuration import asks_model
from evenlight.metrics import read_explanations, score
from evenlight.tables import ITEMS, SCORES, read_table, write_table


def evaluator_for(arguments: argparse.Namespace):
    """The model, where the family asks it; torch is imported only then."""
    if not asks_model("metrics", arguments.settings["family"]):
        return None
    import torch

    from evenlight.engine.evaluator import Evaluator
    from evenlight.models.classifier import load_classifier

    torch.set_num_threads(arguments.threads)
    settings = arguments.settings
    classifier = load_classifier(arguments.model, settings["max_tokens"], arguments.device)
    return Evaluator(classifier, arguments.tokens_per_batch)


def main(arguments: argparse.Namespace) -> None:
    """Score and write."""
    settings = arguments.settings
    items = read_table(arguments.items, ITEMS).set_index("item_id")
    explanations, explainer = [], []
    for path in arguments.attributions:
        own = read_explanations(path, items["ground_truth"])
        explanations += own
        explainer += [path.stem] * len(own)
    values = score(settings["family"], explanations, settings["metrics"], evaluator_for(arguments))
    item_id = [one.item_id for one in explanations]
    for name, value in values.items():
        print(f"{name}: {len(value)} values, {np.isnan(value).sum()} undefined")
    write_table(
        pd.DataFrame(
            {
                "item_id": item_id,
                "pair_id": items.loc[item_id, "pair_id"].to_numpy(),
                "group": items.loc[item_id, "group"].to_numpy(),
                "explainer": explainer,
                **values,
            }
        ),
        arguments.output,
        SCORES,
        {"settings": settings},
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--attributions", type=Path, required=True, nargs="+", help="shards, <explainer>.parquet")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: family, metrics, limits")
    add_model_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of scores (Parquet)")
    run(main, parser)
