"""Train one model on one dataset with one seed; killed and started again, it goes on."""

import argparse
import hashlib
from dataclasses import replace
from pathlib import Path

import pandas as pd

from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_metadata, read_table, write_csv
from evenlight.engine.checkpoints import add_checkpoint_flags, describe_training, open_checkpoint
from evenlight.engine.initial import untrained
from evenlight.engine.sentences import ReadingSettings, tokenize, unexplained
from evenlight.engine.training import (
    LOOKED_AT,
    Diverged,
    Sample,
    digest_of_training,
    make_reproducible,
    save_classifier,
    train,
)
from evenlight.jobs.command_line import add_compared_flag, add_device_flags, run, settings_argument
from evenlight.models import Architecture
from evenlight.models.classifier import Classifier, name_classes
from evenlight.models.devices import device_name, pick_device, use_processor
from evenlight.models.location import begun_with, pinned
from evenlight.models.trainings import recipe_of
from evenlight.texts.items import check_explained, groups_kept_together


def refuse_test(
    model: Architecture, arguments: argparse.Namespace, classifier: Classifier, test: pd.DataFrame, units: pd.DataFrame
) -> None:
    """Refuse now what would be refused when everything is trained: test texts that cannot be read or compared."""
    dataset = arguments.items.parent.name
    compared = arguments.compared or {"comparisons": {}, "samples": {}, "strata": {}}
    sample = compared["samples"].get(dataset, {"pairs": None, "factors": []})
    limits = {name: getattr(model, name) for name in ("max_tokens", "long_items", "overlap")}
    reading = ReadingSettings(**limits, **sample)
    try:
        reason = unexplained(classifier, test, units, reading)
    except InputError as error:
        raise InputError(f"{arguments.items}, split test: {error}") from None
    check_explained(dataset, test, reason, units, compared)


def main(arguments: argparse.Namespace) -> None:
    """Train and save."""
    use_processor(arguments.threads)
    make_reproducible()
    settings = arguments.settings
    model, recipe = recipe_of(settings["model"])
    items, units = read_table(arguments.items, ITEMS), read_table(arguments.units, UNITS)
    classes = read_metadata(arguments.items, ITEMS)["classes"]
    training, validation, test = (items[items["split"] == split] for split in ("train", "validation", "test"))
    commits = pinned(model)
    classifier = untrained(commits, recipe, training, len(classes), settings["seed"], arguments.items)
    refuse_test(model, arguments, classifier, test, units)
    name_classes(classifier.network, classes)
    device = pick_device(arguments.device)
    classifier = replace(classifier, network=classifier.network.to(device))
    kept_together = groups_kept_together(items, units) if model.long_items == "drop" else None
    print(f"training on {device}: {len(training)} items, validating on {len(validation)}", flush=True)
    sentences = [
        tokenize(classifier, part, part["label"], kept_together, model.overlap) for part in (training, validation)
    ]
    about = describe_training(arguments, device_name(device), bool(recipe.lora)) | {
        "began_with": begun_with(model, commits)
    }
    digest = digest_of_training(classifier, *sentences, about)
    checkpoint = open_checkpoint(arguments.output or arguments.history, digest, arguments.checkpoint_minutes)
    try:
        history = train(classifier, *sentences, recipe, settings["seed"], checkpoint)
    except Diverged as diverged:
        if arguments.output:
            raise
        history = diverged.history
    if not arguments.output:
        write_csv(history, arguments.history)
        checkpoint.remove()
        return
    is_last = recipe.kept_epoch == "last"
    best = history.iloc[-1] if is_last else history.loc[history["validation_loss"].idxmin()]
    print(
        f"kept epoch {best['epoch']:.0f} of {len(history)}: validation loss {best['validation_loss']:.4f}, "
        f"accuracy {best['validation_accuracy']:.3f}"
    )
    manifest = about | {
        "items_sha256": hashlib.sha256(arguments.items.read_bytes()).hexdigest(),
        "best_epoch": int(best["epoch"]),
    }
    # The copy is read on a processor, and a card rounds otherwise.
    classifier = replace(classifier, network=classifier.network.cpu())
    sample = Sample.of(classifier, test.head(LOOKED_AT))
    save_classifier(classifier, arguments.output, history, manifest)
    del classifier
    sample.require_copy(arguments.output, model.max_tokens)
    checkpoint.remove()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--units", type=Path, required=True, help="table of units (Parquet)")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: model, seed")
    add_checkpoint_flags(parser)
    add_compared_flag(parser)
    add_device_flags(parser)
    written = parser.add_mutually_exclusive_group(required=True)
    written.add_argument("--output", type=Path, help="folder for weights, tokenizer, history, manifest")
    written.add_argument("--history", type=Path, help="keep nothing but the history, of a diverged training too (CSV)")
    run(main, parser)
