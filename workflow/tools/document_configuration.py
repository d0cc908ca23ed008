"""Write what follows from the typed configuration: config/README.md, and the JSON Schema in workflow/schemas/."""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import yaml

from evenlight.configuration import Study
from evenlight.core.errors import InputError
from evenlight.jobs import own_files
from evenlight.jobs.command_line import run
from evenlight.settings.problems import allowed_values, is_mapping
from evenlight.settings.schema import schema_of

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "config" / "README.md"
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
REMEDY = "run python workflow/tools/document_configuration.py"

SCHEMA_COMMENT = """\
# Generated from evenlight.configuration by workflow/tools/document_configuration.py; do not edit.
# Editors complete keys from it, and the Snakemake workflow catalog lists them. Evenlight itself does not read it.
"""

INTRODUCTION = """\
<!-- Generated from evenlight.configuration; change the classes there and run
     `python workflow/tools/document_configuration.py` instead of editing here. -->

# Configuration

One YAML file describes one study: its datasets, models, explainers, metrics and tests.
The [glossary](../docs/glossary.md) says what words mean.

## How to start

1. Run the demo, which needs no data and takes minutes:
   `snakemake --cores all --configfile config/demo.yaml`
2. Copy [config.yaml](config.yaml), which explains itself, or a file of [studies/](studies). Give the copy its own
   `study` name, so that its results have their own folder, and change what you like.
3. Ask what it would do, then run it:
   `snakemake -n --configfile my_study.yaml` and `snakemake --cores all --resources gpu=1 --configfile my_study.yaml`
4. Change the file and run it again at any time. Only what depends on the change is computed again: another seed or
   model is trained, another explainer trains no model again, another metric explains nothing, another label remakes
   only the tables and figures that show it.

In a folder that snakedeploy made, the Snakefile names `config/config.yaml`. Edit that file, or write another name
there, such as `config/demo.yaml`, and leave `--configfile` out: Snakemake would merge the two studies, which is
refused. What the links of this page and of the studies lead to is in the repository, and after the first start below
`.snakemake/evenlight/`.

A single key can be given on the command line, as in `--config seeds='[0, 1]'`.

A key that is unknown, has a wrong type or contradicts another is refused before anything runs; the message lists
such keys with the value found and what is allowed. Numbers may be written as `0.001` or `1e-3`.

A reader, an explainer or a metric may be a class of your own, named by its file: `parts/last_layer.py:LastLayer`
([docs/own_parts.md](../docs/own_parts.md)).

Editors that know JSON Schema (VS Code with its YAML extension, and others) complete keys and values, and mark mistakes,
where the first line of the file is `# yaml-language-server: $schema=` and the path of
[config.schema.yaml](../workflow/schemas/config.schema.yaml) from there.
"""


# Where the entries of a section are described at length; their whole descriptions stand in the JSON Schema, too.
PAGES = {
    "datasets": "[Datasets](../docs/datasets.md)",
    "models": "[Models](../docs/models.md)",
    "explainers": "[Definitions](../docs/definitions.md#explainers)",
    "metrics": "[Definitions](../docs/definitions.md#metrics)",
}


def readme(schema: dict) -> str:
    """The whole page, in Markdown."""
    return "\n".join([INTRODUCTION, *_top_level(schema)]) + "\n"


def with_definitions(schema: dict) -> dict:
    """The same schema; a key that several entries of registries have alike is defined once, but for its default.

    What stands in ``properties`` from the top on stays as it is: the Snakemake workflow catalog reads these and
    follows no references.
    """
    alike = Counter(_definition(part) for _, part in _keys_of_entries(schema))
    names: dict[str, str] = {}
    used: Counter[str] = Counter()
    for name, part in _keys_of_entries(schema):
        definition = _definition(part)
        if alike[definition] > 1 and definition not in names:
            used[name] += 1
            names[definition] = name if used[name] == 1 else f"{name}_{used[name]}"
    definitions = {name: _referring(json.loads(definition), names, True) for definition, name in names.items()}
    return _referring(schema, names) | {"$defs": dict(sorted(definitions.items()))}


def _keys_of_entries(part: dict, is_entry: bool = False) -> Iterator[tuple[str, dict]]:
    """Every key of what is chosen among several, or has any name, with its schema."""
    for inner in _chosen(part):
        yield from _keys_of_entries(inner, True)
    for name, inner in part.get("properties", {}).items():
        if is_entry and "const" not in inner:
            yield name, inner
        yield from _keys_of_entries(inner, is_entry)


def _chosen(part: dict) -> list[dict]:
    others = [part[key] for key in ("items", "additionalProperties") if isinstance(part.get(key), dict)]
    return [*part.get("oneOf", []), *others]


def _definition(part: dict) -> str:
    return json.dumps({key: value for key, value in part.items() if key != "default"})


def _referring(part: dict, names: dict[str, str], is_entry: bool = False) -> dict:
    """``part`` with references to what is defined under these names."""
    part = dict(part)
    if "oneOf" in part:
        part["oneOf"] = [_referring(inner, names, True) for inner in part["oneOf"]]
    for key in ("items", "additionalProperties"):
        if isinstance(part.get(key), dict):
            part[key] = _referring(part[key], names, True)
    if "properties" in part:
        part["properties"] = {
            name: {"$ref": f"#/$defs/{names[_definition(inner)]}"} | {k: v for k, v in inner.items() if k == "default"}
            if is_entry and _definition(inner) in names
            else _referring(inner, names, is_entry)
            for name, inner in part["properties"].items()
        }
    return part


def with_own(schema: dict) -> dict:
    """The same schema, in which a class in a file of one's own may be named, with any keys."""
    properties = dict(schema["properties"])
    for section, key in own_files.KEYS.items():
        named = {"type": "string", "pattern": r"^[^:{}]+\.py:[A-Za-z_]\w*$"}
        own = {"title": "A class of your own", "type": "object", "required": [key], "properties": {key: named}}
        entries = properties[section]["additionalProperties"]
        properties[section] = properties[section] | {
            "additionalProperties": entries | {"oneOf": [*entries["oneOf"], own]}
        }
    return schema | {"properties": properties}


def schema_file(schema: dict) -> str:
    """The JSON Schema, in YAML."""
    named = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Configuration of Evenlight"}
    named |= with_own(with_definitions(schema))
    text = yaml.dump(named, Dumper=_Short, sort_keys=False, allow_unicode=True, width=120)
    return f"{SCHEMA_COMMENT}{text}"


class _Short(yaml.SafeDumper):
    """Writes references and lists of values on one line each, and no aliases."""

    def ignore_aliases(self, data) -> bool:
        return True

    def represent_mapping(self, tag, mapping, flow_style=None) -> yaml.Node:
        return super().represent_mapping(tag, mapping, "$ref" in mapping or flow_style)

    def represent_sequence(self, tag, sequence, flow_style=None) -> yaml.Node:
        values = not any(isinstance(value, dict | list) for value in sequence)
        return super().represent_sequence(tag, sequence, values or flow_style)


def _top_level(schema: dict) -> Iterator[str]:
    yield from _heading(2, "All keys")
    yield from _table(schema)
    described: set[str] = set()
    for name, part in schema["properties"].items():
        if is_mapping(part):
            yield from _heading(2, name)
            yield part["description"] + "\n"
            yield from _section(name, part, described)


def _section(name: str, part: dict, described: set[str]) -> Iterator[str]:
    entries = part.get("additionalProperties")
    if not entries or "oneOf" not in entries:
        yield from _table(entries or part)
        yield from _shared_mappings(entries or part, described)
        return
    if name in PAGES:
        yield f"{PAGES[name]} says more of each; the schema has all of every description.\n"
    shared = _keys_of_several(entries["oneOf"])
    if shared:
        yield "Keys that several of them have; each entry names those that not all have, with their defaults:\n"
        yield "| key | values | meaning |"
        yield "| --- | --- | --- |"
        yield from (
            _line(f"`{name}`", _values(name, inner), _first_sentence(inner["description"]))
            for name, inner in shared.values()
        )
        yield ""
    said_by = [{_with_default(*key) for key in entry["properties"].items()} for entry in entries["oneOf"]]
    of_all = set.intersection(*said_by)
    for entry in entries["oneOf"]:
        [(key, name)] = [(key, inner["const"]) for key, inner in entry["properties"].items() if "const" in inner]
        yield from _heading(3, f"`{key}: {name}`")
        yield f"**{entry['title']}.** {_first_sentence(entry['description'])}{_direction(entry)}\n"
        keys = {name: inner for name, inner in entry["properties"].items() if "const" not in inner}
        own = {name: inner for name, inner in keys.items() if (name, _definition(inner)) not in shared}
        yield from (
            f"- {_with_default(name, inner)} ({_values(name, inner)}): {_first_sentence(inner['description'])}"
            for name, inner in own.items()
        )
        others = [_with_default(name, inner) for name, inner in keys.items() if name not in own]
        if others := [said for said in others if said not in of_all]:
            yield f"- {'also' if own else 'keys'}: {', '.join(others)}"
        yield ""
    for entry in entries["oneOf"]:
        yield from _shared_mappings(entry, described)


def _keys_of_several(entries: list[dict]) -> dict[tuple[str, str], tuple[str, dict]]:
    """The keys that several entries have alike, but for their default, by name and definition."""
    keys = [(name, inner) for entry in entries for name, inner in entry["properties"].items() if "const" not in inner]
    alike = Counter((name, _definition(inner)) for name, inner in keys)
    found = {(name, _definition(inner)): (name, inner) for name, inner in keys}
    return {key: found[key] for key, count in alike.items() if count > 1}


def _with_default(name: str, part: dict) -> str:
    """A key of several entries, with the default that it has in one of them."""
    if "default" not in part:
        return f"`{name}` (required)"
    return f"`{name}`" if part["default"] in (None, {}) else f"`{name}: {json.dumps(part['default'])}`"


def _shared_mappings(part: dict, described: set[str]) -> Iterator[str]:
    """The mappings below ``part``, such as ``training``: each described once, though several entries may have it."""
    for name, inner in part["properties"].items():
        if not is_mapping(inner) or _is_open(inner) or name in described:
            continue
        described.add(name)
        yield from _heading(3, name)
        yield inner["description"] + "\n"
        entries = inner.get("additionalProperties") or inner  # the mapping itself, or each of its entries
        if "oneOf" not in inner:
            yield from _table(entries)
        for alternative in inner.get("oneOf", []):
            yield f"{alternative['title']}:\n"
            yield from _table(alternative)


def _is_open(part: dict) -> bool:
    """Whether a mapping is from names of the reader's choice to plain values, which its row describes in full.

    So is one to mappings of this kind.
    """
    values = part.get("additionalProperties")
    return values is True or (isinstance(values, dict) and (not is_mapping(values) or _is_open(values)))


def _first_sentence(text: str) -> str:
    """What stands before the first period that ends a sentence; the pages of the section say the rest.

    >>> _first_sentence("As in Abnar et al. 2020, by weights. Never negative.")
    'As in Abnar et al. 2020, by weights.'
    """
    return re.split(r"(?<=[a-z0-9)`”]\.)(?<!al\.)(?<!e\.g\.)(?<!i\.e\.)(?<!Eq\.) (?=[A-Z`\"])", text, maxsplit=1)[0]


def _direction(entry: dict) -> str:
    """Whether higher or lower values of a metric are better."""
    return f" The {entry['x-better']} the better." if "x-better" in entry else ""


def _table(part: dict) -> Iterator[str]:
    """The keys of one mapping as a table; a key that only names the entry stands in the heading instead."""
    rows = [_row(name, inner) for name, inner in part["properties"].items() if "const" not in inner]
    if not rows:
        return
    yield "| key | values | default | meaning |"
    yield "| --- | --- | --- | --- |"
    yield from rows
    yield ""


def _row(name: str, part: dict) -> str:
    return _line(f"`{name}`", _values(name, part), _default(part), part["description"])


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _values(name: str, part: dict) -> str:
    """What a key may have, in few words."""
    said = _allowed(name, part).replace(", not empty", "")
    for words, sign in (
        ("an integer, at least", "integer ≥"),
        ("a number, at least", "number ≥"),
        (" and at most", ", ≤"),
    ):
        said = said.replace(words, sign)
    return said.replace("a number, above", "number >").replace("an integer, above", "integer >")


def _allowed(name: str, part: dict) -> str:
    if part.get("additionalProperties") is True:
        return "a mapping of names to any values"
    if is_mapping(part) and _is_open(part):
        mapping = f"a mapping of names to values, each {allowed_values(part['additionalProperties'])}"
        return allowed_values(part).replace("a mapping of keys to values", mapping)
    if is_mapping(part):
        return f"see [{name}](#{name})"
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    return allowed_values(part)


def _default(part: dict) -> str:
    if "default" not in part:
        return "required"
    default = part["default"]
    if default == {}:
        return "empty" if part.get("additionalProperties") else "its defaults"
    # A cell of a table has one line.
    said = default.replace("\n", "\\n") if isinstance(default, str) else json.dumps(default)
    return f"`{said}`"


def _heading(level: int, text: str) -> Iterator[str]:
    yield f"{'#' * level} {text}\n"


def main(arguments: argparse.Namespace) -> None:
    """Write both files, or hold those that are there against the classes."""
    schema = schema_of(Study)
    for path, text in ((arguments.readme, readme(schema)), (arguments.schema, schema_file(schema))):
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            raise InputError(f"{path}: does not agree with evenlight.configuration; {REMEDY}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readme", type=Path, default=README, help="page to write")
    parser.add_argument("--schema", type=Path, default=SCHEMA, help="JSON Schema to write")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file is out of date")
    run(main, parser)
