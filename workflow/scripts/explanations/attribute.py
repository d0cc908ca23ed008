"""Explain a model's predictions with one family of explainers; killed and started again, it goes on."""

import argparse
from dataclasses import replace
from pathlib import Path

import pandas as pd
import torch

from evenlight.code_digest import library_versions
from evenlight.command_line import add_group_flag, add_model_flags, run, settings_argument
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.progress import Progress
from evenlight.explainers import NEED_TRAINING, Context, explain
from evenlight.explainers.attribution import Remark, attribution_table, note_of
from evenlight.models.classifier import load_classifier
from evenlight.parts import (
    Parts,
    complete,
    digest_of,
    is_done,
    join_parts,
    open_parts,
    part_metadata,
    remove_parts,
    write_part,
)
from evenlight.readings import explained_items, read_explained, sentences_of
from evenlight.tables import ATTRIBUTIONS, ITEMS, READINGS, read_metadata, read_table


def training_items(arguments: argparse.Namespace) -> pd.DataFrame | None:
    """The training split, for families that need it."""
    if arguments.settings["family"] not in NEED_TRAINING:
        return None
    items = read_table(arguments.items, ITEMS.only("label", "words", "split"))
    return items[items["split"] == "train"]


def parts_of(arguments: argparse.Namespace) -> Parts:
    """Where the job keeps what it has done; anything that changes a result gives it another place."""
    files = [arguments.items, arguments.readings, *sorted(arguments.model.glob("[!.]*"))]
    depends_on = {
        "settings": arguments.settings,
        "code": arguments.code,
        "libraries": library_versions(),
        "items_per_group": arguments.items_per_group,
    }
    names = [path.stem for path in arguments.output]
    folder = arguments.output[0].parent
    return open_parts(folder, arguments.settings["family"], digest_of(depends_on, files), names, ATTRIBUTIONS)


def explain_in_parts(arguments: argparse.Namespace, parts: Parts) -> int:
    """Explain all groups of items that no earlier attempt has done; how many groups there are."""
    settings = arguments.settings
    classifier = load_classifier(arguments.model, settings["max_tokens"], arguments.device, settings["precision"])
    count = len(explained_items(arguments.readings))
    print(f"{settings['family']}: explaining {count:,} items on {classifier.device}", flush=True)
    progress = Progress(count)
    classifier = replace(classifier, on_rows=progress.count_rows)
    evaluator = Evaluator(classifier, arguments.tokens_per_batch, arguments.compile)
    context = Context(evaluator, settings["seed"], training_items(arguments))
    groups = 0
    texts_in_groups = read_explained(arguments.readings, arguments.items, arguments.items_per_group, "words")
    for number, texts in enumerate(texts_in_groups):
        groups = number + 1
        is_there = is_done(parts, number)
        if not is_there:
            sentences = sentences_of(texts)
            explanations = explain(settings["family"], sentences, settings["explainers"], context)
            tables = {name: attribution_table(sentences, one.attributions) for name, one in explanations.items()}
            remarks = {
                name: {"items": len(sentences), "remarks": [[remark.text, remark.counts] for remark in one.remarks]}
                for name, one in explanations.items()
            }
            write_part(parts, number, tables, remarks)
        progress.count_items(len(texts), is_there)
    print(progress.summary(), flush=True)
    return groups


def main(arguments: argparse.Namespace) -> None:
    """Explain and write one shard per explainer."""
    torch.set_num_threads(arguments.threads)
    settings = arguments.settings
    parts = parts_of(arguments)
    groups = complete(parts, lambda: explain_in_parts(arguments, parts))
    target = read_metadata(arguments.readings, READINGS)["settings"]["target"]
    for path in arguments.output:
        name = path.stem
        metadata = part_metadata(parts, name, groups)
        note = note_of(([Remark(*remark) for remark in part["remarks"]], part["items"]) for part in metadata)
        if note:
            print(f"{name}: note: {note}")
        metadata = {
            "explainer": name,
            "family": settings["family"],
            "settings": settings["explainers"][name],
            "target": target,
            "precision": settings["precision"],
            "seed": settings["seed"],
            "libraries": library_versions(),
            "code": arguments.code,
            "note": note,
        }
        join_parts(parts, [name], groups, path, metadata)
    remove_parts(parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--readings", type=Path, required=True, help="table of readings (Parquet)")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: family, explainers, limits")
    parser.add_argument("--code", default="", help="digest of the code, kept in the shards")
    add_model_flags(parser)
    add_group_flag(parser)
    parser.add_argument(
        "--output", type=Path, required=True, nargs="+", help="one shard per explainer, <explainer>.parquet"
    )
    run(main, parser)
