"""Flags of scripts that ask trained models about test texts."""

import argparse
from pathlib import Path


def named_folder(text: str) -> tuple[str, Path]:
    """Name and folder of a model that is written as ``name=folder``."""
    name, sign, folder = text.partition("=")
    if not (name and sign and folder):
        raise argparse.ArgumentTypeError(f"'{text}' is not a name, = and a folder, as in small_bert=results/…/seed0")
    return name, Path(folder)


def parser_of_models(description: str) -> argparse.ArgumentParser:
    """A parser with ``--models`` and ``--items``; ``description`` is the script's docstring."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=named_folder, nargs="+", required=True, help="name=folder of each model")
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet), of which the test split")
    return parser
