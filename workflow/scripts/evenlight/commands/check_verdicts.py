"""``evenlight check-verdicts``: a gate for continuous integration, by verdicts and a policy."""

import argparse
import sys
from pathlib import Path

from evenlight.commands import UNUSABLE, refuse_folders
from evenlight.core.errors import InputError, unwritable

DESCRIPTION = """\
Hold verdicts against a policy. The status is 0 where all that must be decided is, and no disparity matters; 1 where one
does; 2 where something is open that must be decided; 3 where the input cannot be used. See docs/judge.md.
"""


def add_parser(commands) -> None:
    """Add the command to those of the package."""
    parser = commands.add_parser("check-verdicts", help="hold verdicts against a policy", description=DESCRIPTION)
    parser.add_argument("verdicts", type=Path, metavar="FILE", help="effects.parquet, a CSV of verdicts, or audit.json")
    parser.add_argument("--policy", type=Path, metavar="YAML", help="what is asked of verdicts")
    parser.add_argument(
        "--bound",
        type=float,
        help="largest surplus of wins that does not matter; default: verdicts as they are",
    )
    parser.add_argument(
        "--except", nargs="+", dest="excepted", metavar="NAMES", help="comparisons to leave out, such as bert/gini"
    )
    parser.add_argument(
        "--decide", nargs="*", metavar="NAMES", help="comparisons that must not stay open; default: all"
    )
    parser.add_argument("--junit", type=Path, metavar="XML", help="write a report that forges show")
    parser.add_argument("--summary", type=Path, metavar="MARKDOWN", help="add a summary to this file")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> None:
    """Print what did not pass, write the reports, and exit with the status."""
    try:
        status = _checked(arguments)
    except (InputError, OSError) as error:
        problems = error.problems if isinstance(error, InputError) else [unwritable(error) or str(error)]
        print(*(f"error: {problem}" for problem in problems), sep="\n", file=sys.stderr)
        status = UNUSABLE
    sys.exit(status)


def _checked(arguments: argparse.Namespace) -> int:
    from evenlight.core.tables import replacing
    from evenlight.judging import gate

    refuse_folders(arguments, "junit", "summary")
    given = {name: getattr(arguments, name) for name in ("bound", "excepted", "decide")}
    policy = gate.read_policy(arguments.policy, **given)
    assessed = gate.assess(gate.read_verdicts(arguments.verdicts), policy)
    for row in assessed[assessed["outcome"] != gate.PASSED].to_dict("records"):
        print(f"{row['outcome']}: {gate.name_of(row)}: {row['why']}")
    print(f"{gate.counted(assessed)}.")
    if arguments.junit:
        with replacing(arguments.junit) as path:
            path.write_text(gate.junit(assessed), encoding="utf-8")
    if arguments.summary:
        # A forge's summary has what other steps say, too.
        arguments.summary.parent.mkdir(parents=True, exist_ok=True)
        with arguments.summary.open("a", encoding="utf-8") as file:
            file.write(gate.markdown(assessed))
    return gate.status_of(assessed)
