"""Explain a model's test predictions with one family of explainers; killed and started again, it goes on."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import torch

from evenlight.code_digest import library_versions
from evenlight.command_line import add_group_flag, add_model_flags, run, settings_argument
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.progress import Progress
from evenlight.engine.sentences import pairs_to_drop, token_counts, tokenize
from evenlight.explainers import NEED_TRAINING, Context, explain
from evenlight.explainers.attribution import Remark, attribution_table, note_of
from evenlight.items import drawn_pairs, items_with_units, units_beside
from evenlight.models.classifier import Classifier, load_classifier
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
from evenlight.tables import ATTRIBUTIONS, ITEMS, PREDICTIONS, read_arrow, read_groups, read_table


def chosen_items(arguments: argparse.Namespace) -> tuple[pd.DataFrame, int]:
    """The items to explain with the ``target`` of each, by their place in the table, and the table's length."""
    settings = arguments.settings
    items = read_arrow(arguments.items, ITEMS.only("item_id", "label", "split"))
    place = np.flatnonzero(pc.equal(items["split"], "test"))
    test = items.drop_columns("split").take(place).to_pandas().set_index(place)
    units = units_beside(arguments.items)
    test = items_with_units(drawn_pairs(test, units, settings["pairs"], units["factor"][:1]), units)
    if settings["target"] == "label":
        return test.assign(target=test["label"]), len(items)
    predictions = read_arrow(arguments.predictions, PREDICTIONS.only("item_id", "predicted"))
    # By Arrow: an index of pandas would hold every name as an object of Python.
    found = pc.index_in(pa.array(test["item_id"]).cast(pa.string()), value_set=predictions["item_id"])
    test = test[np.asarray(found.is_valid())]
    return test.assign(target=predictions["predicted"].take(found.drop_null()).to_numpy()), len(items)


def in_groups(path: Path, chosen: pd.DataFrame, length: int, size: int) -> Iterator[pd.DataFrame]:
    """The chosen items with their words, ``size`` at a time: the texts of a large data set never lie in memory."""
    wanted = np.zeros(length, dtype=bool)
    wanted[chosen.index] = True
    return (group.to_pandas() for group in read_groups(path, ITEMS.only("item_id", "words"), size, wanted))


def fitting_items(arguments: argparse.Namespace, classifier: Classifier) -> tuple[pd.DataFrame, int]:
    """The chosen items that the model can read, see :func:`chosen_items`."""
    chosen, length = chosen_items(arguments)
    groups = in_groups(arguments.items, chosen, length, arguments.items_per_group)
    tokens = np.concatenate([np.zeros(0, np.int64), *(token_counts(classifier, group) for group in groups)])
    dropped = pairs_to_drop(chosen, tokens, classifier.max_tokens, arguments.settings["long_items"] == "drop")
    return chosen[~chosen["pair_id"].isin(dropped)], length


def training_items(arguments: argparse.Namespace) -> pd.DataFrame | None:
    """The training split, for families that need it."""
    if arguments.settings["family"] not in NEED_TRAINING:
        return None
    items = read_table(arguments.items, ITEMS.only("label", "words", "split"))
    return items[items["split"] == "train"]


def parts_of(arguments: argparse.Namespace) -> Parts:
    """Where the job keeps what it has done; anything that changes a result gives it another place."""
    files = [
        arguments.items,
        arguments.items.with_name("units.parquet"),
        arguments.predictions,
        *sorted(arguments.model.glob("[!.]*")),
    ]
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
    chosen, length = fitting_items(arguments, classifier)
    print(f"{settings['family']}: explaining {len(chosen):,} items on {classifier.device}", flush=True)
    progress = Progress(len(chosen))
    classifier = replace(classifier, on_rows=progress.count_rows)
    evaluator = Evaluator(classifier, arguments.tokens_per_batch, arguments.compile)
    context = Context(evaluator, settings["seed"], training_items(arguments))
    targets = chosen["target"].to_numpy()
    start = 0
    groups = 0
    for number, items in enumerate(in_groups(arguments.items, chosen, length, arguments.items_per_group)):
        groups = number + 1
        found = is_done(parts, number)
        if not found:
            sentences = tokenize(classifier, items, targets[start : start + len(items)])
            explanations = explain(settings["family"], sentences, settings["explainers"], context)
            tables = {name: attribution_table(sentences, one.attributions) for name, one in explanations.items()}
            remarks = {
                name: {"items": len(sentences), "remarks": [[remark.text, remark.counts] for remark in one.remarks]}
                for name, one in explanations.items()
            }
            write_part(parts, number, tables, remarks)
        start += len(items)
        progress.count_items(len(items), found)
    print(progress.summary(), flush=True)
    return groups


def main(arguments: argparse.Namespace) -> None:
    """Explain and write one shard per explainer."""
    torch.set_num_threads(arguments.threads)
    settings = arguments.settings
    parts = parts_of(arguments)
    groups = complete(parts, lambda: explain_in_parts(arguments, parts))
    for path in arguments.output:
        name = path.stem
        metadata = part_metadata(parts, name, groups)
        note = note_of(([Remark(*remark) for remark in part["remarks"]], part["items"]) for part in metadata)
        if note:
            print(f"{name}: note: {note}")
        metadata = {
            "explainer": name,
            "settings": settings["explainers"][name],
            "target": settings["target"],
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
    parser.add_argument("--predictions", type=Path, required=True, help="table of predictions (Parquet)")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: family, explainers, limits")
    parser.add_argument("--code", default="", help="digest of the code, kept in the shards")
    add_model_flags(parser)
    add_group_flag(parser)
    parser.add_argument(
        "--output", type=Path, required=True, nargs="+", help="one shard per explainer, <explainer>.parquet"
    )
    run(main, parser)
