"""Explain a model's predictions with one family of explainers; killed and started again, it goes on.

Rows are reused whose inputs are unchanged, with what they have cost.
"""

import argparse
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenlight.core.chance import note_on_chance
from evenlight.core.contracts.explanations import ATTRIBUTIONS
from evenlight.core.contracts.texts import PREDICTIONS
from evenlight.core.tables import read_arrow, read_metadata
from evenlight.core.versions import versions_for
from evenlight.engine import open_evaluator, rounding_of
from evenlight.engine.progress import Progress
from evenlight.explainers import Context, Explainer, explain, explained_again, training_items
from evenlight.explainers.attribution import Remark, attribution_table, note_of
from evenlight.explainers.costs import cost_of_rows, device_used, write_cost
from evenlight.explainers.planned import planned_rows
from evenlight.jobs.command_line import add_group_flag, add_model_flags, run, settings_argument
from evenlight.jobs.environment import OF_MODELS, library_versions
from evenlight.jobs.parts import (
    DIGEST,
    MADE_OF,
    Missing,
    Rows,
    digest_of,
    digest_of_inputs,
    digests_of,
    make_rows,
    write_part,
)
from evenlight.models import model_files
from evenlight.texts.predictions import Sentence, explained_items, read_explained, sentences_of
from evenlight.texts.words import TEXT


def libraries(arguments: argparse.Namespace) -> dict[str, str]:
    """Versions of the libraries that the attribution files depend on."""
    return library_versions(OF_MODELS if arguments.model else ("numpy", "scikit-learn"))


def digests_of_rows(arguments: argparse.Namespace) -> dict[str, str]:
    """Of what all rows of each explainer's attribution file depend on beside their text, by the explainer's name."""
    common = {name: value for name, value in arguments.settings.items() if name != "explainers"} | {
        "model": digest_of_inputs({}, model_files(arguments.model)),
    }
    return {
        name: digest_of_inputs(
            common
            | {"explainer": name, "settings": settings_of(entry)}
            | {"versions": versions_for(arguments.versions, entry.method)},
            [Path(entry.file)] if entry.external else [],
        )
        for name, entry in arguments.explainers.items()
    }


def settings_of(entry: Explainer) -> dict[str, Any]:
    """What attribution files say of an explainer; a heading changes no explanation."""
    return entry.model_dump(exclude={"label"})


def drawn_of(arguments: argparse.Namespace) -> set[str]:
    """The items that are explained twice by whoever estimates by random draws."""
    items = explained_items(arguments.predictions).to_pylist()
    return explained_again.explained_twice(items, arguments.settings["seed"])


def made_of(arguments: argparse.Namespace, common: dict[str, str], names: list[str]) -> dict[str, np.ndarray]:
    """Of all that each row depends on: ``common``, all that explainers are told of its text, and whether it is
    explained twice.
    """
    drawn, rounding = drawn_of(arguments), rounding_of(arguments)
    estimating = explained_again.estimating(arguments.explainers)
    found: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for texts in read_explained(arguments.predictions, arguments.items, arguments.items_per_group, *TEXT):
        of_texts = list(zip(digests_of(texts), (item in drawn for item in texts["item_id"].to_pylist()), strict=True))
        for name, digests in found.items():
            of_rows = [
                digest_of(common[name], rounding, text, name in estimating and twice) for text, twice in of_texts
            ]
            digests.append(np.array(of_rows, DIGEST))
    return {name: np.concatenate(digests) for name, digests in found.items()}


def planned(arguments: argparse.Namespace, missing: Missing, drawn: set[str]) -> list[float]:
    """Rows that each text is likely to take, in the order in which they are explained."""
    rows = []
    for names, wanted in missing.together():
        entries = {name: arguments.explainers[name] for name in names}
        for texts in read_explained(arguments.predictions, arguments.items, arguments.items_per_group, wanted=wanted):
            rows += planned_rows(entries, sentences_of(texts), drawn).tolist()
    return rows


def explain_missing(arguments: argparse.Namespace, missing: Missing) -> None:
    """Explain what is not there, a group of items at a time."""
    settings, drawn = arguments.settings, drawn_of(arguments)
    rows, done_before = planned(arguments, missing, drawn), missing.of_all() - missing.count()
    progress = Progress(len(rows) + done_before, [0.0] * done_before + rows)
    progress.count_items(done_before, done_before=True)
    evaluator = open_evaluator(arguments, progress.count_rows)
    on_device = f" on {evaluator.classifier.device}" if evaluator else ""
    names = [name for name, of_name in missing.rows.items() if of_name.missing.any()]
    print(f"{settings['family']}: explaining {missing.count():,} items with {', '.join(names)}{on_device}", flush=True)
    progress.start()
    training = training_items(arguments.items, [arguments.explainers[name] for name in names])
    context = Context(evaluator, settings["seed"], training)
    for names, wanted in missing.together():
        entries = {name: arguments.explainers[name] for name in names}
        texts_in_groups = read_explained(
            arguments.predictions, arguments.items, arguments.items_per_group, *TEXT, wanted=wanted
        )
        numbers = np.flatnonzero(wanted)
        for texts in texts_in_groups:
            chosen, numbers = numbers[: len(texts)], numbers[len(texts) :]
            sentences = sentences_of(texts)
            write_part(missing, chosen, *explained_part(arguments, sentences, entries, context, drawn, progress))
            progress.count_items(len(texts))
    print(progress.summary(), flush=True)


def explained_part(
    arguments: argparse.Namespace,
    sentences: list[Sentence],
    entries: dict[str, Explainer],
    context: Context,
    drawn: set[str],
    progress: Progress,
) -> tuple[dict[str, pa.Table], dict[str, dict]]:
    """The rows of some texts by explainer, and what they have cost."""
    evaluator = context.evaluator
    started, rows_before = time.monotonic(), progress.rows
    explanations = explain(entries, sentences, context)
    spent = {"seconds": time.monotonic() - started, "rows_asked": progress.rows - rows_before}
    estimating = explained_again.estimating(entries)
    again = explained_again.agreement_between_draws(estimating, sentences, context, explanations, drawn)
    noticed = list(map(Remark, evaluator.notes)) if evaluator else []
    tables = {
        name: attribution_table(sentences, each.attributions, [*each.remarks, *noticed], again.get(name))
        for name, each in explanations.items()
    }
    about = {"device": device_used(evaluator), "threads": arguments.threads, "together": list(explanations)}
    costs = {
        name: spent | about | {"texts": len(sentences), "rows": sum(one.forward_rows for one in each.attributions)}
        for name, each in explanations.items()
    }
    return tables, costs


def attribution_file_metadata(arguments: argparse.Namespace, name: str, tables: Iterator[pa.Table]) -> dict:
    """What the attribution file of an explainer says of itself, from what its rows say."""
    settings, entry, again = arguments.settings, arguments.explainers[name], []

    def remarks() -> Iterator[list[dict]]:
        for table in tables:
            again.extend(table["explained_again"].drop_null().to_pylist())
            yield from (said or [] for said in table["remarks"].to_pylist())

    note = note_of(remarks())
    for said in filter(None, (note, note_on_chance([again]))):
        print(f"{name}: note: {said}")
    return {
        "explainer": name,
        "family": settings["family"],
        "settings": settings_of(entry),
        "target": read_metadata(arguments.predictions, PREDICTIONS)["settings"]["target"],
        "precision": settings.get("precision", "float32"),
        "seed": settings["seed"],
        "libraries": libraries(arguments),
        "versions": versions_for(arguments.versions, entry.method),
        "note": note,
        "explained_again": again,
    }


def write_cost_of(arguments: argparse.Namespace, name: str, rows: Rows) -> None:
    """Write what the explanations of an explainer have cost; those made elsewhere were only read."""
    [path] = [path for path in arguments.costs if path.stem == name]
    known = {}
    if not arguments.explainers[name].external:
        parts = [part for part in rows.files() if part not in arguments.output]
        costs = [
            read_metadata(part, ATTRIBUTIONS) | read_arrow(part, ATTRIBUTIONS.only(MADE_OF)).to_pydict()
            for part in parts
        ]
        # What was computed now is counted once, whatever an earlier record says of it.
        new = {digest for cost in costs for digest in cost[MADE_OF]}
        kept = [digest for digest in rows.made_of.astype(str) if digest not in new]
        known = {tuple(cost[MADE_OF]): cost for cost in [*cost_of_rows(path, kept), *costs]}
    write_cost(path, list(known.values()))


def main(arguments: argparse.Namespace) -> None:
    """Explain and write one attribution file per explainer, and beside each what it has cost."""
    arguments.explainers = Explainer.parse_all(arguments.settings["explainers"])
    common = digests_of_rows(arguments)
    needing = [name for name, entry in arguments.explainers.items() if entry.needs_other_texts or entry.needs_training]
    texts = digest_of_inputs({}, [arguments.items, arguments.predictions]) if needing else ""
    make_rows(
        arguments.output,
        ATTRIBUTIONS,
        job=arguments.settings["family"],
        size=arguments.items_per_group,
        made_of=partial(made_of, arguments, common | {name: digest_of(common[name], texts) for name in needing}),
        compute=partial(explain_missing, arguments),
        describe=partial(attribution_file_metadata, arguments),
        beside=partial(write_cost_of, arguments),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--predictions", type=Path, required=True, help="table of predictions (Parquet)")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: family, explainers, limits")
    parser.add_argument(
        "--versions", type=settings_argument, default={}, help="JSON: versions of what is used, kept in the files"
    )
    add_model_flags(parser, required=False)
    add_group_flag(parser)
    parser.add_argument(
        "--output", type=Path, required=True, nargs="+", help="one attribution file per explainer, <explainer>.parquet"
    )
    parser.add_argument(
        "--costs", type=Path, required=True, nargs="+", help="what each of them has cost, <explainer>.parquet"
    )
    run(main, parser)
