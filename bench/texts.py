"""What scripts that ask trained models about test texts share: flags, texts, and the page of several models."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from report import WORDS, command, machine

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.seeds import generator_for
from evenlight.core.tables import read_table, replacing
from evenlight.engine.sentences import Sentence, tokenize
from evenlight.models.classifier import Classifier
from evenlight.texts.items import groups_kept_together


def named_folder(text: str) -> tuple[str, Path]:
    """Name and folder of a model that is written as ``name=folder``."""
    name, sign, folder = text.partition("=")
    if not (name and sign and folder):
        raise argparse.ArgumentTypeError(f"'{text}' is not a name, = and a folder, as in small_bert=results/…/seed0")
    return name, Path(folder)


def parser_of_models(description: str) -> argparse.ArgumentParser:
    """A parser with ``--models``, ``--items`` and ``--output``; ``description`` is the script's docstring."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=named_folder, nargs="+", required=True, help="name=folder of each model")
    add_items_flag(parser)
    parser.add_argument("--output", type=Path, required=True, help="the page (Markdown)")
    return parser


def add_items_flag(parser: argparse.ArgumentParser) -> None:
    """The flag of scripts that read test texts."""
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet), of which the test split")


def test_texts(items: Path) -> pd.DataFrame:
    """The test split of a table of items, with what stays together in its column ``whole``."""
    table = read_table(items, ITEMS)
    texts = table[table["split"] == "test"]
    return texts.assign(kept_together=groups_kept_together(texts, read_table(items.with_name("units.parquet"), UNITS)))


def draw(texts: pd.DataFrame, count: int, purpose: str) -> pd.DataFrame:
    """``count`` of the texts, by a random number that is drawn for this purpose."""
    return texts.iloc[generator_for(0, purpose).permutation(len(texts))[:count]]


def read_by(classifier: Classifier, texts: pd.DataFrame) -> list[Sentence]:
    """The texts as a model reads them, their labels explained."""
    return list(tokenize(classifier, texts, texts["label"], texts["kept_together"]))


def write_page_of_models(
    title: str,
    docstring: str,
    about: str,
    libraries: tuple[str, ...],
    section: Callable[[Path], list[str]],
    arguments: argparse.Namespace,
) -> None:
    """Measure one model after the other, print what was found, and write a page with a section for each.

    Args:
        title: of the page.
        docstring: the script's, whose second paragraph says what is measured.
        about: how often and of what, as a sentence.
        libraries: whose versions are told.
        section: paragraphs and tables of the model in a folder.
        arguments: those of :func:`parser_of_models`.
    """
    method = " ".join(docstring.split("\n\n")[1].split())
    parts = [f"# {title}", method, about, f"Made by `{command()}` on {machine(*libraries)}. {WORDS}"]
    for name, folder in arguments.models:
        found = [f"## {name}", *section(folder)]
        print("\n\n".join(found), flush=True)
        parts += found
    with replacing(arguments.output) as path:
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
