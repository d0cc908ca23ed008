"""``evenlight judge``: verdicts for a table of scores, on the command line."""

import argparse
from dataclasses import replace
from pathlib import Path

from evenlight.commands import refuse_folders
from evenlight.core.errors import InputError

DESCRIPTION = "Say of which group the scores of a table are better more often, in every cell of it. See docs/judge.md."


def add_parser(commands) -> None:
    """Add the command to those of the package."""
    parser = commands.add_parser("judge", help="verdicts for a table of scores", description=DESCRIPTION)
    parser.add_argument(
        "scores",
        nargs="+",
        metavar="FILE",
        help="a CSV or Parquet file with a row for each score, or logs of inspect_ai or lm-evaluation-harness",
    )
    for name, what in (
        ("unit", "what is compared, such as a pair of texts"),
        ("group", "the groups"),
        ("cluster", "what is independent, where that is more than a unit"),
        ("stratum", "within whose values units are compared"),
        ("repeat", "repetitions, such as seeds"),
    ):
        parser.add_argument(f"--{name}", metavar="COLUMN", help=f"column of {what}")
    parser.add_argument("--score", nargs="+", metavar="COLUMN", help="columns with scores; of several each is a metric")
    parser.add_argument("--cell", nargs="*", metavar="COLUMN", help="columns of what is compared by itself")
    parser.add_argument(
        "--compare", nargs=2, action="append", metavar="GROUP", help="two groups; default: each with each"
    )
    parser.add_argument(
        "--margin",
        nargs="+",
        metavar="METRIC=NUMBER",
        help="differences that are ties; a number alone is for all",
    )
    parser.add_argument(
        "--better", nargs="+", metavar="METRIC=WAY", help="higher or lower scores are better; a word alone is for all"
    )
    parser.add_argument(
        "--primary", nargs="+", metavar="COLUMN=NAME", help="comparisons that matter, such as metric=gini"
    )
    parser.add_argument("--planned", nargs="+", type=int, metavar="UNITS", help="units of each interim analysis")
    parser.add_argument("--spending", choices=("obrien_fleming", "pocock"), help="what an interim analysis spends")
    parser.add_argument("--alpha", type=float, help="level of all verdicts together; default: 0.05")
    parser.add_argument("--as-often-bound", type=float, help="largest surplus of wins that is as often; default: 0.2")
    parser.add_argument("--adjustment", choices=("holm", "flips"), help="for the number of comparisons")
    parser.add_argument("--confidence", type=float, help="of intervals; default: 0.95")
    parser.add_argument("--draws", type=int, help="resamples behind intervals; default: 2000")
    parser.add_argument(
        "--permutations", type=int, help="negative control: verdicts made again with permuted labels; default: 0"
    )
    parser.add_argument("--page", type=Path, metavar="HTML", help="write the page of verdicts there")
    parser.add_argument("--plot", type=Path, metavar="PATH", help="write the picture there: .png, .svg or .pdf")
    parser.add_argument("--csv", type=Path, metavar="CSV", help="write the table of verdicts there")
    parser.set_defaults(command=command)


# In the place of a name that no column gives.
ALL = "all"
# What is printed of verdicts that name a group, and of how many.
SHOWN = ["dataset", "model", "explainer", "metric", "verdict", "wins", "losses", "ties", "share", "p_adjusted"]
MOST = 20
# Flags that are arguments of judge as they stand.
NAMED = ("unit", "group", "score", "cell", "cluster", "stratum", "repeat", "compare", "planned", "spending", "alpha")
NAMED += ("as_often_bound", "adjustment", "confidence", "draws", "permutations")


def command(arguments: argparse.Namespace) -> None:
    """Judge the table, print the summary and the verdicts that name a group, and write what is asked for."""
    from evenlight.core.tables import write_csv
    from evenlight.judging import judge
    from evenlight.judging.arguments import named_as, renamed

    refuse_folders(arguments, "csv", "page", "plot")
    if arguments.plot and arguments.plot.suffix not in (".svg", ".pdf", ".png"):
        raise InputError(
            f"--plot {arguments.plot}: figures are written as .svg, .pdf or .png; change the file's suffix"
        )
    # Of one file it may be a table.
    scores = arguments.scores if len(arguments.scores) > 1 else arguments.scores[0]
    given = {name: getattr(arguments, name) for name in NAMED}
    given |= {"margin": _by_metric("margin", arguments.margin, _number)}
    given |= {"better": _by_metric("better", arguments.better, str)}
    given |= {"primary": _primary(arguments.primary)}
    flags = {name: f"--{name.replace('_', '-')}" for name in given}
    with named_as(flags):
        found = judge(scores, **{name: value for name, value in given.items() if value is not None})
    replace(found, notes=[renamed(note, flags) for note in found.notes]).summary()
    _print_named(found.verdicts)
    for path, write in (
        (arguments.csv, lambda path: write_csv(found.verdicts, path)),
        (arguments.page, found.page),
        (arguments.plot, found.plot),
    ):
        if path:
            write(path)
            print(f"Written: {path}")


def _print_named(verdicts) -> None:
    """Print the verdicts that name a group, the surest first."""
    named = verdicts[verdicts["side"] != 0].sort_values("p_adjusted", kind="stable")
    columns = [name for name in SHOWN if (verdicts[name] != ALL).any()]
    if len(named):
        print(named[columns].head(MOST).to_string(index=False, na_rep="", float_format="{:.3g}".format))
        print(f"… and {len(named) - MOST:,} more\n" * (len(named) > MOST), end="")


def _by_metric(flag: str, given: list[str] | None, read) -> object:
    """What a flag says of metrics: a value for all, or a mapping; None where it is not given."""
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return read(given[0])
    found = {}
    for part in given:
        metric, sign, value = part.rpartition("=")
        if not sign:
            raise InputError(f"--{flag} {part}: write metric=value for each metric, or one value for all")
        found[metric] = read(value)
    return found


def _primary(given: list[str] | None) -> dict[str, list[str]] | None:
    """The names that a flag gives for columns of a cell; None where it is not given."""
    found: dict[str, list[str]] = {}
    for part in given or ():
        column, sign, name = part.partition("=")
        if not sign:
            raise InputError(f"--primary {part}: write column=name, such as metric=gini")
        found.setdefault(column, []).append(name)
    return found or None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--margin {text}: give a number, such as 0.02") from None
