"""Ask with more and more texts until the questions of a study are decided, by its plan of looks.

    python workflow/tools/decide.py config/my_study.yaml --hours 2 --cores all

The study has ``statistics.looks``. From look to look it is run as ``snakemake`` runs it, with ``explain.pairs`` of the
look. It ends when no primary question is undecided (all are primary where none are named), when the plan ends, or when
the next look would not begin within the hours. Started again it goes on where it ended.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from evenlight import configuration
from evenlight.core import tables
from evenlight.core.contracts.explanations import COSTS
from evenlight.core.contracts.results import EFFECTS, LOOKS
from evenlight.core.errors import InputError
from evenlight.jobs import command_line, own_files
from evenlight.statistics.cells import CELL
from evenlight.statistics.families import PRIMARY, STUDY
from evenlight.statistics.planning import is_open, texts_needed

# Open questions that are told one by one.
TOLD = 12
# The configuration of the look that was begun last: behind the study's file it makes any command one of this look.
OVERLAY = "look.yaml"


def read_plan(path: Path) -> dict:
    """The completed configuration of a study that has a plan.

    Raises:
        InputError: it has none.
    """
    written = configuration.written(path)
    own_files.locate(written, [path.parent, Path()])
    statistics, explain = written.get("statistics") or {}, written.get("explain") or {}
    looks = statistics.get("looks") if isinstance(statistics, dict) else None
    if isinstance(looks, list) and looks and isinstance(explain, dict):
        # Those of the file are of one look, which need not be the first.
        written = written | {"explain": explain | {"pairs": looks[0]}}
    config = configuration.complete(written)
    if not config["statistics"]["looks"]:
        raise InputError(f"{path}: statistics.looks: is missing; write a plan, such as [50, 100, 200] (docs/looks.md)")
    return config


def made(results: Path, plan: str) -> int:
    """How many pairs the last look of this plan had; 0 before the first."""
    path = results / "tables" / "looks.parquet"
    if not path.is_file():
        return 0
    record = tables.read_table(path, LOOKS)
    return int(record.loc[record["plan"] == plan, "units"].max()) if plan in set(record["plan"]) else 0


def begun(results: Path, plan: str, looks: Sequence[int]) -> int:
    """How many pairs the look has that was begun last, be it ended or not; 0 before the first.

    It is the last one that was made or the one after it. Any other is of a plan whose numbers have changed.

    Raises:
        InputError: what says so was edited, and is no configuration of a look.
    """
    path, before = results / OVERLAY, made(results, plan)
    following = next((pairs for pairs in looks if pairs > before), before)
    if not path.is_file():
        return before
    try:
        sections = {"explain": {}, "statistics": {}} | configuration.written(path)
        known = configuration.completed_sections({name: sections[name] for name in ("explain", "statistics")})
    except InputError as error:
        said = f"{path}: {str(error).removeprefix(f'{path}: ')}"
        raise InputError(f"{said}; delete this file, and the last look is made again before the next one") from None
    of_plan = sections["statistics"].get("plan") == plan
    return following if of_plan and known["explain"]["pairs"] == following else before


def seconds_of(results: Path) -> float | None:
    """What the explanations that are there have taken; None where nothing is known."""
    paths = sorted((results / "costs").rglob("*.parquet"))
    known: dict[tuple, float] = {}
    for path in paths:
        for part in tables.read_table(path, COSTS).itertuples():
            # The time of all that were computed together, which each of their files has.
            known[path.parent, *part.together, part.texts, part.seconds] = part.seconds
    return sum(known.values()) if paths else None


def said_before(results: Path, before: int, pairs: int) -> str:
    """What the explanations of a look will take, from what those before it took."""
    if pairs <= before:
        return "what is missing of it"
    seconds = seconds_of(results) if before else None
    if seconds is None:
        return "how long it takes is not known before the first look"
    minutes = seconds * (pairs - before) / before / 60
    return f"about {minutes:.1f} minutes to explain {pairs - before} more pairs on one core, then scores and statistics"


def open_questions(effects: pd.DataFrame) -> pd.Series:
    """Which primary questions more texts could decide, bool; all are primary where none are named.

    Where every unit is tied the metric, or its margin, decides nothing.
    """
    asked = effects["family"].isin([STUDY, PRIMARY])
    return asked & is_open(effects) & ~(effects["ties"] == effects["units_a"]).fillna(False).astype(bool)


def said_of_open(left: pd.DataFrame, effects: pd.DataFrame, statistics: dict) -> list[str]:
    """Which questions are open, and how many pairs, or texts of each group, would decide each; fewest first."""
    bound, power = statistics["as_often_bound"], statistics["power"]
    needed = texts_needed(effects, as_often_bound=bound, power=power)[[*CELL, "needed"]]
    told = left.merge(needed, on=CELL, how="left").sort_values("needed")
    lines = []
    for row in told.head(TOLD).itertuples():
        name = f"{row.dataset}, {row.model}, {row.explainer}, {row.metric}, {row.level_a} and {row.level_b}"
        lines.append(f"  {name}: {_enough(row)}")
    if len(told) > TOLD:
        lines.append(f"  and {len(told) - TOLD} more, which tables/effects.html has")
    if told["needed"].notna().any():
        lines.append(f"  so many find with a power of {power:g} that one wins in {100 * bound:g} of 100 more")
    return lines


def where_to_read(results: Path) -> str:
    """Which pages have what was found; a study of regimes has none of its looks."""
    looks = results / "tables" / "looks.html"
    found = f"what was found: {results}/tables/effects.html"
    return f"{found}; the looks that were made: {looks}" if looks.is_file() else found


def _enough(row: Any) -> str:
    if pd.isna(row.needed):
        return row.reason if isinstance(row.reason, str) else "how many pairs would decide it is not known"
    return f"about {row.needed:,.0f} {row.unit if row.paired else 'texts of each group'} would tell"


def main(arguments: argparse.Namespace) -> None:
    """Go from look to look."""
    arguments.study, arguments.directory = arguments.study.resolve(), arguments.directory.resolve()
    config = read_plan(arguments.study)
    statistics, results = config["statistics"], arguments.directory / "results" / config["study"]
    start, plan, looks = time.monotonic(), statistics["plan"], statistics["looks"]
    # A look that was stopped goes on. The one before it has ended, and would throw away what this one has explained.
    # Where the plan has no look of that size any more, the last one is tried, and refused with its reason.
    first = min(begun(results, plan, looks), looks[-1])
    for number, pairs in enumerate(looks, start=1):
        before = made(results, plan)
        if pairs < first:
            continue
        said = said_before(results, before, pairs)
        print(f"look {number} of {len(looks)}, {pairs} pairs: {said}", flush=True)
        _run(arguments, results, plan, pairs)
        effects = tables.read_table(results / "tables" / "effects.parquet", EFFECTS)
        asked, left = effects["family"].isin([STUDY, PRIMARY]).sum(), effects[open_questions(effects)]
        print(f"look {number}: {asked - len(left)} of {asked} questions are decided or cannot be", flush=True)
        if left.empty:
            print("nothing is left that more texts could decide")
            break
        if number < len(looks) and (time.monotonic() - start) / 3600 >= arguments.hours:
            print(f"the {arguments.hours:g} hours are over before look {number + 1}; the same command goes on")
            break
    else:
        print("the plan has ended")
    if len(left):
        print("\n".join([f"{len(left)} questions are open:", *said_of_open(left, effects, statistics)]))
    print(where_to_read(results))
    print(
        f"any other command of this look: snakemake --cores all ... --configfile {arguments.study} {results}/{OVERLAY}"
    )


def _run(arguments: argparse.Namespace, results: Path, plan: str, pairs: int) -> None:
    """Run the study with so many pairs; its own messages are shown.

    Raises:
        InputError: it failed.
    """
    overlay = results / OVERLAY
    written = {"explain": {"pairs": pairs}, "statistics": {"plan": plan}}
    with tables.replacing(overlay) as path:
        path.write_text(yaml.safe_dump(written), encoding="utf-8")
    command = ["snakemake", "--cores", arguments.cores, "tables", "--configfile", str(arguments.study), str(overlay)]
    if subprocess.run([sys.executable, "-m", *command], cwd=arguments.directory).returncode:
        raise InputError(f"the look with {pairs} pairs failed, as said above; mend it, and the same command goes on")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="its configuration")
    parser.add_argument("--hours", type=float, default=2.0, help="no look begins after so many")
    parser.add_argument("--cores", default="all")
    parser.add_argument("--directory", type=Path, default=Path(), help="where results/ is")
    command_line.run(main, parser)
