"""Fetch answers that were released, or take them from the mirror, and write those of one part as a table."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from evenlight.core import sources
from evenlight.core.tables import replacing
from evenlight.datasets.released import RELEASES
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Check the SHA-256 of each file, and write one row for each answer."""
    mirror, release = sources.mirror_folder(arguments.mirror), RELEASES[arguments.release]
    with TemporaryDirectory() as folder:
        for name in release.parts[arguments.part]:
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            sources.fetch(name, path, mirror)
        answers = release.read(arguments.tables or Path(folder), arguments.part, arguments.resources)
    print(f"{len(answers):,} answers of {answers['model'].nunique()} models to {answers['unit'].nunique():,} questions")
    with replacing(arguments.output) as path:
        answers.to_parquet(path, index=False, compression="zstd")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", choices=RELEASES, required=True, help="whose answers")
    parser.add_argument("--part", required=True, help="which of them")
    parser.add_argument("--tables", type=Path, help="folder of the tables that were made of an archive, if any")
    parser.add_argument("--resources", type=Path, help="the file of this repository that the release needs, if any")
    parser.add_argument("--mirror", help=f"folder to look in first; default: environment {sources.MIRROR_VARIABLE}")
    parser.add_argument("--output", type=Path, required=True, help="table of answers (Parquet)")
    command_line.run(main, parser)
