"""Score all explanations of one model with one family of metrics; killed and started again, it goes on."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from evenlight.command_line import add_group_flag, add_model_flags, run, settings_argument
from evenlight.engine.progress import Progress
from evenlight.items import items_with_units, units_beside
from evenlight.metrics import NEED_WORDS, Explanation, explanations_of, other_items, read_origin, score
from evenlight.parts import Parts, complete, digest_of, is_done, join_parts, open_parts, remove_parts, write_part
from evenlight.readings import explained_items, read_explained
from evenlight.tables import ATTRIBUTIONS, SCORES, count_rows, read_groups, read_metadata

# Rows of the table of scores that are written, and read, together.
ROWS_PER_GROUP = 2**16


def evaluator_for(arguments: argparse.Namespace, progress: Progress):
    """The model, where the family asks it; torch is imported only then."""
    if not arguments.settings["asks_model"]:
        return None
    import torch

    from evenlight.engine.evaluator import Evaluator
    from evenlight.models.classifier import load_classifier

    torch.set_num_threads(arguments.threads)
    settings = arguments.settings
    classifier = load_classifier(arguments.model, settings["max_tokens"], arguments.device, settings["precision"])
    classifier = replace(classifier, on_rows=progress.count_rows)
    return Evaluator(classifier, arguments.tokens_per_batch, arguments.compile)


def side_by_side(arguments: argparse.Namespace) -> Iterator[tuple[pa.Table, list[list[Explanation]]]]:
    """Some texts at a time, with the explanations that each shard has of them."""
    size = arguments.items_per_group
    words = ["words"] if arguments.settings["family"] in NEED_WORDS else []
    columns = ["ground_truth", *words]
    count = len(explained_items(arguments.readings))
    for path in arguments.attributions:
        if count_rows(path, ATTRIBUTIONS) != count:
            raise other_items(path)
    units = units_beside(arguments.items)
    origins = [read_origin(path) for path in arguments.attributions]
    shards = [read_groups(path, ATTRIBUTIONS, size) for path in arguments.attributions]
    for texts, *parts in zip(read_explained(arguments.readings, arguments.items, size, *columns), *shards, strict=True):
        for name, values in items_with_units(texts.select(["item_id"]).to_pandas(), units).items():
            if name != "item_id":
                texts = texts.append_column(name, pa.array(values, pa.string()))
        of_shards = zip(parts, arguments.attributions, origins, strict=True)
        yield texts, [explanations_of(texts, part, path, origin) for part, path, origin in of_shards]


def score_tables(
    settings: dict, texts: pa.Table, explanations: list[list[Explanation]], evaluator, names: tuple[str, ...]
) -> dict[str, pa.Table]:
    """The scores of some texts, one table per explainer."""
    # Those of one text side by side: different explanations often ask the model about the same reduced sentence.
    of_texts = [one for of_text in zip(*explanations, strict=True) for one in of_text]
    values = score(settings["family"], of_texts, settings["metrics"], evaluator)
    tables = {}
    for place, name in enumerate(names):
        table = texts.select(["item_id", "pair_id", "group"])
        table = table.append_column("explainer", pa.array([name] * len(texts), pa.string()))
        for metric, value in values.items():
            table = table.append_column(metric, pa.array(value[place :: len(names)], pa.float64()))
        tables[name] = table
    return tables


def parts_of(arguments: argparse.Namespace) -> Parts:
    """Where the job keeps what it has done; anything that changes a result gives it another place."""
    settings = arguments.settings
    model = sorted(arguments.model.glob("[!.]*")) if settings["asks_model"] else []
    depends_on = {"settings": settings, "code": arguments.code, "items_per_group": arguments.items_per_group}
    units = arguments.items.with_name("units.parquet")
    digest = digest_of(depends_on, [arguments.items, units, arguments.readings, *arguments.attributions, *model])
    names = [path.stem for path in arguments.attributions]
    return open_parts(arguments.output.parent, settings["family"], digest, names, SCORES)


def score_in_parts(arguments: argparse.Namespace, parts: Parts) -> int:
    """Score all groups of explanations that no earlier attempt has done; how many groups there are."""
    progress = Progress(sum(count_rows(path, ATTRIBUTIONS) for path in arguments.attributions))
    evaluator = evaluator_for(arguments, progress)
    progress.start()
    groups = 0
    for number, (texts, explanations) in enumerate(side_by_side(arguments)):
        groups = number + 1
        is_there = is_done(parts, number)
        if not is_there:
            write_part(parts, number, score_tables(arguments.settings, texts, explanations, evaluator, parts.names))
        progress.count_items(len(texts) * len(parts.names), is_there)
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
    parser.add_argument("--readings", type=Path, required=True, help="table of readings (Parquet)")
    parser.add_argument("--attributions", type=Path, required=True, nargs="+", help="shards, <explainer>.parquet")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: family, metrics, limits")
    parser.add_argument("--code", default="", help="digest of the code")
    add_model_flags(parser)
    add_group_flag(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of scores (Parquet)")
    run(main, parser)
