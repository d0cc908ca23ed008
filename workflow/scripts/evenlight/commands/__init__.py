"""The commands of the package ``evenlight``, a module each; what a command needs is imported when it runs."""

import argparse

from evenlight.core.errors import InputError

# The status where flags or files cannot be used: 1 and 2 say something of verdicts.
UNUSABLE = 3


def refuse_folders(arguments: argparse.Namespace, *flags: str) -> None:
    """Refuse a folder where a flag names a file to be written.

    Raises:
        InputError: a flag names a folder.
    """
    for flag in flags:
        path = getattr(arguments, flag)
        if path and path.is_dir():
            raise InputError(f"--{flag} {path}: is a folder; name a file in it")
