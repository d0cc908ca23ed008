"""What pages of measurements have in common: tables, and the command and the machine that made the numbers."""

import os
import platform
import shlex
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd


def markdown(table: pd.DataFrame) -> str:
    """A table as Markdown."""
    lines = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def machine(*libraries: str) -> str:
    """Processor, cores and versions."""
    processor = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).exists():
        models = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        processor = models[0] if models else processor
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}"


def command() -> str:
    """The command that is running, as it stands on the page that it makes."""
    return shlex.join(["python", *sys.argv])
