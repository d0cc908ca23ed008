"""Fetch one published data file, from a mirror folder or from its address upstream."""

import argparse

from evenlight.core import sources
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write the named source to the output."""
    sources.fetch(arguments.name, arguments.output, sources.mirror_folder(arguments.mirror))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the source's name in the registry, its path in a mirror")
    parser.add_argument("--mirror", help=f"folder to look in first; default: environment {sources.MIRROR_VARIABLE}")
    parser.add_argument("--output", required=True, help="where to write the file")
    command_line.run(main, parser)
