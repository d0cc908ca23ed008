"""What is wrong with a configuration, in the reader's words: key, value found, what is allowed."""

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evenlight.core.errors import suggestion
from evenlight.jobs import own_files
from evenlight.settings import TAGS, Settings, shown
from evenlight.settings.schema import schema_of


def problems_of(error: ValidationError, config: dict, settings: type[Settings]) -> list[str]:
    """The problems that pydantic found in ``config``, each at its own key, in the reader's words.

    Args:
        error: what was found.
        config: what was checked.
        settings: what it should be.
    """
    schema = schema_of(settings)
    problems = [_problem(problem, config, schema) for problem in error.errors(include_url=False)]
    return [f"{key}: {said}" for key, said in problems]


def _problem(problem: ErrorDetails, config: dict, schema: dict) -> tuple[str, str]:
    """The dotted key of a problem, and what is said of it."""
    kind, value = problem["type"], problem["input"]
    *path, last = problem["loc"]
    if last == "[key]":
        key, part, _ = _place(path[:-1], config, schema)
        allowed = allowed_values({"type": "string"} | part["propertyNames"])
        remedy = _as_text(value) if isinstance(value, int | float) else ""
        # Of a name that is a truth value pydantic's place has a number.
        return dotted(
            key, shown(value).strip('"')
        ), f"the name {shown(value)} is not allowed; allowed is {allowed}{remedy}"
    if kind in ("extra_forbidden", "unexpected_keyword_argument", "invalid_key"):
        key, part, mapping = _place(path, config, schema)
        known = _alternative(part, mapping)["properties"]
        return dotted(key, last), f"unknown key; allowed here: {', '.join(known)}{suggestion(last, known)}"
    key, part, given = _place(problem["loc"], config, schema)
    if kind == "combination":
        return key, problem["ctx"]["said"]
    if kind in ("value_error", "assertion_error"):  # of a class of one's own; ours say more
        return key, f"found {shown(value)}; {problem['ctx']['error']}"
    if kind == "missing":
        return key, f"is missing; required is {allowed_values(part)}{_such_as(part)}"
    if kind == "too_short" and isinstance(value, dict):
        return key, f"is empty; give at least {part['minProperties']} entry"
    if kind == "entry":
        return _no_entry(key, value, part, problem["ctx"]["key"])
    if kind == "alternative":
        choice = " or ".join("/".join(alternative["properties"]) for alternative in part["oneOf"])
        return key, wrong(value, f"a mapping with either {choice}")
    if kind == "different":
        twice = next(element for position, element in enumerate(value) if element in value[:position])
        return key, wrong(value, allowed_values(part), f"; {shown(twice)} stands there more than once")
    if isinstance(value, float) and isinstance(given, int):
        value = given  # as it was written
    remedy = suggestion(value, part.get("enum", ())) or _such_as(part, value)
    if "string" in _kinds(part) and isinstance(value, int | float):
        remedy = _as_text(value)
    return key, wrong(value, allowed_values(part), remedy)


def _as_text(value: float) -> str:
    """How a text is written that YAML has read as a number or as a truth value.

    >>> _as_text(3), _as_text(False)
    ('; put it in quotes', ', which is how YAML reads no, off and false; put it in quotes, such as "no"')
    """
    if not isinstance(value, bool):
        return "; put it in quotes"
    words = ("yes", "on", "true") if value else ("no", "off", "false")
    return f', which is how YAML reads {words[0]}, {words[1]} and {words[2]}; put it in quotes, such as "{words[0]}"'


def _no_entry(key: str, value: dict, part: dict, discriminator: str) -> tuple[str, str]:
    entries = [entry["properties"][discriminator]["const"] for entry in part["oneOf"]]
    choice = allowed_values({"enum": entries})
    key = dotted(key, discriminator)
    if discriminator not in value:
        return key, f"is missing; required is {choice}"
    named = value[discriminator]
    return key, wrong(named, choice, suggestion(named, [*entries, *own_files.installed(discriminator)]))


def _place(path, config, schema: dict) -> tuple[str, dict, object]:
    """The dotted key of a place in the configuration, the part of the schema that describes it, and the value there."""
    key, part, value = "", schema, config
    for step in path:
        if step in TAGS:
            continue
        part = _alternative(part, value)
        if "items" in part and isinstance(step, int):
            key, part = f"{key}[{step}]", part["items"]
            value = value[step] if isinstance(value, list) else None
            continue
        key = dotted(key, step)
        part = part.get("properties", {}).get(step) or part["additionalProperties"]
        value = value.get(step) if isinstance(value, dict) else None
    return key, part, value


def _alternative(part: dict, value) -> dict:
    """The alternative of a mapping that ``value`` names by its keys."""
    if "oneOf" not in part or not isinstance(value, dict):
        return part
    named = [
        alternative
        for alternative in part["oneOf"]
        if all(
            value.get(name) == inner["const"] for name, inner in alternative["properties"].items() if "const" in inner
        )
    ]
    return next((each for each in named if value.keys() <= each["properties"].keys()), named[0])


def dotted(key: str, name) -> str:
    """The dotted key of ``name`` below ``key``."""
    return f"{key}.{name}" if key else str(name)


def wrong(value, allowed: str, remedy: str = "") -> str:
    """What is said of a value that is not allowed."""
    return f"found {shown(value)}; allowed is {allowed}{remedy}"


# What is allowed, in words ---------------------------------------------------------------------------------------


def allowed_values(part: dict) -> str:
    """What a part of the schema allows, in words, for messages and for the documentation."""
    if "enum" in part:
        *others, last = part["enum"]
        return f"{', '.join(others)} or {last}" if others else last
    kinds = _kinds(part)
    phrases = [_PHRASES[kind](part) for kind in kinds if kind != "null"]
    return " or ".join(["null"] * ("null" in kinds) + phrases)


def _such_as(part: dict, value=None) -> str:
    """How a mapping is written in the place of ``value``; nothing where other kinds or no keys are allowed, too."""
    form = _form(part, value) if set(_kinds(part)) <= {"object", "null"} else "{}"
    return "" if form == "{}" else f", such as {form}"


def _form(part: dict, value=None) -> str:
    """A value that a part of the schema allows, in YAML on one line, with dots for what is the reader's to say."""
    if "array" in _kinds(part):
        return f"[{', '.join([_form(part['items'])] * part.get('minItems', 1))}]"
    if "object" not in _kinds(part):
        return part.get("const", "...")
    if isinstance(part.get("additionalProperties"), dict):
        return f"{{<name>: {_form(part['additionalProperties'])}}}"
    if "oneOf" not in part:
        required = ((name, part["properties"][name]) for name in part.get("required", ()))
        return f"{{{', '.join(f'{name}: {_form(inner)}' for name, inner in required)}}}"
    # Entries of a registry have one key in common that says which they are; alternatives have none.
    named = [
        each for each in part["oneOf"] if value in [inner.get("const", ()) for inner in each["properties"].values()]
    ]
    return _form((named or part["oneOf"])[0])


def is_mapping(part: dict) -> bool:
    """Whether a part of the schema is a mapping of keys, possibly one that may be left out."""
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
        return _PATTERNS.get(part["pattern"], f"text like {part['pattern']}")
    return "text, not empty" if "minLength" in part else "text"


def _list(part: dict) -> str:
    least, most = part.get("minItems", 0), part.get("maxItems")
    size = f"{least} " if least == most else f"at least {least} " if least else ""
    different = "different " if part.get("uniqueItems") else ""
    return f"a list of {size}{different}values, each {allowed_values(part['items'])}"


_NAME = "text of small letters, digits and _, beginning with a letter"
_PATTERNS = {
    r"^[a-z][a-z0-9_]{0,79}$": f"{_NAME}, of at most 80 characters",
    r"^[a-z][a-z0-9_]*(\+[a-z][a-z0-9_]*)*$": f"{_NAME}, or such names joined by +",
    r"^[^<>\x00-\x1f\x7f]+$": "text of one line without < and >, not empty",
    r"^[^{}\x00-\x1f\x7f]+$": "text of one line without { and }, not empty",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "the name of a variable: letters, digits and _",
    r"^[A-Za-z0-9-]+: ?[\x20-\x7e]*\{key\}[\x20-\x7e]*$": "a header such as X-Api-Key: {key}, with {key} in it",
    r"^[a-z]{2,3}$": "text of two or three small letters",
    r"^(higher|lower)$": "higher or lower",
}

_PHRASES = {
    "string": _text,
    "integer": lambda part: f"an integer{_bounds(part)}",
    "number": lambda part: f"a number{_bounds(part)}",
    "array": _list,
    "boolean": lambda part: "true or false",
    "object": lambda part: "a mapping of keys to values",
}
