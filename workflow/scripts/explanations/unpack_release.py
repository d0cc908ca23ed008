"""Take the tables of released answers from the mirror, or make them of the archive of the authors' repository."""

import argparse
from pathlib import Path

from evenlight.core import sources
from evenlight.datasets.released import RELEASES
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Check what is there, and write each table."""
    mirror = sources.mirror_folder(arguments.mirror)
    sources.fetch_tables(arguments.release, RELEASES[arguments.release].tables, arguments.output, mirror)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", choices=sources.ARCHIVES, required=True, help="whose answers")
    parser.add_argument("--mirror", help=f"folder to look in first; default: environment {sources.MIRROR_VARIABLE}")
    parser.add_argument("--output", type=Path, required=True, help="folder where sources lie, which gets the tables")
    command_line.run(main, parser)
