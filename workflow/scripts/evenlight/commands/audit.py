"""``evenlight audit``: from a model and a table of texts to the file of a study, and to its page."""

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import yaml

from evenlight.core.errors import InputError
from evenlight.core.tables import replacing

DESCRIPTION = """\
Ask whether a classifier is explained equally well for everybody: look at a table of texts and at the model's files,
write the file of a study, say what was guessed, and run it. See docs/audit.md.
"""
SNAKEFILE = "Snakefile"


def add_parser(commands) -> None:
    """Add the command to those of the package."""
    parser = commands.add_parser("audit", help="audit a classifier on a table of texts", description=DESCRIPTION)
    parser.add_argument("--model", required=True, help="folder of a classifier, or its id on the hub")
    parser.add_argument("--revision", help="commit, tag or branch of a model on the hub")
    parser.add_argument("--texts", required=True, metavar="FILE", help="the table: .csv or .parquet")
    for name, what in (
        ("text", "the texts"),
        ("label", "the class of each text"),
        ("pair", "what the variants of a text have in common"),
        ("item", "an identifier of each text; default: the number of the row"),
    ):
        parser.add_argument(f"--{name}", metavar="COLUMN", help=f"column with {what}")
    parser.add_argument("--groups", nargs="+", default=[], metavar="COLUMN", help="columns with groups, such as gender")
    parser.add_argument(
        "--compare", nargs=2, action="append", default=[], metavar="GROUP", help="two groups; default: each with each"
    )
    parser.add_argument(
        "--classes", nargs="+", metavar="CLASS=LABEL", help="the model's label of each class; CLASS= is none of them"
    )
    parser.add_argument("--baseline", metavar="JSON", help="audit.json of an earlier audit, to say what has changed")
    parser.add_argument("--study", metavar="NAME", help="name of the study; default: audit_ and the name of the table")
    parser.add_argument("--output", type=Path, metavar="YAML", help="the study's file; default: its name and .yaml")
    parser.add_argument("--write-only", action="store_true", help="stop after the file, so that you can edit it")
    parser.add_argument("--cores", default="all", help="processor cores; default: all")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> None:
    """Propose, write, say, and run; the status is that of Snakemake."""
    try:
        from evenlight.commands.proposal import Asked, proposed
    except ModuleNotFoundError as missing:
        raise InputError(
            f"{missing.name} is not installed: an audit runs the workflow. In its folder, `make .venv/ready` installs "
            "what it needs, and `source .venv/bin/activate` has the command"
        ) from None

    if not arguments.write_only:
        _refuse_elsewhere()
    names = ("texts", "model", "revision", "text", "label", "groups", "pair", "item", "compare", "study", "baseline")
    given = {name: getattr(arguments, name) for name in names}
    proposal = proposed(Asked(**given, classes=_classes(arguments.classes)))
    name = proposal.study["study"]
    output = arguments.output or Path(f"{name}.yaml")
    _refuse_what_is_there(output, Path("results", name))
    print(*proposal.said, *proposal.notes, sep="\n")
    _write(output, proposal.study, proposal.said)
    run = ["snakemake", "--cores", arguments.cores, "audit", "--configfile", str(output)]
    again = "" if arguments.write_only else " again"
    print(f"Written: {output}. To run it{again}, in the folder of the workflow: {' '.join(run)}", flush=True)
    if not arguments.write_only:
        sys.exit(start(run))


def start(run: list[str]) -> int:
    """Run Snakemake to its end; gives its status."""
    # Jobs start the python that is first on the path.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return subprocess.run([sys.executable, "-m", *run], env=os.environ | {"PATH": path}).returncode


def _classes(given: list[str] | None) -> dict[str, str | None] | None:
    if given is None:
        return None
    parts = [part.partition("=") for part in given]
    if wrong := next((name for name, sign, _ in parts if not sign), None):
        raise InputError(f"--classes {wrong}: write CLASS=LABEL for each class")
    return {name: label or None for name, _, label in parts}


def _refuse_elsewhere() -> None:
    """Refuse to run where no workflow is, before anything is written."""
    clone = Path(__file__).parents[4]
    if not Path(SNAKEFILE).is_file():
        where = f"cd {clone}" if (clone / SNAKEFILE).is_file() else "cd to a clone of Evenlight's repository"
        raise InputError(f"{Path.cwd()}: no {SNAKEFILE} here, which runs an audit; {where}, or give --write-only")
    if importlib.util.find_spec("snakemake") is None:
        raise InputError(
            "snakemake: is not installed in this environment, and runs an audit; make .venv/ready in the clone, and "
            "activate .venv, or give --write-only"
        )


def _refuse_what_is_there(output: Path, results: Path) -> None:
    if output.exists():
        raise InputError(f"{output}: is there already, and nothing is overwritten; give another --output or --study")
    if results.exists():
        raise InputError(f"{results}: a study of this name has results already; give another --study")


def _write(output: Path, study: dict, said: list[str]) -> None:
    comments = "".join(f"# {' '.join(line.split())}\n" for line in ["Proposed by evenlight audit.", *said])
    text = yaml.safe_dump(study, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    with replacing(output) as path:
        path.write_text(comments + text, encoding="utf-8")
