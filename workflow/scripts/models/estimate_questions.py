"""Say, before the first of them, how many questions a classifier behind an address will be asked."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.tables import read_table, replacing
from evenlight.engine.sentences import ReadingSettings, encoded, left_out, token_counts
from evenlight.explainers import Explainer
from evenlight.explainers.explained_again import explained_twice
from evenlight.jobs.command_line import add_service_flags, run, settings_argument
from evenlight.metrics import Metric
from evenlight.metrics.questions import Step, questions_of, with_foils
from evenlight.models.service import ServedClassifier, load_service
from evenlight.models.services.asking import kept_answers
from evenlight.texts.words import TEXT

# Texts about which the stand-in is asked: from the shortest to the longest, evenly.
SAMPLE = 16


def chosen(explained: pd.DataFrame, tokens: np.ndarray) -> pd.DataFrame:
    """Some texts of all lengths; ``tokens`` of each, (texts,)."""
    order = np.argsort(tokens, kind="stable")
    place = np.unique(((np.arange(SAMPLE) + 0.5) * len(order) / SAMPLE).astype(int))
    return explained.iloc[order[place]]


def lines(steps: list[Step], counts: list[tuple[int, int]], known: set[str], name: str, address: str) -> list[str]:
    """The estimate in words; ``counts`` are of the texts that each step is about, and of those explained twice."""
    said, asked, paid = [], 0.0, 0.0
    for step, (once, twice) in zip(steps, counts, strict=True):
        of_step = once * len(step.texts) + twice * len(step.again)
        new = once * len(set(step.texts) - known) + twice * len(set(step.again) - known)
        said.append(f"  {round(of_step):>12,}  {step.name}")
        asked, paid = asked + of_step, paid + new
    return [
        f"{name}: about {round(asked):,} questions to {address}, of which about {round(asked - paid):,} are answered",
        *said,
    ]


def estimate(arguments: argparse.Namespace, classifier: ServedClassifier) -> list[str]:
    """The lines of the estimate."""
    settings = arguments.settings
    items = read_table(arguments.items, ITEMS.only("item_id", *TEXT, "label", "split", "part"))
    test = items[items["split"] == "test"].reset_index(drop=True)
    tokens = token_counts(classifier, test)
    units = read_table(arguments.units, UNITS)
    reason, _ = left_out(test, units, tokens, ReadingSettings.model_validate(settings["reading"]))
    is_explained = np.equal(reason, None)
    explained = test[is_explained]
    sample = chosen(explained, tokens[is_explained])
    sentences = with_foils(encoded(classifier, sample, sample["label"]), classifier.classes)
    explainers = {family: Explainer.parse_all(methods) for family, methods in settings["explainers"].items()}
    metrics = list(map(Metric.parse_all, settings["metrics"].values()))
    steps = questions_of(sentences, explainers, metrics, settings["silent"], settings["seed"], classifier)
    families = [None, *settings["explainers"], *settings["metrics"]]
    counts = []
    drawn = explained_twice(explained["item_id"], settings["seed"])
    for family in families:
        texts = len(explained) if family else (tokens <= classifier.max_tokens).sum()
        counts.append((texts / len(sentences), len(drawn) / len(sentences)))
    every = [text for step in steps for text in (*step.texts, *step.again)]
    known = set(kept_answers(classifier.service, arguments.answers).known(every))
    name = f"{arguments.model.parent.name} on {arguments.items.parent.name}"
    return lines(steps, counts, known, name, classifier.service.address)


def main(arguments: argparse.Namespace) -> None:
    """Print and write the estimate."""
    classifier = load_service(arguments.model, arguments.settings["reading"]["max_tokens"])
    text = "\n".join(estimate(arguments, classifier)) + "\n"
    print(text, end="", flush=True)
    with replacing(arguments.output) as temporary:
        Path(temporary).write_text(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--units", type=Path, required=True, help="table of units (Parquet)")
    parser.add_argument("--model", type=Path, required=True, help="folder that describe_service.py wrote")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: reading, explainers, metrics")
    add_service_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="text file")
    run(main, parser)
