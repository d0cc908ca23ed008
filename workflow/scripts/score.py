"""Score all explanations of one model with one family of metrics; killed and started again, it goes on."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from evenlight.command_line import add_group_flag, add_model_flags, run, settings_argument
from evenlight.configuration import asks_model
from evenlight.engine.progress import Progress
from evenlight.metrics import Explanation, explanation_groups, score
from evenlight.parts import Parts, complete, digest_of, is_done, join_parts, open_parts, remove_parts, write_part
from evenlight.tables import ATTRIBUTIONS, ITEMS, SCORES, count_rows, read_metadata, read_table

# Rows of the table of scores that are written, and read, together.
ROWS_PER_GROUP = 2**16


def evaluator_for(arguments: argparse.Namespace, progress: Progress):
    """The model, where the family asks it; torch is imported only then."""
    if not asks_model("metrics", arguments.settings["family"]):
        return None
    import torch

    from evenlight.engine.evaluator import Evaluator
    from evenlight.models.classifier import load_classifier

    torch.set_num_threads(arguments.threads)
    settings = arguments.settings
    classifier = load_classifier(arguments.model, settings["max_tokens"], arguments.device, settings["precision"])
    classifier = replace(classifier, on_rows=progress.count_rows)
    return Evaluator(classifier, arguments.tokens_per_batch, arguments.compile)


def side_by_side(
    paths: list[Path], ground_truth: Mapping[str, np.ndarray | None], size: int
) -> Iterator[list[tuple[str, Explanation]]]:
    """``size`` explanations of every shard at a time, each with its explainer's name.

    Those of one item stand together: different explanations often ask the model about the same reduced sentence.
    """
    shards = [explanation_groups(path, ground_truth, size) for path in paths]
    for groups in zip_longest(*shards, fillvalue=()):
        named = [[(path.stem, one) for one in group] for path, group in zip(paths, groups, strict=True)]
        yield [one for of_item in zip_longest(*named) for one in of_item if one is not None]


def score_tables(
    settings: dict, named: list[tuple[str, Explanation]], items: pd.DataFrame, evaluator, explainers: tuple[str, ...]
) -> dict[str, pa.Table]:
    """The scores of some explanations, one table per explainer."""
    values = score(settings["family"], [one for _, one in named], settings["metrics"], evaluator)
    item_id = [one.item_id for _, one in named]
    table = pd.DataFrame(
        {
            "item_id": item_id,
            "pair_id": items.loc[item_id, "pair_id"].to_numpy(),
            "group": items.loc[item_id, "group"].to_numpy(),
            "explainer": [name for name, _ in named],
            **values,
        }
    )
    return {name: pa.Table.from_pandas(table[table["explainer"] == name], preserve_index=False) for name in explainers}


def parts_of(arguments: argparse.Namespace) -> Parts:
    """Where the job keeps what it has done; anything that changes a result gives it another place."""
    settings = arguments.settings
    model = sorted(arguments.model.glob("[!.]*")) if asks_model("metrics", settings["family"]) else []
    depends_on = {"settings": settings, "code": arguments.code, "items_per_group": arguments.items_per_group}
    digest = digest_of(depends_on, [arguments.items, *arguments.attributions, *model])
    names = [path.stem for path in arguments.attributions]
    return open_parts(arguments.output.parent, settings["family"], digest, names, SCORES)


def score_in_parts(arguments: argparse.Namespace, parts: Parts) -> int:
    """Score all groups of explanations that no earlier attempt has done; how many groups there are."""
    items = read_table(arguments.items, ITEMS.only("item_id", "pair_id", "group", "ground_truth", "split"))
    items = items[items["split"] == "test"].set_index("item_id")
    progress = Progress(sum(count_rows(path, ATTRIBUTIONS) for path in arguments.attributions))
    evaluator = evaluator_for(arguments, progress)
    progress.start()
    groups = 0
    shards = side_by_side(arguments.attributions, items["ground_truth"], arguments.items_per_group)
    for number, named in enumerate(shards):
        groups = number + 1
        found = is_done(parts, number)
        if not found:
            write_part(parts, number, score_tables(arguments.settings, named, items, evaluator, parts.names))
        progress.count_items(len(named), found)
    print(progress.summary(), flush=True)
    return groups


def main(arguments: argparse.Namespace) -> None:
    """Score and write."""
    parts = parts_of(arguments)
    groups = complete(parts, lambda: score_in_parts(arguments, parts))
    notes = {path.stem: read_metadata(path, ATTRIBUTIONS).get("note", "") for path in arguments.attributions}
    metadata = {"settings": arguments.settings, "notes": {name: note for name, note in notes.items() if note}}
    join_parts(parts, parts.names, groups, arguments.output, metadata, ROWS_PER_GROUP)
    remove_parts(parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--attributions", type=Path, required=True, nargs="+", help="shards, <explainer>.parquet")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: family, metrics, limits")
    parser.add_argument("--code", default="", help="digest of the code")
    add_model_flags(parser)
    add_group_flag(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of scores (Parquet)")
    run(main, parser)
