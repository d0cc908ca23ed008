"""What the project wrote itself, as its readers find it."""

import re
from pathlib import Path

from evenlight.core import files

MARKING = re.compile(r"\{(\w+)/(\w+)\}")  # a word in its male and its female form


def read_yaml(path: str | Path) -> object:
    """What a YAML file of sentences holds; InputError where it is missing or not YAML."""
    return files.read_yaml(path, "restore it from the project's repository, or put each sentence in double quotes")
