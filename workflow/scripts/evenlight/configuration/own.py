"""Classes of a user's own as entries of the registries, made when a configuration names them."""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import create_model
from pydantic.errors import PydanticUserError

from evenlight.configuration.explainers import Explainer
from evenlight.configuration.metrics import Metric
from evenlight.configuration.readers import Reader
from evenlight.configuration.settings import Entry, Settings
from evenlight.core.errors import InputError, first_line
from evenlight.jobs import own_files

REGISTRIES: dict[str, type[Entry]] = {"datasets": Reader, "explainers": Explainer, "metrics": Metric}
BUILTIN = {section: frozenset(registry.entries) for section, registry in REGISTRIES.items()}
BETTER = ("higher", "lower")
TYPES = "allowed are bool, int, float, str, Literal of texts, list and dict of these, each also with None"


def register(config: Mapping) -> dict[str, str]:
    """Make entries of the classes of one's own that a configuration names; by dotted key, what is wrong with others."""
    problems: dict[str, str] = {}
    for section, entry, name in own_files.named(config, BUILTIN):
        try:
            registered(section, name, own_files.class_of(section, name))
        except InputError as error:
            problems[f"{section}.{entry}.{own_files.KEYS[section]}"] = str(error)
    return problems


def kept(section: str, part: type[Entry]) -> str:
    """The name under which a class that a notebook has made is an entry.

    Raises:
        InputError: it is no class of one's own of this section, lacks a function, or has the name of a built-in one.
    """
    if getattr(part, "__name__", "") in BUILTIN[section]:
        raise InputError(f"{part.__name__} is the name of a built-in one; give the class another name")
    name = own_files.keep_class(section, part)
    registered(section, name, part)
    return name


def registered(section: str, name: str, part: type[Entry]) -> type[Entry]:
    """The entry of a registry that a class is under a name.

    Raises:
        InputError: a tag has a value that it cannot have, or a field is of a type that no configuration can hold.
    """
    registry = REGISTRIES[section]
    known = registry.entries.get(name)
    if known is not None and issubclass(known, part):
        return known
    if section == "metrics" and getattr(part, "better", None) not in BETTER:
        found = getattr(part, "better", None)
        raise InputError(f'{name}: better is {found!r}; set `better: ClassVar[str] = "higher"`, or "lower"')
    try:
        part.model_rebuild()
    except PydanticUserError as error:
        raise InputError(f"{name}: a field cannot be read ({first_line(error)}); {TYPES}") from None
    for field, about in part.model_fields.items():
        if not is_plain(about.annotation):
            raise InputError(f"{name}: field {field} is {about.annotation}; {TYPES}")
    key = {registry.key: (Literal[name], ...)}
    made = create_model(part.__name__, __base__=part, __module__=part.__module__, **key)
    made.__doc__ = part.__doc__
    made.family = own_files.own_family(name)
    made.title = getattr(part, "title", part.__name__)
    registry.entries[name] = made
    return made


def is_plain(annotation: object) -> bool:
    """Whether a configuration can hold values of a type, and jobs are told them as JSON.

    >>> is_plain(int | None), is_plain(list[str]), is_plain(tuple[int, int]), is_plain(dict)
    (True, True, False, False)
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return is_plain(inner[0])
    if origin is Literal:
        return all(isinstance(value, str) for value in inner)
    if origin in (Union, UnionType):
        return sum(each is not NoneType for each in inner) == 1 and all(map(is_plain, inner))
    if origin in (list, dict):
        return all(map(is_plain, inner))
    return annotation in (bool, int, float, str, NoneType) or (
        isinstance(annotation, type) and issubclass(annotation, Settings)
    )
