"""Estimate what changes of concepts do to a model, by one explainer, from what is kept of its answers."""

import argparse
from dataclasses import replace
from pathlib import Path

import pandas as pd

from evenlight.concepts.attributed import read_attributed
from evenlight.concepts.files import read_question
from evenlight.core.contracts.explanations import CHANGE_EFFECTS
from evenlight.core.tables import write_table
from evenlight.explainers import Explainer
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write an effect for every change of the test split."""
    settings, entry = arguments.settings, Explainer.parse(arguments.settings["explainer"])
    labels = arguments.labels if getattr(entry, "text_levels", "people") == "predicted" else None
    concepts = settings["concepts"]
    question, changes = read_question(
        arguments.items,
        arguments.changes,
        arguments.representations,
        labels,
        concepts,
        settings["seed"],
        dict(zip(concepts, arguments.counterfactuals, strict=False)),
    )
    notes: list[str] = []
    if arguments.attributions:
        attributed, notes = read_attributed(
            arguments.attributions,
            arguments.items,
            question,
            concepts,
            lexicon=arguments.lexicon,
            reach=entry.reach,
            texts=entry.texts,
        )
        question = replace(question, attributed=attributed)
    effects = entry.estimate(question)
    table = pd.DataFrame({"change_id": changes["change_id"].to_numpy(), "effect": list(effects)})
    write_table(table, arguments.output, CHANGE_EFFECTS, {"settings": settings, "notes": notes})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    for name in ("items", "changes", "representations", "labels"):
        parser.add_argument(f"--{name}", type=Path, required=True, help=f"table of {name} (Parquet)")
    parser.add_argument(
        "--attributions", type=Path, help="table of attributions to words, for explainers that sum them up"
    )
    parser.add_argument("--lexicon", type=Path, help="the words of each concept (YAML); without it they are learned")
    parser.add_argument(
        "--counterfactuals", type=Path, nargs="*", default=[], help="of networks that have forgotten each concept"
    )
    parser.add_argument("--output", required=True, help="table of effects (Parquet)")
    command_line.run(main, parser)
