"""Fetch the released answers in two dialects, or take them from the mirror, and write those of one part as a table."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from evenlight.core import sources
from evenlight.core.tables import replacing
from evenlight.datasets.dialect import dialect_answers
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Check the SHA-256 of each file, and write one row for each answer."""
    mirror = sources.mirror_folder(arguments.mirror)
    with TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in arguments.names]
        for name, path in zip(arguments.names, paths, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            sources.fetch(name, path, mirror)
        answers = dialect_answers(paths)
    print(f"{len(answers):,} answers of {answers['model'].nunique()} models to {answers['unit'].nunique():,} questions")
    with replacing(arguments.output) as path:
        answers.to_parquet(path, index=False, compression="zstd")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", nargs="+", required=True, help="sources by their names in the registry")
    parser.add_argument("--mirror", help=f"folder to look in first; default: environment {sources.MIRROR_VARIABLE}")
    parser.add_argument("--output", type=Path, required=True, help="table of answers (Parquet)")
    command_line.run(main, parser)
