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
from pathlib import Path

import pandas as pd
import yaml

from evenlight import configuration
from evenlight.core import tables
from evenlight.core.contracts.explanations import COSTS
from evenlight.core.contracts.results import EFFECTS, LOOKS
from evenlight.core.errors import InputError
from evenlight.jobs import command_line, own_files
from evenlight.statistics.study import UNDECIDABLE, UNDECIDED
from evenlight.statistics.verdicts import CONTROL, EXPLORATORY


def read_plan(path: Path) -> dict:
    """The completed configuration of a study that has a plan.

    Raises:
        InputError: it has none.
    """
    written = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    own_files.locate(written, [path.parent, Path()])
    looks = (written.get("statistics") or {}).get("looks")
    if not looks:
        raise InputError(f"{path}: statistics.looks: is missing; write a plan, such as [50, 100, 200] (docs/looks.md)")
    return configuration.complete(written | {"explain": (written.get("explain") or {}) | {"pairs": looks[0]}})


def made(results: Path, plan: str) -> int:
    """How many pairs the last look of this plan had; 0 before the first."""
    path = results / "tables" / "looks.parquet"
    if not path.is_file():
        return 0
    record = tables.read_table(path, LOOKS)
    return int(record.loc[record["plan"] == plan, "units"].max()) if plan in set(record["plan"]) else 0


def undecided(results: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The questions of the study that count, and those of them that are undecided."""
    effects = tables.read_table(results / "tables" / "effects.parquet", EFFECTS)
    asked = effects[~effects["family"].isin([CONTROL, EXPLORATORY])]
    # What is not decidable for the number of its texts may be with more of them.
    too_few = asked["reason"].str.contains("too few|spends so little", na=False)
    return asked, asked[(asked["verdict"] == UNDECIDED) | ((asked["verdict"] == UNDECIDABLE) & too_few)]


def minutes_of(results: Path, more: float) -> str:
    """What the explanations of the next look will take, of which ``more`` is the part of texts that is new."""
    paths = sorted((results / "costs").rglob("*.parquet"))
    seconds = sum(tables.read_table(path, COSTS)["seconds"].sum() for path in paths)
    if not paths:
        return "not known before the first look"
    return f"about {seconds * more / 60:.1f} minutes of explaining on one core, and scores and statistics on top"


def main(arguments: argparse.Namespace) -> None:
    """Go from look to look."""
    arguments.study, arguments.directory = arguments.study.resolve(), arguments.directory.resolve()
    config = read_plan(arguments.study)
    statistics, results = config["statistics"], arguments.directory / "results" / config["study"]
    began = time.monotonic()
    for number, pairs in enumerate(statistics["looks"], start=1):
        before = made(results, statistics["plan"])
        if pairs < before:
            continue
        share = (pairs - before) / before if before else 0
        print(f"look {number} of {len(statistics['looks'])}, {pairs} pairs: {minutes_of(results, share)}", flush=True)
        _run(arguments, results, pairs)
        asked, left = undecided(results)
        print(f"look {number}: {len(asked) - len(left)} of {len(asked)} questions are decided or cannot be", flush=True)
        if left.empty:
            print(f"nothing is left that more texts could decide; {results}/tables/effects.html says what was found")
            break
        if (time.monotonic() - began) / 3600 >= arguments.hours:
            print(f"the {arguments.hours:g} hours are over; the same command goes on")
            break
    else:
        print(f"the plan has ended, and {len(left)} questions are open: {results}/tables/effects.html says which")
    print(
        f"any other command of this look: snakemake --cores all ... --configfile {arguments.study} {results}/look.yaml"
    )


def _run(arguments: argparse.Namespace, results: Path, pairs: int) -> None:
    """Run the study with so many pairs; its own messages are shown.

    Raises:
        InputError: it failed.
    """
    overlay = results / "look.yaml"
    with tables.replacing(overlay) as path:
        path.write_text(yaml.safe_dump({"explain": {"pairs": pairs}}), encoding="utf-8")
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
