"""Build wheel and sdist, check them, and try both in empty environments: ``make release-check``.

What is tried is what a user does first: the version, and verdicts on a table of scores. Files of the repository are
those that git has, so that nothing is tried that is not committed.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.core.errors import InputError
from evenlight.jobs import command_line

ROOT = Path(__file__).parents[1]
SCORES = ROOT / "resources" / "judge" / "scores.csv"
ASKED = ("--unit", "pair", "--group", "gender", "--cell", "model", "metric", "--better", "sufficiency=lower")
# What must not be imported for verdicts.
LIGHT = """
import sys
from evenlight import judge
print([name for name in ("torch", "transformers", "snakemake") if name in sys.modules])
"""
# The tools, in an environment of their own; of the next major version nothing is known.
TOOLS = ("build>=1.2,<2", "twine>=6,<7")


def run(*command: str | Path, **settings: object) -> str:
    """What a command prints; one that fails ends here, with all that it said."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **settings)
    if done.returncode:
        raise InputError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(folder: Path, python: str) -> Path:
    """The interpreter of a new and empty environment."""
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def built(folder: Path, tools: Path) -> list[Path]:
    """The sdist and the wheel of what git has, checked by twine."""
    source = folder / "source"
    source.mkdir()
    with tarfile.open(fileobj=_archive(folder), mode="r") as archive:
        archive.extractall(source, filter="data")
    run(tools, "-m", "build", "--outdir", folder / "dist", source)
    files = sorted((folder / "dist").iterdir())
    run(tools, "-m", "twine", "check", "--strict", *files)
    return files


def _archive(folder: Path):
    path = folder / "source.tar"
    run("git", "-C", ROOT, "archive", "--format", "tar", "--output", path, "HEAD")
    return path.open("rb")


def names_in(file: Path) -> list[str]:
    """The files of a wheel or an sdist."""
    if file.suffix == ".whl":
        return zipfile.ZipFile(file).namelist()
    with tarfile.open(file) as archive:
        return [member.name.partition("/")[2] for member in archive if member.isfile()]


def tried(file: Path, folder: Path, python: str) -> str:
    """What an installed file says of the example: its first line of verdicts."""
    interpreter = environment(folder, python)
    run(interpreter, "-m", "pip", "install", "--quiet", file)
    command = interpreter.with_name("evenlight")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    version = run(command, "--version", cwd=folder, env=clean).strip()
    if version.split()[-1] not in file.name:
        raise InputError(f"{file.name}: says that it is {version}")
    page = folder / f"{file.name}.html"
    judged = run(command, "judge", SCORES, *ASKED, "--page", page, cwd=folder, env=clean)
    if "<table" not in page.read_text(encoding="utf-8"):
        raise InputError(f"{file.name}: the page of verdicts has no table")
    if (heavy := run(interpreter, "-c", LIGHT, cwd=folder, env=clean).strip()) != "[]":
        raise InputError(f"{file.name}: verdicts import {heavy}")
    return next(line for line in judged.splitlines() if line.startswith("Of "))


def main(arguments: argparse.Namespace) -> None:
    """Build, check, try."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        tools = environment(folder / "tools", arguments.python)
        run(tools, "-m", "pip", "install", "--quiet", *TOOLS)
        for number, file in enumerate(built(folder, tools)):
            names = names_in(file)
            if strange := [name for name in names if name.startswith(("resources/", "tests/", "results/"))]:
                raise InputError(f"{file.name}: has {strange[0]}, which is not for a package; see [tool.setuptools]")
            print(f"{file.name}: {len(names)} files, {file.stat().st_size / 2**20:.1f} MiB")
            print(f"  {tried(file, folder / f'user{number}', arguments.python)}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the new environments")
    command_line.run(main, parser)
