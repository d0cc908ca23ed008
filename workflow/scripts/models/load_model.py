"""Take over a model that is trained already, with the classes of one dataset as its outputs."""

import argparse
from pathlib import Path

from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_metadata, read_table
from evenlight.engine.initial import taken_over
from evenlight.engine.training import LOOKED_AT, Sample, save_classifier
from evenlight.jobs.command_line import run, settings_argument
from evenlight.jobs.environment import library_versions
from evenlight.models import Architecture
from evenlight.models.devices import use_processor
from evenlight.models.location import loaded_files, pinned
from evenlight.models.ready import unchanged_files
from evenlight.texts.words import TEXT


def main(arguments: argparse.Namespace) -> None:
    """Load and save."""
    use_processor(1)
    model = Architecture.parse(arguments.settings)
    classes = read_metadata(arguments.items, ITEMS)["classes"]
    items = read_table(arguments.items, ITEMS.only("item_id", *TEXT, "split", "part"))
    test = items[items["split"] == "test"]
    commits = pinned(model)
    classifier, about = taken_over(commits, classes, test)
    adapter, of_adapter = (getattr(commits, key, None) for key in ("adapter", "adapter_revision"))
    manifest = {
        "settings": arguments.settings,
        **about,
        "loaded": loaded_files(model.source, model.revision, commit=commits.revision),
        "adapter": adapter and loaded_files(adapter, model.adapter_revision, True, of_adapter),
        "libraries": library_versions(),
    }
    unchanged = () if adapter else unchanged_files(classifier, model.source, model.revision, commits.revision)
    sample = Sample.of(classifier, test.head(LOOKED_AT))
    save_classifier(classifier, arguments.output, None, manifest, unchanged)
    # Two of a large model need more memory than one.
    del classifier
    sample.require_copy(arguments.output, model.max_tokens)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet), whose classes count")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: source, classes, limits")
    parser.add_argument("--output", type=Path, required=True, help="folder for weights, tokenizer, manifest")
    run(main, parser)
