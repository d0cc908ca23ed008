"""Say how long each explainer will take on this machine, before any of them starts."""

import argparse
from pathlib import Path

from evenlight.command_line import add_model_flags, run, settings_argument
from evenlight.engine.opening import open_evaluator
from evenlight.engine.pace import seconds_per_row
from evenlight.engine.progress import duration
from evenlight.engine.sentences import Sentence
from evenlight.explainers.explained_again import drawn_items, estimating
from evenlight.explainers.planned import planned_rows
from evenlight.readings import read_explained, sentences_of
from evenlight.tables import replacing

# A pass that is differentiated takes about as many products of matrices backwards as forwards.
BACKWARD = 2
# Texts that are read at a time.
SOME = 4096


def read_sentences(arguments: argparse.Namespace) -> list[Sentence]:
    """The texts that are explained, without their words."""
    texts = read_explained(arguments.readings, arguments.items, SOME)
    return [sentence for some in texts for sentence in sentences_of(some)]


def plan(arguments: argparse.Namespace, sentences: list[Sentence]) -> list[str]:
    """The plan in words, a line for each explainer that asks the model."""
    settings = arguments.settings
    evaluator = open_evaluator(arguments)
    pace = seconds_per_row(sentences, evaluator)
    lengths = [len(sentence.token_id) for sentence in sentences]
    seconds_of_row = [pace(length) for length in lengths]
    again = drawn_items((sentence.item_id for sentence in sentences), settings["seed"])
    lines = []
    for family, methods in settings["explainers"].items():
        for name, method in methods.items():
            tags = settings["tags"][name]
            rows = planned_rows(family, {name: method}, sentences, again, estimating({name: tags}))
            seconds = rows @ seconds_of_row * (BACKWARD if "needs_internals" in tags else 1)
            known = f"about {round(rows.sum()):,} rows, {duration(seconds)}"
            lines.append(f"  {name}: {known if rows.any() else 'code of your own, whose rows nobody knows'}")
    text = f"{len(sentences):,} texts of {min(lengths)} to {max(lengths)} tokens on {evaluator.classifier.device}"
    return [f"{arguments.model.parent.name} explained on {arguments.items.parent.name}, {text}:", *lines]


def main(arguments: argparse.Namespace) -> None:
    """Print and write the plan."""
    text = "\n".join(plan(arguments, read_sentences(arguments))) + "\n"
    print(text, end="", flush=True)
    with replacing(arguments.output) as temporary:
        Path(temporary).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--readings", type=Path, required=True, help="table of readings (Parquet)")
    parser.add_argument(
        "--settings", type=settings_argument, required=True, help="JSON: explainers by family, tags, limits"
    )
    add_model_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="text file")
    run(main, parser)
