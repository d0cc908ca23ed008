"""Explain a model's test predictions with one family of explainers."""

import argparse
import time
from pathlib import Path

import torch

from evenlight.command_line import add_model_flags, run, settings_argument
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import tokenize
from evenlight.explainers import Context, explain
from evenlight.explainers.attribution import write_attributions
from evenlight.items import drawn_pairs
from evenlight.models.classifier import load_classifier
from evenlight.models.training import library_versions
from evenlight.tables import ITEMS, PREDICTIONS, read_table


def main(arguments: argparse.Namespace) -> None:
    """Explain and write one shard per explainer."""
    torch.set_num_threads(arguments.threads)
    settings = arguments.settings
    items = read_table(arguments.items, ITEMS)
    test = drawn_pairs(items[items["split"] == "test"], settings["pairs"], settings["seed"])
    targets = test["label"]
    if settings["target"] == "prediction":
        predictions = read_table(arguments.predictions, PREDICTIONS).set_index("item_id")["predicted"]
        test = test[test["item_id"].isin(predictions.index)]
        targets = predictions.loc[test["item_id"]]
    classifier = load_classifier(arguments.model, settings["max_tokens"], arguments.device)
    sentences = tokenize(classifier, test, targets, settings["long_items"] == "drop")
    evaluator = Evaluator(classifier, arguments.tokens_per_batch)
    print(f"{settings['family']}: explaining {len(sentences)} items on {classifier.device}", flush=True)

    shards = {path.stem: path for path in arguments.output}
    started = time.perf_counter()
    context = Context(evaluator, settings["seed"], training=items[items["split"] == "train"])
    explanations = explain(settings["family"], sentences, settings["explainers"], context)
    seconds = time.perf_counter() - started
    for name, explanation in explanations.items():
        rows = sum(attribution.forward_rows for attribution in explanation.attributions)
        print(f"{name}: {rows} rows through the model")
        if explanation.note:
            print(f"{name}: note: {explanation.note}")
        metadata = {
            "explainer": name,
            "settings": settings["explainers"][name],
            "target": settings["target"],
            "seed": settings["seed"],
            "libraries": library_versions(),
            "code": arguments.code,
            "note": explanation.note,
            "family_seconds": round(seconds, 3),
        }
        write_attributions(shards[name], sentences, explanation.attributions, metadata)
    print(f"{seconds:.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--predictions", type=Path, required=True, help="table of predictions (Parquet)")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: family, explainers, limits")
    parser.add_argument("--code", default="", help="digest of the code, kept in the shards")
    add_model_flags(parser)
    parser.add_argument(
        "--output", type=Path, required=True, nargs="+", help="one shard per explainer, <explainer>.parquet"
    )
    run(main, parser)
