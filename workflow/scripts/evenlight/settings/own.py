"""Classes of a user's own as entries of a registry, made when they are named first."""

from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import create_model
from pydantic.errors import PydanticUserError

from evenlight.core.errors import InputError, first_line
from evenlight.jobs import own_files
from evenlight.settings import Entry, Settings

TYPES = "allowed are bool, int, float, str, Literal of texts, list and dict of these, each also with None"


def registered(registry: type[Entry], name: str, part: type[Entry]) -> type[Entry]:
    """The entry of a registry that a class is under a name.

    Raises:
        InputError: a tag has a value that it cannot have, or a field is of a type that no configuration can hold.
    """
    known = registry.entries.get(name)
    if known is not None and issubclass(known, part):
        return known
    part.check_own(name)
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
