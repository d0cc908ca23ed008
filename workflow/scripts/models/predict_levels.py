"""Train a network to predict the levels of one concept, and ask it about the test texts."""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core.contracts.explanations import PREDICTED_LEVELS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_table, write_table
from evenlight.engine.checkpoints import add_checkpoint_flags, describe_training, open_checkpoint
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import parts_of, tokenize
from evenlight.engine.training import digest_of_training, make_reproducible, train
from evenlight.jobs.command_line import add_device_flags, run, settings_argument
from evenlight.models.building import new_classifier
from evenlight.models.devices import device_name, pick_device, use_processor
from evenlight.models.trainings import recipe_of
from evenlight.texts.items import learned_levels
from evenlight.texts.words import single_texts, texts_in


def main(arguments: argparse.Namespace) -> None:
    """Write the most probable level of every test text; the weights are not kept."""
    use_processor(arguments.threads)
    make_reproducible()
    settings = arguments.settings
    (model, recipe), levels, seed = recipe_of(settings["model"]), settings["levels"], settings["seed"]
    items = read_table(arguments.items, ITEMS)
    learned, validated = (
        learned_levels(items, split, settings["concept"], levels) for split in ("train", "validation")
    )
    test = items[items["split"] == "test"]
    if learned.nunique() == 1:
        print(f"all training texts with a label say '{learned.iloc[0]}', and so does the table")
        predicted = [learned.iloc[0]] * len(test)
    else:
        known = items.loc[learned.index]
        classifier = new_classifier(model, recipe, single_texts(texts_in(known), parts_of(known)), len(levels), seed)
        classifier = replace(classifier, network=classifier.network.to(pick_device(arguments.device)))
        training, validation = (
            tokenize(classifier, items.loc[known.index], [levels.index(level) for level in known])
            for known in (learned, validated)
        )
        # Before the training, so that texts which cannot be read are refused now.
        asked = tokenize(classifier, test, np.zeros(len(test)))
        about = describe_training(arguments, device_name(classifier.device), bool(recipe.lora))
        digest = digest_of_training(classifier, training, validation, about)
        checkpoint = open_checkpoint(arguments.output, digest, arguments.checkpoint_minutes)
        history = train(classifier, training, validation, recipe, seed, checkpoint)
        print(history.to_string(index=False))
        classifier.network.requires_grad_(False)
        probability = Evaluator(classifier, arguments.tokens_per_batch or 0).probabilities(
            [sentence.row for sentence in asked]
        )
        predicted = [levels[output] for output in probability.argmax(axis=1)]
        checkpoint.remove()
    write_table(pd.DataFrame({"item_id": test["item_id"], "level": predicted}), arguments.output, PREDICTED_LEVELS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument(
        "--settings", type=settings_argument, required=True, help="JSON: model, concept, levels (in order), seed"
    )
    parser.add_argument("--tokens-per-batch", type=int, help="most tokens in one batch; default: what suits the device")
    add_checkpoint_flags(parser)
    add_device_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of levels (Parquet)")
    run(main, parser)
