"""Attribute every class to the words of the texts that change, and of some training texts, by one explainer."""

import argparse
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from evenlight.concepts.attributed import texts_to_attribute
from evenlight.core.contracts.explanations import CHANGES, WORD_ATTRIBUTIONS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_table, write_table
from evenlight.engine import open_evaluator
from evenlight.engine.progress import Progress
from evenlight.engine.sentences import tokenize
from evenlight.explainers import Context, Explainer, explain, training_items
from evenlight.explainers.attribution import note_of, remarks_on_items
from evenlight.explainers.planned import planned_of_classes
from evenlight.jobs.command_line import add_group_flag, add_model_flags, run, settings_argument


def main(arguments: argparse.Namespace) -> None:
    """Write the scores of the words of each text, a row for each class; the metadata has the explainer's remarks."""
    settings = arguments.settings
    items = read_table(arguments.items, ITEMS)
    items = texts_to_attribute(
        items, read_table(arguments.changes, CHANGES), settings["concepts"], settings["texts"]
    ).reset_index(drop=True)
    progress = Progress(len(items))
    evaluator = open_evaluator(arguments, progress.count_rows)
    classifier = evaluator.classifier
    entry = Explainer.parse(settings["explainer"])
    context = Context(evaluator, settings["seed"], training_items(arguments.items, [entry]))
    print(
        f"{entry.method}: explaining {classifier.classes} classes of {len(items):,} texts",
        flush=True,
    )
    sentences = tokenize(classifier, items, [0] * len(items))
    progress.planned = planned_of_classes(entry, sentences, classifier.classes).tolist()
    progress.start()
    rows, remarks = [], []
    for start in range(0, len(items), arguments.items_per_group):
        read = sentences[start : start + arguments.items_per_group]
        # Of one text all classes, since many explainers ask the same about each.
        of_classes = [replace(text, target=target) for text in read for target in range(classifier.classes)]
        explained = explain({"summed": entry}, of_classes, context)["summed"]
        remarks += remarks_on_items(explained.remarks, len(of_classes))
        rows += [
            {
                "item_id": sentence.item_id,
                "class": sentence.target,
                "word_score": sentence.word_sums(attribution.token_score),
            }
            for sentence, attribution in zip(of_classes, explained.attributions, strict=True)
        ]
        progress.count_items(len(read))
    print(progress.summary(), flush=True)
    table = pa.Table.from_pylist(rows, schema=WORD_ATTRIBUTIONS.schema)
    write_table(table, arguments.output, WORD_ATTRIBUTIONS, {"settings": settings, "note": note_of(remarks)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--changes", type=Path, required=True, help="table of changes (Parquet)")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: explainer, texts, limits")
    add_model_flags(parser)
    add_group_flag(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of attributions (Parquet)")
    run(main, parser)
