"""Check an archive of a study and put it in its place; it needs nothing but Python.

make unpack ARCHIVE=demo.zip
"""

import argparse
from pathlib import Path

from evenlight.jobs import archive, command_line


def main(arguments: argparse.Namespace) -> None:
    """Unpack, or only check."""
    if arguments.check:
        study = archive.checked_study(arguments.archive)
        print(f"{arguments.archive}: every file of the study '{study}' is what the manifest says")
        return
    study = archive.unpack(arguments.archive, Path())
    print(f"results/{study}/: unpacked, and every file is what the manifest says. To draw a figure of it again:")
    print(f"snakemake --cores 1 --force results/{study}/figures/<any>.svg --configfile results/{study}/study.yaml")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing")
    command_line.run(main, parser)
