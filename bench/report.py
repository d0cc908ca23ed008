"""What measurements have in common: flags of models and texts, tables, and which machine made the numbers."""

import argparse
import os
import platform
import re
import shlex
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd

# For pages below docs/results/.
WORDS = "The [glossary](../glossary.md) says what words mean."


def markdown(table: pd.DataFrame) -> str:
    """A table as Markdown."""
    lines = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def machine(*libraries: str) -> str:
    """Processor, cores and versions."""
    processor = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).exists():
        known = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", info.read_text(), re.MULTILINE))
        # Virtual machines hide which processor of a maker they have, but for these numbers.
        numbers = " ".join(
            f"{name.removeprefix('cpu ')} {known[name]}" for name in ("cpu family", "model") if name in known
        )
        processor = f"{known.get('model name', processor)}{f' ({numbers})' if numbers else ''}"
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}"


def command() -> str:
    """The command that is running, as it stands on the page that it makes."""
    return shlex.join(["python", *sys.argv])


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
