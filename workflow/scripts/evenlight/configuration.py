"""The configuration: checked against its schema, completed with the defaults, and asked about what it names.

The schema (``config/schemas/config.schema.yaml``) is JSON Schema with a few annotations of our own; it says
what exists and what each key may hold. Here it is walked key by key instead of being handed to ``jsonschema``
as a whole, so that every problem is reported at its own key and in the reader's words; ``jsonschema``
decides about single values.
"""

import copy
import difflib
import json
import math
import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import combinations
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from evenlight.errors import InputError

SCHEMA = Path(__file__).resolve().parents[3] / "config" / "schemas" / "config.schema.yaml"

# Columns of the score tables that are no metric (``tables.SCORES``, which this module does without because
# it would bring pandas into every start of the workflow; a test holds the two in agreement).
SCORE_COLUMNS = ("item_id", "pair_id", "group", "explainer")

# YAML 1.1, which Snakemake reads, takes 1e-3 for text; ``--config seeds='[0, 1]'`` makes text of everything.
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def _is_finite_number(checker, value) -> bool:
    return Draft202012Validator.TYPE_CHECKER.is_type(value, "number") and (
        isinstance(value, int) or math.isfinite(value)
    )


# JSON has neither NaN nor infinity, but YAML does (.nan, .inf), and NaN is outside no bounds.
Validator = extend(
    Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine("number", _is_finite_number)
)


@cache
def load_schema(path: str | Path = SCHEMA) -> dict:
    """Read the schema of the configuration; the result is shared and must not be changed."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: the schema of the configuration cannot be read ({error.strerror})") from None
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def complete(config: dict, schema: dict | None = None) -> dict:
    """Check ``config`` and return a new dict in which every key that was left out has its default.

    Numbers are brought to the type that the schema asks for (``0`` to ``0.0``, ``"1e-3"`` to ``0.001``), so
    that two spellings of one value are one setting. Raises InputError with every problem found, each with
    its dotted key, the value found and what is allowed.
    """
    schema = schema or load_schema()
    if not isinstance(config, dict):
        raise InputError(f"the configuration is {_shown(config)}; it must be a mapping of keys to values")
    problems: list[str] = []
    completed = _completed(config, schema, "", schema, problems)
    for sections, check in _COMBINATIONS:
        # A combination can be judged only where its parts are sound.
        if not any(re.match(rf"{section}\b", problem) for section in sections for problem in problems):
            problems.extend(check(completed, schema))
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = "".join(f"\n  {problem}" for problem in problems)
        raise InputError(f"the configuration has {count} (config/README.md describes every key):{lines}")
    for section in ("explainers", "metrics"):
        for name, label in _labels(section, completed, schema).items():
            completed[section][name]["label"] = label
    return completed


# Questions about a complete configuration ------------------------------------------------------------------------


def explainer_families(config: dict, schema: dict | None = None) -> dict[str, list[str]]:
    """The explainers of a complete configuration by family; a family's explainers are computed together."""
    return _families(config["explainers"], registry(schema or load_schema(), "explainers"), "method")


def metric_families(config: dict, schema: dict | None = None) -> dict[str, list[str]]:
    """The metrics of a complete configuration by family; a family is one table of scores."""
    return _families(config["metrics"], registry(schema or load_schema(), "metrics"), "metric")


def metric_annotations(config: dict, schema: dict | None = None) -> dict[str, dict[str, str]]:
    """For each metric of a complete configuration its ``metric``, ``label``, ``family`` and what is ``better``."""
    entries = registry(schema or load_schema(), "metrics")
    return {
        name: {
            "metric": settings["metric"],
            "label": settings["label"],
            "better": entries[settings["metric"]]["x-better"],
            "family": entries[settings["metric"]]["x-family"],
        }
        for name, settings in config["metrics"].items()
    }


def asks_model(section: str, family: str, schema: dict | None = None) -> bool:
    """Whether a family of ``explainers`` or ``metrics`` asks the trained model, as opposed to data or scores alone."""
    entries = registry(schema or load_schema(), section).values()
    return any(entry.get("x-asks-model", True) for entry in entries if entry["x-family"] == family)


def on_dataset(settings: dict, key: str, dataset: str) -> dict:
    """``settings`` with the value of ``key`` for one dataset: that of ``<key>_on`` where it names the dataset.

    >>> on_dataset({"epochs": 20, "epochs_on": {"compas": 5}}, "epochs", "compas")
    {'epochs': 5}
    """
    own = settings[f"{key}_on"]
    return {name: value for name, value in settings.items() if name != f"{key}_on"} | {
        key: own.get(dataset, settings[key])
    }


def without_labels(entries: dict[str, dict]) -> dict[str, dict]:
    """The same explainers or metrics without what changes a heading only, so that a new label computes nothing."""
    return {
        name: {key: value for key, value in settings.items() if key != "label"} for name, settings in entries.items()
    }


def _families(configured: dict, entries: dict, discriminator: str) -> dict[str, list[str]]:
    families: dict[str, list[str]] = {}
    for name, settings in configured.items():
        families.setdefault(entries[settings[discriminator]]["x-family"], []).append(name)
    return families


# The schema ------------------------------------------------------------------------------------------------------


def registry(schema: dict, name: str) -> dict[str, dict]:
    """The entries of one registry: readers, architectures, explainers or metrics."""
    return schema["$defs"][name]


def resolved(part: dict, schema: dict) -> dict:
    """``part`` with the definition that its ``$ref`` names laid under it."""
    if "$ref" not in part:
        return part
    definition = schema
    for step in part["$ref"].removeprefix("#/").split("/"):
        definition = definition[step]
    own = {key: value for key, value in part.items() if key != "$ref"}
    return resolved(definition, schema) | own


def allowed_values(part: dict) -> str:
    """What a (resolved) part of the schema allows, in words, for messages and for the documentation."""
    if "enum" in part:
        *others, last = part["enum"]
        return f"{', '.join(others)} or {last}" if others else last
    kinds = _kinds(part)
    phrases = [_PHRASES[kind](part) for kind in kinds if kind != "null"]
    return " or ".join(["null"] * ("null" in kinds) + phrases)


def is_mapping(part: dict) -> bool:
    """Whether a (resolved) part of the schema is a mapping of keys, possibly one that may be left out."""
    return "object" in _kinds(part)


def _kinds(part: dict) -> list[str]:
    kind = part.get("type", [])
    return [kind] if isinstance(kind, str) else kind


def _bounds(part: dict) -> str:
    """The bounds of a number, such as ``, above 0 and below 0.5``."""
    words = {
        "minimum": "at least",
        "exclusiveMinimum": "above",
        "maximum": "at most",
        "exclusiveMaximum": "below",
    }
    bounds = [f"{word} {part[key]}" for key, word in words.items() if key in part]
    return f", {' and '.join(bounds)}" if bounds else ""


def _text(part: dict) -> str:
    if "pattern" in part:
        return f"text of the form {part['pattern']}"
    return "text, not empty" if "minLength" in part else "text"


def _list(part: dict) -> str:
    least, most = part.get("minItems", 0), part.get("maxItems")
    size = f"{least} " if least == most else f"at least {least} " if least else ""
    different = "different " if part.get("uniqueItems") else ""
    return f"a list of {size}{different}values, each {allowed_values(part['items'])}"


_PHRASES = {
    "string": _text,
    "integer": lambda part: f"an integer{_bounds(part)}",
    "number": lambda part: f"a number{_bounds(part)}",
    "array": _list,
    "boolean": lambda part: "true or false",
    "object": lambda part: "a mapping of keys to values",
}


# Checking and completing -----------------------------------------------------------------------------------------


def _completed(value, part: dict, key: str, schema: dict, problems: list[str]):
    """``value`` checked against one part of the schema and completed; what is wrong goes to ``problems``."""
    part = resolved(part, schema)
    if not is_mapping(part) or (value is None and "null" in _kinds(part)):
        return _completed_value(value, part, key, problems)
    if not isinstance(value, dict):
        problems.append(_wrong(key, value, allowed_values(part)))
        return value
    if "x-registry" in part:
        part = _registered(value, part, key, schema, problems)
    elif "oneOf" in part:
        part = _alternative(value, part, key, problems)
    return _completed_mapping(value, part, key, schema, problems) if part else value


def _registered(value: dict, part: dict, key: str, schema: dict, problems: list[str]) -> dict | None:
    """The registry's entry that ``value`` names, such as the explainer of its ``method``."""
    entries = registry(schema, part["x-registry"])
    discriminator = part["x-discriminator"]
    named = value.get(discriminator)
    if isinstance(named, str) and named in entries:
        return entries[named]
    choice = allowed_values({"enum": list(entries)})
    if discriminator in value:
        problems.append(_wrong(f"{key}.{discriminator}", named, choice, _suggestion(named, entries)))
    else:
        problems.append(f"{key}.{discriminator}: is missing; required is {choice}")
    return None


def _alternative(value: dict, part: dict, key: str, problems: list[str]) -> dict | None:
    """The first alternative that has all the keys of ``value``."""
    for alternative in part["oneOf"]:
        if value.keys() <= alternative["properties"].keys():
            return alternative
    choice = " or ".join("/".join(alternative["properties"]) for alternative in part["oneOf"])
    problems.append(_wrong(key, value, f"a mapping with either {choice}"))
    return None


def _completed_mapping(value: dict, part: dict, key: str, schema: dict, problems: list[str]) -> dict:
    properties = part.get("properties", {})
    entries = part.get("additionalProperties") or None
    completed = {}
    for name, settings in value.items():
        if name in properties:
            continue
        inner = _joined(key, name)
        if entries is None:
            suggestion = _suggestion(name, properties)
            problems.append(f"{inner}: unknown key; allowed here: {', '.join(properties)}{suggestion}")
            continue
        form = resolved(part["propertyNames"], schema)
        if not Validator(form).is_valid(name):
            problems.append(f"{inner}: the name {_shown(name)} is not allowed; allowed is {allowed_values(form)}")
        completed[name] = _completed(settings, entries, inner, schema, problems)
    if len(value) < part.get("minProperties", 0):
        problems.append(f"{key}: is empty; give at least {part['minProperties']} entry")
    for name, inner_part in properties.items():
        inner, inner_part = _joined(key, name), resolved(inner_part, schema)
        if name in value:
            completed[name] = _completed(value[name], inner_part, inner, schema, problems)
        elif "default" in inner_part:
            default = copy.deepcopy(inner_part["default"])
            completed[name] = _completed(default, inner_part, inner, schema, problems)
        else:
            problems.append(f"{inner}: is missing; required is {allowed_values(inner_part)}")
    return completed


def _completed_value(value, part: dict, key: str, problems: list[str]):
    value = _typed(value, part)
    for error in Validator(part).iter_errors(value):
        place = key + "".join(f"[{position}]" for position in error.absolute_path)
        suggestion = _suggestion(error.instance, error.schema.get("enum", ()))
        if "string" in _kinds(error.schema) and isinstance(error.instance, int | float):
            suggestion = "; put it in quotes"
        problem = _wrong(place, error.instance, allowed_values(error.schema), suggestion)
        if problem not in problems:
            problems.append(problem)
    return value


def _typed(value, part: dict):
    """``value`` in the type that the schema asks for, where it is a spelling of such a value; else unchanged."""
    kinds = _kinds(part)
    if isinstance(value, list) and "items" in part:
        return [_typed(element, part["items"]) for element in value]
    if value == "null" and "null" in kinds:
        return None
    if value in ("true", "false") and "boolean" in kinds:
        return value == "true"
    if isinstance(value, str) and "enum" not in part and "string" not in kinds and NUMBER.fullmatch(value):
        value = int(value) if re.fullmatch(r"[-+]?\d{1,15}", value) else float(value)
    if isinstance(value, int) and not isinstance(value, bool) and "number" in kinds and abs(value) < 2**53:
        return float(value)
    if isinstance(value, float) and "integer" in kinds and value.is_integer():
        return int(value)
    return value


def _joined(key: str, name) -> str:
    return f"{key}.{name}" if key else str(name)


def _shown(value) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _wrong(key: str, value, allowed: str, suggestion: str = "") -> str:
    return f"{key}: found {_shown(value)}; allowed is {allowed}{suggestion}"


def _suggestion(name, candidates) -> str:
    close = difflib.get_close_matches(str(name), list(candidates), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _labels(section: str, config: dict, schema: dict) -> dict[str, str]:
    """The headings of all explainers (when not given: their names) or all metrics (their titles)."""
    titles = {metric: entry["title"] for metric, entry in registry(schema, "metrics").items()}
    return {
        name: settings["label"] or titles.get(settings.get("metric"), name)
        for name, settings in config[section].items()
    }


# Combinations of keys that the schema cannot express ---------------------------------------------------------------


def _check_study(config: dict, schema: dict) -> Iterator[str]:
    if config["study"] == "sources":
        yield 'study: found "sources", where all studies keep their downloads; choose another name'


def _check_corpus(config: dict, schema: dict) -> Iterator[str]:
    if config["corpus"] is None:
        return
    fetch, parser, annotation = (config["corpus"][section] for section in ("fetch", "parser", "annotation"))
    if fetch["contact"] is None and fetch["serve"] is None and fetch["browser"] != "none":
        yield "corpus.fetch.contact: is missing; required is an address under which the sites' operators reach you"
    if parser["grammar"] and parser["treebank"]:
        yield "corpus.parser.grammar: found beside treebank; give one of the two"
    if (annotation["resolution"] == "adjudication") != (annotation["adjudication"] is not None):
        yield (
            f"corpus.annotation.adjudication: found {_shown(annotation['adjudication'])} with resolution "
            f'"{annotation["resolution"]}"; give a file with the resolution adjudication, and only with it'
        )


def _check_models(config: dict, schema: dict) -> Iterator[str]:
    for name, model in config["models"].items():
        if model["architecture"] == "bert" and model["hidden_size"] % model["heads"]:
            yield (
                f"models.{name}.heads: found {model['heads']}, which does not divide hidden_size "
                f"({model['hidden_size']}); allowed are its divisors"
            )


def _check_numbers_on_datasets(config: dict, schema: dict) -> Iterator[str]:
    places = {
        f"models.{name}.training.epochs_on": model["training"]["epochs_on"] for name, model in config["models"].items()
    }
    for key, numbers in (places | {"explain.pairs_on": config["explain"]["pairs_on"]}).items():
        for name in numbers:
            if name not in config["datasets"]:
                suggestion = _suggestion(name, config["datasets"])
                yield f"{key}.{name}: no such dataset; the study has {', '.join(config['datasets'])}{suggestion}"


def _check_labels(section: str, config: dict, schema: dict) -> Iterator[str]:
    """Two entries under one heading could not be told apart in a table."""
    first_with: dict[str, str] = {}
    for name, label in _labels(section, config, schema).items():
        first = first_with.setdefault(label, name)
        if first != name:
            heading = f"{_shown(label)} is the heading of {section}.{first} too"
            yield f"{section}.{name}.label: {heading}; give one of the two another label"


def _check_metrics(config: dict, schema: dict) -> Iterator[str]:
    for name, metric in config["metrics"].items():
        if name in SCORE_COLUMNS:
            yield f"metrics.{name}: this name is a column of every score table; choose another name"
        shares = metric.get("shares", [])
        if shares != sorted(shares):
            yield f"metrics.{name}.shares: found {_shown(shares)}; allowed is an ascending list"


def _check_groups(config: dict, schema: dict) -> Iterator[str]:
    for (i, earlier), (j, later) in combinations(enumerate(config["statistics"]["groups"]), 2):
        if set(earlier) == set(later):
            yield f"statistics.groups[{j}]: found {_shown(later)}, the same groups as in statistics.groups[{i}]"
    for model in config["statistics"]["published"]:
        if model not in config["models"]:
            there = f"{', '.join(config['models'])}{_suggestion(model, config['models'])}"
            yield f"statistics.published.{model}: no such model; the study has {there}"


def _check_groups_of_datasets(config: dict, schema: dict) -> Iterator[str]:
    # Imported here: the readers stand after the configuration, and only this question needs them.
    from evenlight.datasets import READERS

    # Until the comparisons name their factor, they are of the first one of each dataset.
    factors = {name: READERS[settings["reader"]].factors(settings) for name, settings in config["datasets"].items()}
    groups = {name: next(iter(present.values()), []) for name, present in factors.items()}
    listing = "; ".join(f"datasets.{name} has {', '.join(present)}" for name, present in groups.items())
    known = {group for present in groups.values() for group in present}
    for position, compared in enumerate(config["statistics"]["groups"]):
        key = f"statistics.groups[{position}]"
        unknown = [group for group in compared if group not in known]
        for group in unknown:
            yield f"{key}: found {_shown(group)}, which no dataset has; {listing}{_suggestion(group, known)}"
        # A larger set is tested as soon as three of its groups are there.
        needed, what = (2, "both") if len(compared) == 2 else (3, "three of them")
        if not unknown and not any(len(set(compared) & set(present)) >= needed for present in groups.values()):
            yield f"{key}: found {_shown(compared)}, and no dataset has {what}; {listing}"


_COMBINATIONS = (
    (("study",), _check_study),
    (("corpus",), _check_corpus),
    (("models",), _check_models),
    (("datasets", "models", "explain"), _check_numbers_on_datasets),
    (("explainers",), partial(_check_labels, "explainers")),
    (("metrics",), partial(_check_labels, "metrics")),
    (("metrics",), _check_metrics),
    (("models", "statistics"), _check_groups),
    (("datasets", "statistics"), _check_groups_of_datasets),
)
