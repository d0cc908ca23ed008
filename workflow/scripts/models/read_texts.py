"""Write down how a trained model reads the test texts: their tokens, what is explained, and the model's answers."""

import argparse
from collections.abc import Callable, Iterator
from itertools import chain, compress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_arrow, read_groups, read_metadata, read_table, regrouped, write_groups
from evenlight.engine import open_evaluator
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import ReadingSettings, encoded, left_out, require_reads, token_counts
from evenlight.explainers.hiding import empty_texts
from evenlight.jobs.command_line import add_compared_flag, add_model_flags, run, settings_argument
from evenlight.models.classifier import Classifier
from evenlight.models.readable import WithoutAnswer
from evenlight.texts.items import check_explained
from evenlight.texts.predictions import RUNNER_UP, TOO_LONG, foils, predictions_table, token_table
from evenlight.texts.words import TEXT

# So many texts at once, since those of a large dataset need not fit into memory: the model is asked about more than the
# tokenizer, which needs more memory for each.
ASKED_AT_ONCE = 2**13
TOKENISED_AT_ONCE = 2**8
ROWS_PER_GROUP = 2**10
# So many texts say what the model makes of a text without words, where its length may still count.
EMPTY_TEXTS = 32


def texts_in_groups(path: Path, is_read: np.ndarray, size: int) -> Iterator[pd.DataFrame]:
    """The texts, ``size`` at a time; ``is_read``, bool (items,), says which."""
    columns = ITEMS.only("item_id", *TEXT, "label", "part")
    return (group.to_pandas() for group in read_groups(path, columns, size, is_read))


def tokens_of(
    items: pd.DataFrame, classifier: Classifier, overlap: int | None
) -> tuple[pa.Table, list[np.ndarray], np.ndarray]:
    """The tokens of some texts, what the model is asked about each, and how many words of each have no token."""
    tables, rows, lacking = [], [], []
    for start in range(0, len(items), TOKENISED_AT_ONCE):
        part = items.iloc[start : start + TOKENISED_AT_ONCE]
        sentences = encoded(classifier, part, part["label"], overlap)
        tables.append(token_table(sentences))
        rows += [sentence.row for sentence in sentences]
        lacking += [sentence.words_without_token for sentence in sentences]
    return pa.concat_tables(tables), rows, np.array(lacking)


def foils_by(path: Path, foil: str | None) -> Callable[[np.ndarray, np.ndarray], np.ndarray | None]:
    """What gives the foils of texts by probabilities (texts, classes) and targets (texts,).

    Args:
        path: of the items, whose metadata names the classes.
        foil: a class by its name, ``runner_up``, or None where nothing is contrasted.

    Raises:
        InputError: there is no such class.
    """
    if foil is None:
        return lambda probability, target: None
    classes = read_metadata(path, ITEMS)["classes"]
    if foil not in (RUNNER_UP, *classes):
        raise InputError(
            f"explain.foil is '{foil}', which is no class of this dataset; its classes are {', '.join(classes)}: name "
            f"one of them or '{RUNNER_UP}', or give the dataset a foil of its own by explain.foil_on"
        )
    named = None if foil == RUNNER_UP else classes.index(foil)
    return lambda probability, target: foils(probability, target, named)


def predictions(
    path: Path, is_read: np.ndarray, reason: np.ndarray, evaluator: Evaluator, reading: ReadingSettings
) -> Iterator[pa.Table]:
    """The rows of the table, some at a time."""
    start = correct = asked = words = texts = 0
    foil_of = foils_by(path, reading.foil)
    for items in texts_in_groups(path, is_read, ASKED_AT_ONCE):
        of_group = reason[start : start + len(items)]
        start += len(items)
        tokens, rows, of_texts = tokens_of(items, evaluator.classifier, reading.overlap)
        words += of_texts.sum()
        texts += np.count_nonzero(of_texts)
        fits = of_group != TOO_LONG
        probability = np.full((len(items), evaluator.classifier.classes), np.nan)
        try:
            probability[fits] = evaluator.probabilities(list(compress(rows, fits)))
        except WithoutAnswer as error:
            raise error.about(items["item_id"][fits].iloc[error.row]) from None
        label, predicted = items["label"].to_numpy(), probability.argmax(axis=1)
        correct += (label == predicted)[fits].sum()
        asked += fits.sum()
        explained = predicted if reading.target == "prediction" else label
        foil = foil_of(probability, explained)
        yield from regrouped(
            [predictions_table(tokens, "test", explained, of_group, probability, foil)], ROWS_PER_GROUP
        )
    print(f"test accuracy {correct / asked:.4f} on {asked} items")
    if words:
        print(
            f"{words:,} words of {texts:,} texts have no token of their own: the tokenizer "
            "drops them, or joins them to the word before, which has their score"
        )


def texts_to_read(
    arguments: argparse.Namespace, classifier: Classifier, reading: ReadingSettings
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Which items are read, bool (items,), why each of them is not explained, and notes."""
    items = read_arrow(arguments.items, ITEMS.only("item_id", "label", "split"))
    is_read = np.asarray(pc.equal(items["split"], "test"))
    tokens = []
    for group in texts_in_groups(arguments.items, is_read, TOKENISED_AT_ONCE):
        if not tokens:
            require_reads(classifier, group)
        tokens.append(token_counts(classifier, group))
    test = items.filter(pa.array(is_read)).drop_columns("split").to_pandas()
    units = read_table(arguments.units, UNITS)
    reason, notes = left_out(test, units, np.concatenate(tokens), reading)
    if arguments.compared:
        check_explained(arguments.items.parent.name, test, reason, units, arguments.compared)
    return is_read, reason, notes


def without_words(
    items: Path, is_read: np.ndarray, evaluator: Evaluator, overlap: int | None
) -> dict[str, list[float]]:
    """The probabilities of texts of which every word is hidden; none of a service, which may refuse such texts."""
    if not isinstance(evaluator, Evaluator):
        return {}
    classifier = evaluator.classifier
    some = next(texts_in_groups(items, is_read, EMPTY_TEXTS))
    sentences = encoded(classifier, some, some["label"], overlap)
    return empty_texts([text for text in sentences if len(text.token_id) <= classifier.max_tokens], evaluator)


def main(arguments: argparse.Namespace) -> None:
    """Read and write."""
    reading = ReadingSettings.model_validate(arguments.settings)
    evaluator = open_evaluator(arguments)
    is_read, reason, notes = texts_to_read(arguments, evaluator.classifier, reading)
    rows = predictions(arguments.items, is_read, reason, evaluator, reading)
    # What is to be said of the answers shows when the first are there.
    rows = chain([next(rows)], rows)
    metadata = {"settings": arguments.settings, "notes": [*notes, *evaluator.notes]}
    metadata["without_words"] = without_words(arguments.items, is_read, evaluator, reading.overlap)
    write_groups(rows, arguments.output, PREDICTIONS, metadata)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--units", type=Path, required=True, help="table of units (Parquet)")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: limits, target, pairs")
    add_model_flags(parser)
    add_compared_flag(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of predictions (Parquet)")
    run(main, parser)
