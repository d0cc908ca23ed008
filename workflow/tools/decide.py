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

import pandas as pd
import yaml

from evenlight import configuration
from evenlight.core import tables
from evenlight.core.contracts.explanations import COSTS
from evenlight.core.contracts.results import EFFECTS, LOOKS
from evenlight.core.errors import InputError
from evenlight.jobs import command_line, own_files
from evenlight.statistics.cells import CELL
from evenlight.statistics.closed_records import is_open, questions
from evenlight.statistics.look_plans import closed_before, read_closed
from evenlight.statistics.texts_needed import texts_needed

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


def seconds_of(results: Path, not_asked: dict) -> float | None:
    """What the explanations that are there have taken, of explainers that go on; None where nothing is known."""
    paths = sorted((results / "costs").rglob("*.parquet"))
    known: dict[tuple, float] = {}
    for path in paths:
        dataset, model, seed, explainer = path.relative_to(results / "costs").with_suffix("").parts
        if explainer not in not_asked.get(dataset, {}).get(model, {}):
            for part in tables.read_table(path, COSTS).itertuples():
                # The time of all that were computed together, which each of their files has.
                known[dataset, model, seed, *part.together, part.texts, part.seconds] = part.seconds
    return sum(known.values()) if paths else None


def said_before(results: Path, before: int, pairs: int, not_asked: dict) -> str:
    """What the explanations of a look will take, from what those before it took, and who is asked no more."""
    if pairs <= before:
        return "what is missing of it"
    seconds = seconds_of(results, not_asked) if before else None
    if seconds is None:
        return "how long it takes is not known before the first look"
    ended: dict[str, list[str]] = {}
    for dataset, models in not_asked.items():
        for model, of_model in models.items():
            for name in of_model:
                ended.setdefault(name, []).append(f"{dataset}, {model}")
    listed = ", ".join(f"{name} ({'; '.join(where)})" for name, where in ended.items())
    minutes = seconds * (pairs - before) / before / 60
    said = f"about {minutes:.1f} minutes to explain {pairs - before} more pairs on one core, then scores and statistics"
    return f"{said}; no more questions to {listed}" if listed else said


def said_of_open(left: pd.DataFrame, effects: pd.DataFrame, statistics: dict) -> list[str]:
    """Which questions are open, and how many pairs, or texts of each group, would decide each; fewest first."""
    interest = {name: statistics[name] for name in ("equivalence_bound", "smallest_effects")}
    needed = texts_needed(effects, **interest)
    known = needed[[*CELL, "needed", "units", "paired"]]
    told = left[[*CELL, "reason"]].merge(known, on=CELL, how="left").sort_values("needed")
    lines = []
    for row in told.head(TOLD).itertuples():
        name = f"{row.dataset}, {row.model}, {row.explainer}, {row.metric}, {row.level_a} and {row.level_b}"
        lines.append(f"  {name}: {_enough(row.needed, row.units, row.paired, row.reason)}")
    if len(told) > TOLD:
        lines.append(f"  and {len(told) - TOLD} more, which tables/effects.html has")
    return lines


def where_to_read(results: Path) -> str:
    """Which pages have what was found; a study of regimes closes nothing, and has no page of that."""
    closed = results / "tables" / "looks.html"
    found = f"what was found: {results}/tables/effects.html"
    return f"{found}; what each look has closed: {closed}" if closed.is_file() else found


def _enough(needed: float, units: float, paired: bool | float, reason: str | None) -> str:
    if pd.isna(needed):
        return reason if isinstance(reason, str) else "how many pairs would decide it is not known"
    what = "pairs" if paired else "texts of each group"
    if needed <= units:
        return f"{units:,.0f} {what} mostly show the smallest effect of interest; they left this one open"
    return f"about {needed:,.0f} {what} would show the smallest effect of interest"


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
        not_asked = closed_before(read_closed(results / "tables" / "closed.parquet"), plan, pairs)
        said = said_before(results, before, pairs, not_asked)
        print(f"look {number} of {len(looks)}, {pairs} pairs: {said}", flush=True)
        _run(arguments, results, plan, pairs)
        effects = tables.read_table(results / "tables" / "effects.parquet", EFFECTS)
        asked = questions(effects)
        left = asked[is_open(asked)]
        print(f"look {number}: {len(asked) - len(left)} of {len(asked)} questions are decided or cannot be", flush=True)
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
