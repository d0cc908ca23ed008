"""What the project wrote itself, as its readers find it."""

import re
from pathlib import Path

import yaml

from evenlight.core.errors import InputError

MARKING = re.compile(r"\{(\w+)/(\w+)\}")  # a word in its male and its female form


def read_yaml(path: str | Path) -> object:
    """What a YAML file of sentences holds; InputError where it is missing or not YAML."""
    try:
        return yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; restore it from the project's repository") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: not YAML in UTF-8 ({error}); put each sentence in double quotes") from None
