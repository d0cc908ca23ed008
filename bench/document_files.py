"""Write docs/files.md: the files that pass between rules, from the contracts that hold them.

What a file is and where it lies stands in the comment above its contract, what a column means in the comment beside it.
Neither is part of the digest of a job's code, so that another wording reruns nothing.
"""

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from evenlight.core import contracts
from evenlight.core.errors import InputError
from evenlight.core.tables import Contract
from evenlight.jobs.command_line import run

PAGE = Path(__file__).resolve().parents[1] / "docs" / "files.md"
REMEDY = "run python bench/document_files.py"
STAGES = ("corpus", "texts", "explanations", "results")

INTRODUCTION = """\
<!-- Generated from evenlight.core.contracts; change the contracts and their comments there and run
     `python bench/document_files.py` instead of editing here. -->

# Files

What passes between the rules, below `results/<study>/`. Each table has a [contract](glossary.md#contract): its columns,
and the rule that makes it. The contract is checked when the table is written and when it is read. A refusal names the
file, the column and the rule.

Tables are Parquet. Their metadata have the [notes](glossary.md#note) for readers. Tables of results are also there as
`tables/*.csv`, and some as pages, `*.html` and `*.tex`, by `tabulate_<page>`.
"""
SHARED = 2  # a column that as many tables have alike is described once

COLUMNS = """\
## Columns of several tables

The tables only name these. On this page `+` marks a value that may be missing, and `?` a column that may be absent.
"""

KEPT = "It is kept: it is no output, which Snakemake would delete"
# File, what it is, and the rules that make it.
WITHOUT_CONTRACT = (
    ("`../sources/{name}`", "what was downloaded; its SHA-256 is in `evenlight.core.sources`", "`fetch_source`"),
    (
        "`corpus/pages/`, or `pages_<digest>/` of served ones",
        f"raw HTML by address, time and SHA-256. {KEPT}",
        "`list_books`, `find_articles`",
    ),
    (
        "`corpus/review.html`, `corpus/label_studio/`",
        "what annotators are given; what comes back is in `config/schemas/review_export.schema.yaml`",
        "`write_review_page`, `export_label_studio`",
    ),
    (
        "`datasets/{dataset}/co_occurrence.csv`",
        "whether the groups' pronouns stand with equally many words",
        "`measure_co_occurrence`",
    ),
    (
        "`../sources/{release}/*.parquet`",
        "tables of thousands of single files, whose archive is in `evenlight.core.sources`",
        "`unpack_<release>`",
    ),
    (
        "`released/{release}_{part}.parquet`",
        "answers of language models, as the authors of a study released them, in one table",
        "`import_released`",
    ),
    (
        "`models/{dataset}/{model}/seed{seed}/`",
        "weights as safetensors, tokenizer, `manifest.json`; `history.csv` where it was trained here",
        "`train`, `load_model`",
    ),
    (
        "`models/{dataset}/{model}/seed{seed}/service.json`, `tokenizer.json`",
        "of a classifier behind an address: what is asked, and the words of the texts",
        "`describe_service`",
    ),
    (
        "`questions/{dataset}/{model}.txt`",
        "how many questions a service will be asked, printed before the first",
        "`estimate_questions`",
    ),
    (
        "`../answers/<digest>.sqlite`",
        f"every answer of a service, by the SHA-256 of its text. {KEPT}",
        "all that ask a service",
    ),
    (
        "`learning_rates/{dataset}/{model}/rate{rate}.csv`",
        "the history of a training, where rates are tried",
        "`try_learning_rate`",
    ),
    (
        "`checks/{dataset}/`",
        "findings as JSON, and the texts that models are tried with; the target `check` removes them",
        "`check_dataset`, `check_model`",
    ),
    (
        "`plans/{dataset}/{model}.txt`",
        "how long each explainer will take, printed before they begin; for the targets `plan` and `audit`",
        "`plan_explanations`",
    ),
    ("`.records.json.gz`", "of what each file was made, as Snakemake notes it, for results that are copied", "all"),
    ("`figures/**`", "figures", "`draw_*`"),
    ("`audit.pdf`, `audit.sha256`", "[to be filed](audit.md#to-be-filed), on request", "none: `evenlight audit-pdf`"),
    (
        "`index.html`; with verdicts `audit.json`, `audit.md`",
        "[the page of the study](page.md), and its words for programs and for a model card",
        "`write_page`",
    ),
)


class Documented(NamedTuple):
    """A contract with its name in the code, what its file is, and what the lines of its columns say."""

    name: str
    contract: Contract
    about: str
    lines: dict[str, int]
    comments: dict[int, str]

    @property
    def rule(self) -> str:
        """The rule that makes the file; explainers have one for each family."""
        return self.contract.rule + "_<family>" * (self.contract.rule == "attribute")

    @property
    def where(self) -> str:
        """Where it lies."""
        return self.about.partition(": ")[0]

    @property
    def row(self) -> str:
        """What a row of it is."""
        return self.about.partition(": ")[2]


def documented(stage: str) -> Iterator[Documented]:
    """The contracts of a stage, a module of ``evenlight.core.contracts``, in their order."""
    module = import_module(f"{contracts.__name__}.{stage}")
    source = Path(module.__file__).read_text(encoding="utf-8")
    made = {node.targets[0].id: node for node in ast.parse(source).body if isinstance(node, ast.Assign)}
    lines = source.splitlines()
    comments = {place: _comment(lines, place) for place in range(1, len(lines) + 1)}
    for name, node in made.items():
        contract = getattr(module, name)
        # What a reader asks of a contract is no other file.
        if isinstance(contract, Contract) and contract.whole:
            about = _above(lines, node.lineno)
            if not re.match(r"`[^`]+`.*: .*\.$", about):
                raise InputError(f"{module.__file__}: {name}: no comment above it such as '# `path`: what a row is.'")
            yield Documented(name, contract, about, _places(node, made), comments)


def _above(lines: list[str], place: int) -> str:
    """The comment that ends above a line (counted from 1)."""
    first = place - 1
    while first and lines[first - 1].strip().startswith("#"):
        first -= 1
    return " ".join(line.strip().lstrip("# ") for line in lines[first : place - 1])


def _comment(lines: list[str], place: int) -> str:
    """The comment on a line, or the one above it."""
    beside = re.search(r"  # (.*)$", lines[place - 1])
    return beside[1] if beside else _above(lines, place)


def _places(node: ast.AST, made: dict[str, ast.Assign]) -> dict[str, int]:
    """The lines on which the columns of a contract are named, there or in what it is made of."""
    places = {}
    for part in ast.walk(node.value):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            places[part.value] = part.lineno
        elif isinstance(part, ast.Name) and part.id in made:
            places |= _places(made[part.id], made)
    return places


class Column(NamedTuple):
    """A column as the page describes it: its name in code, its type, and the comment beside it."""

    name: str
    kind: str
    comment: str


def page() -> str:
    """The whole page, in Markdown."""
    stages = {stage: list(documented(stage)) for stage in STAGES}
    found = Counter(column for every in stages.values() for one in every for column in columns(one))
    often = sorted((column for column, count in found.items() if count >= SHARED), key=found.get)
    shared = {*{column.name: column for column in often}.values()}  # of one name, that of most tables
    parts = [INTRODUCTION, "## Files without a contract\n", *_table(("file", "what it is", "rule"), WITHOUT_CONTRACT)]
    parts += ["", COLUMNS, *_list(sorted(shared, key=lambda column: (column.comment, column.kind, column.name)))]
    for stage, every in stages.items():
        about = import_module(f"{contracts.__name__}.{stage}").__doc__.strip().partition("\n")[0]
        parts += ["", f"## {stage.replace('_', ' ').capitalize()}\n", about]
        for one in every:
            parts += ["", f"### {one.name}\n", f"`{one.rule}` makes {one.where}. A row is {one.row}\n"]
            named = [column.name for column in columns(one) if column in shared]
            parts += [f"- As above: {', '.join(named)}"] if named else []
            parts += _list(column for column in columns(one) if column not in shared)
    return "\n".join(parts) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(row)} |"


def _list(described: Iterable[Column]) -> Iterator[str]:
    """A line for each comment and its columns, and one for all columns of which nothing is said."""
    described = list(described)
    if plain := [column for column in described if not column.comment]:
        kinds = groupby(plain, key=lambda column: column.kind)
        yield "- " + ", ".join(f"{_names(same)} ({kind})" for kind, same in kinds)
    for (kind, comment), same in groupby((one for one in described if one.comment), key=lambda column: column[1:]):
        yield f"- {_names(same)} ({kind}): {comment}"


def _names(same: Iterable[Column]) -> str:
    return ", ".join(column.name for column in same)


def columns(one: Documented) -> Iterator[Column]:
    """The columns of a contract in their order."""
    contract, place = one.contract, 0
    for field in contract.schema:
        place = one.lines.get(field.name, place)  # the ends of an interval are named with it
        yield Column(f"`{field.name}`", _kind(field, contract), one.comments.get(place, ""))
    if contract.extra_columns is not None:
        name = f"`{contract.extra_prefix}…`" if contract.extra_prefix else "others"
        yield Column(name, _type(contract.extra_columns), "as the study has them")


def _kind(field: pa.Field, contract: Contract) -> str:
    return _type(field.type) + "+" * field.nullable + "?" * (field.name in contract.optional)


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_type(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "mapping of " + ", ".join(f"`{field.name}`" for field in kind)
    if pa.types.is_integer(kind):
        return "integer"
    return {"string": "text", "bool": "yes or no"}.get(str(kind), "number")


def main(arguments: argparse.Namespace) -> None:
    """Write the page, or hold the one that is there against the contracts."""
    text = page()
    if not arguments.check:
        arguments.page.write_text(text, encoding="utf-8")
    elif not arguments.page.is_file() or arguments.page.read_text(encoding="utf-8") != text:
        raise InputError(f"{arguments.page}: does not agree with evenlight.core.contracts; {REMEDY}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, default=PAGE, help="page to write")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page is out of date")
    run(main, parser)
