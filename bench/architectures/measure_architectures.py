"""Measure a tiny model of every type of classifier and of language model that Transformers knows.

Each type has a process of its own and a file of its own in the folder, so that a crash ends one type alone and a second
call goes on where the first one ended. The tables are made from all files.
"""

import argparse
import json
import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "unit"))

import measure_classifiers
import measure_prompts
import pandas as pd
import transformers
from sweeping import named, sweep

from evenlight.core.errors import InputError
from evenlight.core.tables import replacing
from evenlight.jobs import command_line


def written(path: Path, first: str | None, second: str | None) -> str:
    """A page of two parts; one that is None stays as it stands at ``path``."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    heading = measure_prompts.INTRODUCTION.partition("\n")[0]
    old, _, behind = text.partition(heading)
    second = (heading + behind if behind else "") if second is None else second
    return (old if first is None else f"{first}\n") + second


def main(arguments: argparse.Namespace) -> None:
    """Measure what is not measured yet, and write the tables."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    transformers.logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    parts = {"classifiers": measure_classifiers, "language_models": measure_prompts}
    unknown = set(arguments.types) - {named(name)["type"] for part in parts.values() for name in part.TYPES}
    if unknown:
        raise InputError(f"--types: Transformers knows no such models: {', '.join(sorted(unknown))}")
    tables = dict.fromkeys(parts)
    for part in arguments.of:
        chosen = [name for name in parts[part].TYPES if not arguments.types or named(name)["type"] in arguments.types]
        if arguments.again:
            for name in chosen:
                (arguments.folder / f"{name}.json").unlink(missing_ok=True)
        sweep(chosen, parts[part].measured, arguments.folder, arguments.jobs, arguments.limit)
        rows = [rows_of(name, arguments.folder) for name in parts[part].TYPES]
        tables[part] = parts[part].table(rows)
        if arguments.output:
            working = [parts[part].shown(row) for row in rows if row["outcome"] == "works"]
            with replacing(arguments.output.with_name(f"{arguments.output.stem}_{part}.csv")) as temporary:
                pd.DataFrame(working).to_csv(temporary, index=False)
    if arguments.output:
        with replacing(arguments.output) as temporary:
            temporary.write_text(written(arguments.output, *tables.values()), encoding="utf-8")


def rows_of(name: str, folder: Path) -> dict:
    """What was found out about a type."""
    path = folder / f"{name}.json"
    if path.exists():
        return json.loads(path.read_text())
    return named(name) | {"outcome": "not measured", "reason": "call again without --types"}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    tables = ["classifiers", "language_models"]
    parser.add_argument("--of", nargs="+", choices=tables, default=tables, help="which tables; default: both")
    parser.add_argument("--types", nargs="*", default=[], help="only these; default: all")
    parser.add_argument("--folder", type=Path, default=Path("results/architectures"), help="a file for each type")
    parser.add_argument("--again", action="store_true", help="measure once more what was measured")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--limit", type=float, default=300, help="seconds for a type")
    parser.add_argument("--output", type=Path, metavar="MD", help="where to write the tables of all that was measured")
    command_line.run(main, parser)
