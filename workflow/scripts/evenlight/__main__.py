"""The command ``evenlight``; ``python -m evenlight`` is the same."""

import argparse
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import NoReturn

from evenlight.commands import UNUSABLE, audit, check_verdicts, filing, judge
from evenlight.jobs import command_line


class Parser(argparse.ArgumentParser):
    """Flags that are wrong end with a status of their own."""

    def error(self, message: str) -> NoReturn:
        """Tell it, and end."""
        self.print_usage(sys.stderr)
        self.exit(UNUSABLE, f"error: {message}\n")


def main() -> None:
    """Read which command is meant, and run it."""
    parser = Parser(prog="evenlight", description="Are scores equally good for every group?")
    parser.add_argument("--version", action="version", version=f"evenlight {_version()}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for each in (audit, filing, judge, check_verdicts):
        each.add_parser(commands)
    command_line.run(lambda arguments: arguments.command(arguments), parser)


def _version() -> str:
    try:
        return version("evenlight")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    main()
