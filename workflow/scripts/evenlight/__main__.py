"""The command ``evenlight``; ``python -m evenlight`` is the same."""

import argparse
from importlib.metadata import PackageNotFoundError, version

from evenlight.commands import check_verdicts, judge
from evenlight.jobs import command_line


def main() -> None:
    """Read which command is meant, and run it."""
    parser = argparse.ArgumentParser(prog="evenlight", description="Are scores equally good for every group?")
    parser.add_argument("--version", action="version", version=f"evenlight {_version()}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    judge.add_parser(commands)
    check_verdicts.add_parser(commands)
    command_line.run(lambda arguments: arguments.command(arguments), parser)


def _version() -> str:
    try:
        return version("evenlight")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    main()
