"""Explain a model's predictions with one family of explainers; killed and started again, it goes on.

An explainer whose attribution file was made of the same settings, code and files is left as it is, and so is the record
of what it has cost.
"""

import argparse
import time
from functools import partial
from pathlib import Path

from evenlight.core.chance import note_on_chance
from evenlight.core.contracts.explanations import ATTRIBUTIONS
from evenlight.core.contracts.texts import PREDICTIONS
from evenlight.core.tables import read_metadata
from evenlight.engine import model_files, open_evaluator
from evenlight.engine.progress import Progress
from evenlight.explainers import Context, explain, explained_again, module_named, training_items
from evenlight.explainers.attribution import Remark, attribution_table, note_of
from evenlight.explainers.costs import complete_costs, device_used, write_cost
from evenlight.explainers.planned import planned_rows
from evenlight.jobs.code_digest import LIBRARIES, library_versions
from evenlight.jobs.command_line import add_group_flag, add_model_flags, run, settings_argument
from evenlight.jobs.parts import Parts, digest_of_inputs, is_done, make_in_parts, write_part
from evenlight.texts.predictions import explained_items, read_explained, sentences_of
from evenlight.texts.words import TEXT


def libraries(arguments: argparse.Namespace) -> dict[str, str]:
    """Versions of the libraries that the attribution files depend on."""
    return library_versions(LIBRARIES if arguments.model else ("numpy", "scikit-learn"))


def digests_of(arguments: argparse.Namespace) -> dict[str, str]:
    """Of everything that each explainer's attribution file depends on, by the explainer's name."""
    common = {name: value for name, value in arguments.settings.items() if name not in ("explainers", "tags")} | {
        "code": arguments.code,
        "libraries": libraries(arguments),
        "files": digest_of_inputs({}, [arguments.items, arguments.predictions, *model_files(arguments.model)]),
    }
    explainers = arguments.settings["explainers"]
    return {
        name: digest_of_inputs(
            common | {"explainer": name, "settings": method, "tags": arguments.settings["tags"][name]},
            [Path(method["file"])] if "is_made_elsewhere" in arguments.settings["tags"][name] else [],
        )
        for name, method in explainers.items()
    }


def explain_in_parts(arguments: argparse.Namespace, parts: Parts) -> int:
    """Explain all groups of items that no earlier attempt has done; how many groups there are."""
    settings = arguments.settings
    items = explained_items(arguments.predictions).to_pylist()
    count = len(items)
    methods = {name: settings["explainers"][name] for name in parts.names}
    tags = {name: settings["tags"][name] for name in parts.names}
    estimating = explained_again.estimating(tags)
    drawn = explained_again.explained_twice(items, settings["seed"])
    texts = read_explained(arguments.predictions, arguments.items, arguments.items_per_group)
    planned = [planned_rows(settings["family"], methods, sentences_of(some), drawn, estimating) for some in texts]
    progress = Progress(count, [rows for some in planned for rows in some])
    evaluator = open_evaluator(arguments, progress.count_rows)
    on_device = f" on {evaluator.classifier.device}" if evaluator else ""
    print(f"{settings['family']}: explaining {count:,} items with {', '.join(parts.names)}{on_device}", flush=True)
    device = {"device": device_used(evaluator), "threads": arguments.threads}
    module_named(settings["family"])
    progress.start()
    context = Context(evaluator, settings["seed"], training_items(arguments.items, *tags.values()))
    groups = 0
    texts_in_groups = read_explained(arguments.predictions, arguments.items, arguments.items_per_group, *TEXT)
    for number, texts in enumerate(texts_in_groups):
        groups = number + 1
        is_there = is_done(parts, number)
        if not is_there:
            sentences = sentences_of(texts)
            started, rows_before = time.monotonic(), progress.rows
            explanations = explain(settings["family"], sentences, methods, context)
            spent = {"seconds": time.monotonic() - started, "rows_asked": progress.rows - rows_before, **device}
            tables = {name: attribution_table(sentences, each.attributions) for name, each in explanations.items()}
            noticed = [[note, {}] for note in evaluator.notes] if evaluator else []
            repeated = {name: methods[name] for name in estimating}
            again = explained_again.agreement_between_draws(
                settings["family"], sentences, repeated, context, explanations, drawn
            )
            metadata = {
                name: {
                    "items": len(sentences),
                    "remarks": [[remark.text, remark.counts] for remark in each.remarks] + noticed,
                    "explained_again": again.get(name, []),
                    "together": list(explanations),
                    "cost": spent
                    | {"texts": len(sentences), "rows": sum(one.forward_rows for one in each.attributions)},
                }
                for name, each in explanations.items()
            }
            write_part(parts, number, tables, metadata)
        progress.count_items(len(texts), is_there)
    print(progress.summary(), flush=True)
    return groups


def attribution_file_metadata(arguments: argparse.Namespace, name: str, of_parts: list[dict]) -> dict:
    """What the attribution file of an explainer says of itself, from what was kept with its parts."""
    settings = arguments.settings
    note = note_of(([Remark(*remark) for remark in part["remarks"]], part["items"]) for part in of_parts)
    again = [item for part in of_parts for item in part["explained_again"]]
    for said in filter(None, (note, note_on_chance([again]))):
        print(f"{name}: note: {said}")
    return {
        "explainer": name,
        "family": settings["family"],
        "settings": settings["explainers"][name],
        "tags": settings["tags"][name],
        "target": read_metadata(arguments.predictions, PREDICTIONS)["settings"]["target"],
        "precision": settings.get("precision", "float32"),
        "seed": settings["seed"],
        "libraries": libraries(arguments),
        "code": arguments.code,
        "note": note,
        "explained_again": again,
    }


def write_cost_of(
    paths: dict[str, Path], digests: dict[str, str], tags: dict[str, list[str]], name: str, of_parts: list[dict]
) -> None:
    """Write what the explanations of an explainer have cost; those made elsewhere were only read."""
    known = [] if "is_made_elsewhere" in tags[name] else [part["cost"] for part in of_parts]
    write_cost(paths[name], digests[name], next((part["together"] for part in of_parts), [name]), known)


def main(arguments: argparse.Namespace) -> None:
    """Explain and write one attribution file per explainer, and beside each what it has cost."""
    digests, costs = digests_of(arguments), {path.stem: path for path in arguments.costs}
    make_in_parts(
        arguments.output,
        ATTRIBUTIONS,
        digests,
        job=arguments.settings["family"],
        size=arguments.items_per_group,
        compute=partial(explain_in_parts, arguments),
        describe=partial(attribution_file_metadata, arguments),
        beside=partial(write_cost_of, costs, digests, arguments.settings["tags"]),
    )
    complete_costs(arguments.costs, digests)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--predictions", type=Path, required=True, help="table of predictions (Parquet)")
    parser.add_argument(
        "--settings", type=settings_argument, required=True, help="JSON: family, explainers, tags, limits"
    )
    parser.add_argument("--code", default="", help="digest of the code, kept in the attribution files")
    add_model_flags(parser, required=False)
    add_group_flag(parser)
    parser.add_argument(
        "--output", type=Path, required=True, nargs="+", help="one attribution file per explainer, <explainer>.parquet"
    )
    parser.add_argument(
        "--costs", type=Path, required=True, nargs="+", help="what each of them has cost, <explainer>.parquet"
    )
    run(main, parser)
