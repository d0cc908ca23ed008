"""Take over a model that is trained already, with the classes of one dataset as its outputs."""

import argparse
from pathlib import Path

import torch

from evenlight.code_digest import library_versions
from evenlight.command_line import run, settings_argument
from evenlight.models.ready import loaded_files, ready_classifier
from evenlight.tables import ITEMS, read_metadata, read_table
from evenlight.training import save_classifier


def main(arguments: argparse.Namespace) -> None:
    """Load and save."""
    torch.set_num_threads(1)
    settings = arguments.settings
    classes = read_metadata(arguments.items, ITEMS)["classes"]
    items = read_table(arguments.items, ITEMS.only("words", "split"))
    classifier, labels = ready_classifier(settings, classes, list(items.loc[items["split"] == "test", "words"]))
    of_classes = dict(zip(classes, labels, strict=True))
    for name, label in of_classes.items():
        print(f"class {name}: {'none of the labels' if label is None else f'label {label}'}")
    manifest = {
        "settings": settings,
        "labels": of_classes,
        "loaded": loaded_files(settings["source"], settings["revision"]),
        "adapter": settings["adapter"] and loaded_files(settings["adapter"], is_adapter=True),
        "libraries": library_versions(),
    }
    save_classifier(classifier, arguments.output, None, manifest)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet), whose classes count")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: source, classes, limits")
    parser.add_argument("--output", type=Path, required=True, help="folder for weights, tokenizer, manifest")
    run(main, parser)
