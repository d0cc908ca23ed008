"""Take over a model that is trained already, with the classes of one dataset as its outputs."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from evenlight.code_digest import library_versions
from evenlight.command_line import run, settings_argument
from evenlight.contracts.texts import ITEMS
from evenlight.engine.sentences import parts_of
from evenlight.models.classifier import Classifier
from evenlight.models.processor import use_processor
from evenlight.models.prompted import prompted_classifier
from evenlight.models.ready import loaded_files, ready_classifier
from evenlight.models.two_parts import require_reads_parts
from evenlight.tables import read_metadata, read_table
from evenlight.texts import TEXT, texts_in
from evenlight.training import save_classifier


def with_own_head(settings: dict, classes: Sequence[str], sentences: Sequence) -> tuple[Classifier, dict]:
    """A classifier and the label of each class."""
    classifier, labels = ready_classifier(settings, classes, sentences)
    of_classes = dict(zip(classes, labels, strict=True))
    for name, label in of_classes.items():
        print(f"class {name}: {'none of the labels' if label is None else f'label {label}'}")
    return classifier, {"labels": of_classes}


def with_prompt(settings: dict, classes: Sequence[str], sentences: Sequence) -> tuple[Classifier, dict]:
    """A language model as a classifier, and the tokens by which it tells the classes apart."""
    classifier, about = prompted_classifier(settings, classes, sentences)
    for name, words in about["label_tokens"].items():
        print(f"class {name}: {', '.join(f'{word} ({chr(32).join(tokens)})' for word, tokens in words.items())}")
    if classifier.way.beginning:
        print(f"the first {len(classifier.way.beginning)} tokens of the prompt are computed once for all texts")
    return classifier, about


# Settings, classes and texts to a classifier and what its manifest says of it.
ARCHITECTURES: dict[str, Callable] = {"trained": with_own_head, "prompted": with_prompt}


def main(arguments: argparse.Namespace) -> None:
    """Load and save."""
    use_processor(1)
    settings = arguments.settings
    classes = read_metadata(arguments.items, ITEMS)["classes"]
    items = read_table(arguments.items, ITEMS.only(*TEXT, "split", "part"))
    test = items[items["split"] == "test"]
    texts = texts_in(test)
    taken_over = ARCHITECTURES[settings["architecture"]]
    classifier, about = taken_over(settings, classes, texts)
    if parts := parts_of(test):
        require_reads_parts(classifier, texts[0], parts[0])
    adapter = settings.get("adapter")
    manifest = {
        "settings": settings,
        **about,
        "loaded": loaded_files(settings["source"], settings["revision"]),
        "adapter": adapter and loaded_files(adapter, is_adapter=True),
        "libraries": library_versions(),
    }
    save_classifier(classifier, arguments.output, None, manifest)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet), whose classes count")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: source, classes, limits")
    parser.add_argument("--output", type=Path, required=True, help="folder for weights, tokenizer, manifest")
    run(main, parser)
