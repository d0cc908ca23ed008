"""Write what follows from the typed configuration: config/README.md, and the JSON Schema in workflow/schemas/."""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
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
4. Change the file and run it again at any time. Only what depends on the change is computed again.

In a folder that snakedeploy made, the Snakefile names `config/config.yaml`. Edit that file, or write another name
there, and leave `--configfile` out. What links lead to is in the repository, and after the first start below
`.snakemake/evenlight/`.

A single key can be given on the command line, as in `--config seeds='[0, 1]'`.

A wrong key is refused before anything runs, with the value found and what is allowed. Numbers may be written as
`0.001` or `1e-3`.

A reader, an explainer or a metric may be a class of your own, named by its file: `parts/last_layer.py:LastLayer`
([docs/own_parts.md](../docs/own_parts.md)).

Editors that know JSON Schema (VS Code with its YAML extension, and others) complete keys and values, and mark mistakes,
where the first line of the file is `# yaml-language-server: $schema=` and the path of
[config.schema.yaml](../workflow/schemas/config.schema.yaml) from there.

Each key stands with its default, then what it may be, and its meaning. Without a default it may be left out, and is
null or empty. Where nothing is said of what it may be, it is text, true or false, or a value that its meaning names.
A *name* has small letters, digits and `_`, begins with a letter, and has at most 80 characters. A *line* is text on one
line without `{` and `}`. The schema has the whole description of every key, and what lists may be.
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
    yield from _list(_keys(schema))
    described: set[str] = set()
    for name, part in schema["properties"].items():
        if is_mapping(part):
            yield from _heading(2, name)
            yield part["description"] + "\n"
            yield from _section(name, part, described)


def _section(name: str, part: dict, described: set[str]) -> Iterator[str]:
    entries = part.get("additionalProperties")
    if not entries or "oneOf" not in entries:
        yield from _list(_keys(entries or part))
        yield from _shared_mappings(entries or part, described)
        return
    yield from _entries(entries["oneOf"], PAGES[name])
    yield from _list(_keys_of_several(entries["oneOf"]), is_of_entries=True)
    for entry in entries["oneOf"]:
        yield from _shared_mappings(entry, described)


def _entries(entries: list[dict], page: str) -> Iterator[str]:
    """A table of the entries of a registry with their keys; the page of the section says what each is."""
    said = {_with_default(name, part) for name, part in _keys_of_several(entries)}  # with the meanings
    of_all = [name for name, _ in _keys(entries[0]) if all(name in dict(_keys(entry)) for entry in entries)]
    all_have = f" All have the key{'s' * (len(of_all) > 1)} {_named(of_all)}." if of_all else ""
    yield f"{page} says what each is.{all_have}\n"
    yield f"| {_constant(entries[0])[0]} | what it is | keys |"
    yield "| --- | --- | --- |"
    for entry in entries:
        keys = [(name, _with_default(name, inner)) for name, inner in _keys(entry) if name not in of_all]
        keys = [f"`{name}`" if key in said else key for name, key in keys]
        yield _line(f"`{_constant(entry)[1]}`", f"{entry['title']}{_direction(entry)}", ", ".join(keys))
    yield ""


def _named(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _constant(entry: dict) -> tuple[str, str]:
    """The key that says which entry of a registry it is, and its value."""
    [found] = [(key, inner["const"]) for key, inner in entry["properties"].items() if "const" in inner]
    return found


def _keys_of_several(entries: list[dict]) -> Iterator[tuple[str, dict]]:
    """Every key of the entries once; one that has several meanings names the entries that it is of.

    It has its default where that is the same in all entries.
    """
    meanings: dict[str, dict[str, list[tuple[str, dict]]]] = {}
    for entry in entries:
        for name, inner in _keys(entry):
            of = meanings.setdefault(name, {}).setdefault(_definition(inner), [])
            of.append((f"`{_constant(entry)[1]}`", inner))
    for name, found in meanings.items():
        for number, of in enumerate(sorted(found.values(), key=len, reverse=True)):
            part = of[0][1]
            if any(inner != part for _, inner in of):
                part = {key: value for key, value in part.items() if key != "default"} | {"default": None}
            is_of_others = len(found) == 1 or (number == 0 and len(of) > 1)
            yield name, part if is_of_others else part | {"x-of": f" of {', '.join(entry for entry, _ in of)}"}


def _keys(part: dict) -> Iterator[tuple[str, dict]]:
    """The keys of a mapping, but for the one that only says which entry of a registry it is."""
    yield from ((name, inner) for name, inner in part["properties"].items() if "const" not in inner)


def _with_default(name: str, part: dict) -> str:
    """A key as it is written with its default."""
    if "default" not in part:
        return f"`{name}` (required)"
    default = part["default"]
    if default in (None, {}) or (is_mapping(part) and not _is_open(part)):
        return f"`{name}`"
    return f"`{name}: {default if _is_plain(default) else json.dumps(default)}`"


def _is_plain(default: object) -> bool:
    """Whether YAML reads a text as it stands, without quotation marks."""
    return isinstance(default, str) and bool(re.fullmatch(r"[A-Za-z_]\w*", default)) and default not in ("null", "true")


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
            yield from _list(_keys(entries))
        for alternative in inner.get("oneOf", []):
            yield f"{alternative['title']}:\n"
            yield from _list(_keys(alternative))


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
    return {"higher": " ↑", "lower": " ↓"}[entry["x-better"]] if "x-better" in entry else ""


def _list(keys: Iterable[tuple[str, dict]], is_of_entries: bool = False) -> Iterator[str]:
    """A line for each key; what is said of a mapping with a section of its own stands there."""
    yield from (_item(name, part, is_of_entries) for name, part in keys)
    yield ""


def _item(name: str, part: dict, is_of_entries: bool) -> str:
    key = f"- {_with_default(name, part)}{part.get('x-of', '')}"
    if is_mapping(part) and not _is_open(part):
        return f"{key}: [below](#{name})"
    said = _first_sentence(part["description"]) if is_of_entries else part["description"]
    values = _values(part, said)
    return f"{key}{f' ({values})' * bool(values)}: {said}"


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


# What is allowed in few words; the page says at its beginning what a name and a line are.
SHORT = (
    (r"^null or ", ""),
    (r"^text(, not empty)?$", ""),
    (r", not empty", ""),
    (r"text of small letters, digits and _, beginning with a letter(, of at most 80 characters)?", "name"),
    (r"text of one line without \{ and \}", "line"),
    (r"an integer, at least", "integer ≥"),
    (r"a number, at least", "number ≥"),
    (r"(an|a) (integer|number), above", r"\2 >"),
    (r" and at most", ", ≤"),
    (r" and below", ", <"),
    (r"a list of (at least 1 )?(different )?values, each", "list of"),
    (r"a list of (at least \d |\d )?(different )?values, each", r"list of \1values, each"),
    (r"a mapping of names to values, each", "mapping to"),
)


def _values(part: dict, said: str) -> str:
    """What a key may have, in few words; nothing where its meaning says it already."""
    if part.get("type") == "boolean" or all(f"`{value}`" in said for value in part.get("enum", [None])):
        return ""
    values = _allowed(part)
    for pattern, words in SHORT:
        values = re.sub(pattern, words, values)
    return values


def _allowed(part: dict) -> str:
    if part.get("additionalProperties") is True:
        return "mapping to any values"
    if is_mapping(part) and _is_open(part):
        mapping = f"mapping to {allowed_values(part['additionalProperties'])}"
        return allowed_values(part).replace("a mapping of keys to values", mapping)
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    return allowed_values(part)


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
