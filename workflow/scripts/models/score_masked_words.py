"""Ask a masked language model, or what a training made of it, how probable the words of the explained texts are."""

import argparse
from pathlib import Path

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.texts import ITEMS, MASKED_WORDS
from evenlight.engine.masked_words import begun_at, masked_evaluator, masked_scores, why_without_head
from evenlight.engine.sentences import parts_of
from evenlight.jobs.command_line import add_model_flags, run, settings_argument
from evenlight.models.devices import use_processor
from evenlight.models.tokenizers import read_words
from evenlight.texts.predictions import explained_items
from evenlight.texts.words import TEXT, texts_in


def main(arguments: argparse.Namespace) -> None:
    """Write the scores; of a model without the head, why there are none."""
    use_processor(arguments.threads)
    settings = arguments.settings
    source, revision = settings["source"], begun_at(arguments.model, settings["revision"])
    why = why_without_head(str(arguments.model), source, revision)
    items = tables.read_table(arguments.items, ITEMS.only("item_id", *TEXT, "ground_truth", "part"))
    texts = items[items["item_id"].isin(explained_items(arguments.predictions).to_pylist())]
    if why:
        table, notes = pd.DataFrame(columns=MASKED_WORDS.schema.names), [why]
    else:
        limits = settings["max_tokens"], arguments.device, arguments.tokens_per_batch or 0
        evaluator = masked_evaluator(str(arguments.model), source, revision, *limits)
        tokenizer = evaluator.classifier.tokenizer
        encodings = read_words(tokenizer, texts_in(texts), list(texts["item_id"]), parts_of(texts))
        scores = masked_scores(evaluator, encodings, list(texts["ground_truth"]))
        table, notes = pd.DataFrame({"item_id": texts["item_id"]} | scores), []
    tables.write_table(table, arguments.output, MASKED_WORDS, {"notes": notes})
    print(notes[0] if notes else f"{len(table):,} texts")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--predictions", type=Path, required=True, help="which of them are explained (Parquet)")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: source, revision, max_tokens")
    add_model_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of scores (Parquet)")
    run(main, parser)
