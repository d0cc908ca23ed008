"""The configuration as JSON Schema, flat: every key stands where it is used, with type, default and description.

So editors complete keys and values from it, the Snakemake workflow catalog makes its table of options from it, and
messages and ``config/README.md`` take their words from it. Our own annotations begin with ``x-``.
"""

from functools import cache

from pydantic.json_schema import GenerateJsonSchema

from evenlight.settings import Entry, Settings


class _Flat(GenerateJsonSchema):
    """Pydantic's JSON Schema without titles that only repeat a name."""

    def field_title_should_be_set(self, schema) -> bool:
        return False


def schema_of(settings: type[Settings]) -> dict:
    """The JSON Schema of a mapping with fixed keys."""
    schema = settings.model_json_schema(schema_generator=_Flat)
    return _flat(schema, schema.get("$defs", {}))


@cache
def entry_schema(entry: type[Entry]) -> dict:
    """The JSON Schema of an entry of a registry, with what is known of the method or metric beside its keys."""
    known = {"x-family": "family", "x-asks-model": "needs_model", "x-better": "better"}
    annotations = {key: getattr(entry, name) for key, name in known.items() if hasattr(entry, name)}
    return schema_of(entry) | annotations


def _flat(part: dict, definitions: dict) -> dict:
    """``part`` with definitions and alternatives written out."""
    if "$ref" in part:
        part = definitions[part["$ref"].removeprefix("#/$defs/")] | {k: v for k, v in part.items() if k != "$ref"}
    part = {key: value for key, value in part.items() if key != "$defs" and not (key == "title" and value == "")}
    if "description" in part:
        part["description"] = " ".join(part["description"].split())
    if "patternProperties" in part:
        [(pattern, part["additionalProperties"])] = part.pop("patternProperties").items()
        part["propertyNames"] = {"type": "string", "pattern": pattern}
    for key in ("anyOf", "oneOf"):
        if key in part:
            part = _merged([_flat(alternative, definitions) for alternative in part.pop(key)]) | part
    for key in ("items", "additionalProperties"):
        if isinstance(part.get(key), dict):
            part[key] = _flat(part[key], definitions)
    if "properties" in part:
        required = part.get("required", [])
        part["properties"] = {
            name: ({} if name in required else {"default": {}}) | _flat(inner, definitions)
            for name, inner in part["properties"].items()
        }
    return {key: part[key] for key in sorted(part, key=_reading_order)}


def _reading_order(keyword: str) -> int:
    """Where a keyword stands, so that the file reads well: first what a part is, last what is in it."""
    return _KEYWORDS.index(keyword) if keyword in _KEYWORDS else len(_KEYWORDS)


_KEYWORDS = ("title", "description", "type", "const", "enum", "default", "required", "additionalProperties")


def _merged(alternatives: list[dict]) -> dict:
    """Alternatives as one part: mappings as ``oneOf``, values of other types side by side.

    A keyword of JSON Schema says something of one type only, so an integer of at least 1 or null is
    ``{type: [integer, "null"], minimum: 1}``.
    """
    kinds: list[str] = []  # an alternative may itself have several
    for alternative in alternatives:
        kinds += [alternative["type"]] if isinstance(alternative["type"], str) else alternative["type"]
    if set(kinds) == {"object"}:
        return {"type": "object", "oneOf": alternatives}
    merged = {key: value for alternative in alternatives for key, value in alternative.items()}
    return merged | {"type": kinds}
