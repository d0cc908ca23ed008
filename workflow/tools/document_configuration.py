"""Write config/README.md, which describes every key of the configuration, from the configuration's schema."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from evenlight.command_line import run
from evenlight.configuration import SCHEMA, allowed_values, is_mapping, load_schema, registry, resolved
from evenlight.errors import InputError

README = SCHEMA.parents[1] / "README.md"

INTRODUCTION = """\
<!-- Generated from config/schemas/config.schema.yaml; change that file and run
     `python workflow/tools/document_configuration.py` instead of editing here. -->

# Configuration

One YAML file describes one study: its datasets, models, explainers, metrics and tests.

## How to start

1. Run the demo, which needs no data and takes minutes:
   `snakemake --cores all --configfile config/demo.yaml`
2. Copy [config.yaml](config.yaml), which explains itself, or a file of [studies/](studies). Give the copy its own
   `study` name, so that its results have their own folder, and change what you like.
3. Ask what it would do, then run it:
   `snakemake -n --configfile my_study.yaml` and `snakemake --cores all --resources gpu=1 --configfile my_study.yaml`
4. Change the file and run it again at any time. Only what depends on the change is computed anew: another seed or
   model is trained, another explainer trains nothing, another metric explains nothing. Tables and figures, which take
   seconds, may be made again more often than needed.

A single key can be given on the command line, as in `--config seeds='[0, 1]'`.

A key that is unknown, has a wrong type or contradicts another is refused before anything runs; the message lists
such keys with the value found and what is allowed; contradictions come after the rest is right. Numbers may be written
as `0.001` or `1e-3`.
"""


def document(schema: dict) -> str:
    """The whole page, in Markdown."""
    return "\n".join([INTRODUCTION, *_top_level(schema)]) + "\n"


def _top_level(schema: dict) -> Iterator[str]:
    yield from _heading(2, "All keys")
    yield from _table(schema, schema)
    described: set[str] = set()
    for name, part in schema["properties"].items():
        part = resolved(part, schema)
        if is_mapping(part):
            yield from _heading(2, name)
            yield part["description"] + "\n"
            yield from _section(part, schema, described)


def _section(part: dict, schema: dict, described: set[str]) -> Iterator[str]:
    entries = part.get("additionalProperties")
    if not entries:
        yield from _table(part, schema)
        for inner in part["properties"].values():
            yield from _shared_mapping(resolved(inner, schema), schema, described)
        return
    variants = registry(schema, entries["x-registry"])
    for name, entry in variants.items():
        yield from _heading(3, f"`{entries['x-discriminator']}: {name}`")
        yield f"**{entry['title']}.** {entry['description']}\n"
        yield from _annotations(entry)
        yield from _table(entry, schema)
    for entry in variants.values():
        for inner in entry["properties"].values():
            yield from _shared_mapping(resolved(inner, schema), schema, described)


def _shared_mapping(part: dict, schema: dict, described: set[str]) -> Iterator[str]:
    """A mapping that several entries have in common, such as ``training``: described once, after them."""
    if not is_mapping(part) or _is_open(part) or part["title"] in described:
        return
    described.add(part["title"])
    yield from _heading(3, part["title"])
    yield part["description"] + "\n"
    if "oneOf" not in part:
        yield from _table(part, schema)
    for alternative in part.get("oneOf", []):
        yield f"{alternative['title']}:\n"
        yield from _table(alternative, schema)


def _is_open(part: dict) -> bool:
    """Whether a mapping is from names of the reader's choice to plain values, which its row describes in full."""
    return isinstance(part.get("additionalProperties"), dict) and "x-registry" not in part["additionalProperties"]


def _annotations(entry: dict) -> Iterator[str]:
    if "x-better" in entry:
        yield f"The {entry['x-better']} the better. Computed with the family `{entry['x-family']}`.\n"
    elif "x-family" in entry:
        yield f"Computed with the family `{entry['x-family']}`.\n"


def _table(part: dict, schema: dict) -> Iterator[str]:
    """The keys of one mapping as a table; a key that only names the entry stands in the heading instead."""
    rows = [_row(name, resolved(inner, schema)) for name, inner in part["properties"].items() if "const" not in inner]
    if not rows:
        return
    yield "| key | values | default | meaning |"
    yield "| --- | --- | --- | --- |"
    yield from rows
    yield ""


def _row(name: str, part: dict) -> str:
    cells = (f"`{name}`", _values(name, part), _default(part), part["description"])
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _values(name: str, part: dict) -> str:
    if is_mapping(part) and _is_open(part):
        return f"a mapping of names to values, each {allowed_values(part['additionalProperties'])}"
    if is_mapping(part):
        return f"see [{name}](#{name})"
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    pattern = part.get("pattern", "")
    return allowed_values(part).replace(pattern, f"`{pattern}`") if pattern else allowed_values(part)


def _default(part: dict) -> str:
    if "default" not in part:
        return "required"
    default = part["default"]
    if default == {}:
        return "empty" if _is_open(part) else "its defaults"
    return f"`{default if isinstance(default, str) else json.dumps(default)}`"


def _heading(level: int, text: str) -> Iterator[str]:
    yield f"{'#' * level} {text}\n"


def main(arguments: argparse.Namespace) -> None:
    """Write the page, or hold the one that is there against the schema."""
    page = document(load_schema(arguments.schema))
    if not arguments.check:
        arguments.output.write_text(page, encoding="utf-8")
    elif not arguments.output.is_file() or arguments.output.read_text(encoding="utf-8") != page:
        raise InputError(
            f"{arguments.output}: does not agree with {arguments.schema}; "
            f"run python workflow/tools/document_configuration.py"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schema", type=Path, default=SCHEMA, help="schema of the configuration")
    parser.add_argument("--output", type=Path, default=README, help="page to write")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page is out of date")
    run(main, parser)
