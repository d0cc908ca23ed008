"""Measure a tiny model of every type of classifier and of language model that Transformers knows.

Each type has a process of its own and a file of its own in the folder, so that a crash ends one type alone and a second
call goes on where the first one ended. The tables are made from all files.
"""

import argparse
import json
import os
import re
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


def flat(row: dict) -> dict:
    """A row for a file of comma-separated values."""
    answers = {
        f"{name}: {key}": answer[key]
        for name, answer in row.get("explainers", {}).items()
        for key in ("verdict", "text")
    }
    return {key: value for key, value in row.items() if key not in ("explainers", "seconds")} | answers


def written(path: Path, first: str | None, second: str | None) -> str:
    """A page of two parts; one that is None stays as it stands at ``path``."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    heading = measure_prompts.INTRODUCTION.partition("\n")[0]
    old, _, behind = text.partition(heading)
    second = (heading + behind if behind else "") if second is None else second
    return (old if first is None else f"{first}\n") + second


def with_table_beside(text: str, page: Path, name: str) -> str:
    """A part of a page, whose table of types goes into a file beside the page, which names them.

    Args:
        text: of the part; what is taken out is its longest table.
        page: where the page stands.
        name: of the part, as the file has it behind the page's name.
    """
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    table = max(tables, key=lambda each: each.count("\n"))
    cells = [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in table.splitlines()]
    heading, _, *lines = [[cell.replace("\\|", "|") for cell in row] for row in cells]
    beside = page.with_name(f"{page.stem}_{name}.csv")
    with replacing(beside) as temporary:
        rows = pd.DataFrame([line + [""] * (len(heading) - len(line)) for line in lines], columns=heading)
        rows.replace("`", "", regex=True).to_csv(temporary, index=False)
    types = ", ".join(dict.fromkeys(line[0] for line in lines))
    return text.replace(table, f"[{beside.name}]({beside.name}) has a row for each: {types}.\n")


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
        with replacing(arguments.folder / f"{part}.csv") as temporary:
            pd.DataFrame(map(flat, rows)).to_csv(temporary, index=False)
        tables[part] = parts[part].table(rows)
        if arguments.output:
            tables[part] = with_table_beside(tables[part], arguments.output, part)
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
