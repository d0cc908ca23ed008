"""What every script under ``workflow/scripts`` shares: how it starts and how it fails."""

import argparse
import json
import sys
from collections.abc import Callable

from evenlight.errors import InputError


def settings_argument(text: str) -> dict:
    """Parse the JSON object that a rule passes as ``--settings``."""
    settings = json.loads(text)
    if not isinstance(settings, dict):
        raise argparse.ArgumentTypeError("the settings must be a JSON object")
    return settings


def run(command: Callable[[argparse.Namespace], None], parser: argparse.ArgumentParser) -> None:
    """Parse the flags and call ``command``; an :class:`InputError` becomes one readable message."""
    arguments = parser.parse_args()
    try:
        command(arguments)
    except InputError as error:
        sys.exit(f"error: {error}")
