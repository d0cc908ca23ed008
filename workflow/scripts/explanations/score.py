"""Score all explanations of one model with one family of metrics; killed and started again, it goes on."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from evenlight.command_line import add_group_flag, add_model_flags, run, settings_argument
from evenlight.configuration import asks_model
from evenlight.engine.progress import Progress
from evenlight.items import items_with_units, units_beside
from evenlight.metrics import NEED_WORDS, Explanation, explanations_of, read_origin, score, unknown_item
from evenlight.parts import Parts, complete, digest_of, is_done, join_parts, open_parts, remove_parts, write_part
from evenlight.tables import ATTRIBUTIONS, ITEMS, SCORES, count_rows, read_arrow, read_groups, read_metadata

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


def about_items(items: pa.Table, item_id: pa.ChunkedArray, path: Path) -> pa.Table:
    """The rows of ``items`` that are named, in the order in which they are."""
    place = pc.index_in(item_id, value_set=items["item_id"])
    if place.null_count:
        raise unknown_item(path, item_id.filter(pc.is_null(place))[0])
    return items.take(place)


def side_by_side(paths: list[Path], items: pa.Table, size: int) -> Iterator[list[tuple[Path, Explanation]]]:
    """``size`` explanations of every shard at a time, each with the shard that it is from.

    Those of one item stand together: different explanations often ask the model about the same reduced sentence.
    """

    def explanations(path: Path) -> Iterator[list[tuple[Path, Explanation]]]:
        origin = read_origin(path)
        for shard in read_groups(path, ATTRIBUTIONS, size):
            about = about_items(items, shard["item_id"], path)
            words = about["words"].to_pylist() if "words" in about.column_names else None
            truth = about["ground_truth"].to_pylist()
            yield [(path, one) for one in explanations_of(shard, truth, words, origin)]

    for groups in zip_longest(*map(explanations, paths), fillvalue=()):
        yield [one for of_item in zip_longest(*groups) for one in of_item if one is not None]


def score_tables(
    settings: dict, found: list[tuple[Path, Explanation]], items: pa.Table, evaluator, paths: list[Path]
) -> dict[str, pa.Table]:
    """The scores of some explanations, one table per explainer."""
    values = score(settings["family"], [one for _, one in found], settings["metrics"], evaluator)
    tables = {}
    for path in paths:
        own = [place for place, (of, _) in enumerate(found) if of == path]
        item_id = pa.chunked_array([pa.array([found[place][1].item_id for place in own], pa.string())])
        table = about_items(items, item_id, path).select(["item_id", "pair_id", "group"])
        table = table.append_column("explainer", pa.array([path.stem] * len(own), pa.string()))
        for name, value in values.items():
            table = table.append_column(name, pa.array(value[own], pa.float64()))
        tables[path.stem] = table
    return tables


def parts_of(arguments: argparse.Namespace) -> Parts:
    """Where the job keeps what it has done; anything that changes a result gives it another place."""
    settings = arguments.settings
    model = sorted(arguments.model.glob("[!.]*")) if asks_model("metrics", settings["family"]) else []
    depends_on = {"settings": settings, "code": arguments.code, "items_per_group": arguments.items_per_group}
    units = arguments.items.with_name("units.parquet")
    digest = digest_of(depends_on, [arguments.items, units, *arguments.attributions, *model])
    names = [path.stem for path in arguments.attributions]
    return open_parts(arguments.output.parent, settings["family"], digest, names, SCORES)


def score_in_parts(arguments: argparse.Namespace, parts: Parts) -> int:
    """Score all groups of explanations that no earlier attempt has done; how many groups there are."""
    words = ["words"] if arguments.settings["family"] in NEED_WORDS else []
    items = read_arrow(arguments.items, ITEMS.only("item_id", "ground_truth", *words))
    for name, values in items_with_units(items.select(["item_id"]).to_pandas(), units_beside(arguments.items)).items():
        if name != "item_id":
            items = items.append_column(name, pa.array(values, pa.string()))
    progress = Progress(sum(count_rows(path, ATTRIBUTIONS) for path in arguments.attributions))
    evaluator = evaluator_for(arguments, progress)
    progress.start()
    groups = 0
    paths = arguments.attributions
    for number, explanations in enumerate(side_by_side(paths, items, arguments.items_per_group)):
        groups = number + 1
        found = is_done(parts, number)
        if not found:
            write_part(parts, number, score_tables(arguments.settings, explanations, items, evaluator, paths))
        progress.count_items(len(explanations), found)
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
