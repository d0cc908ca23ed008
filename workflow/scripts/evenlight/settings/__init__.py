"""What all settings have in common: strict types, the spellings that YAML and the command line bring, registries."""

import json
import os.path
import re
import types
import warnings
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    ValidationError,
    WrapValidator,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.errors import PydanticUserError
from pydantic_core import InitErrorDetails, PydanticCustomError

from evenlight.core.addresses import secrets_in, without_secrets
from evenlight.core.errors import InputError, first_line
from evenlight.core.sources import is_address
from evenlight.jobs import own_files

# YAML 1.1, which Snakemake reads, takes 1e-3 for text; ``--config seeds='[0, 1]'`` makes text of everything.
SPELLED_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")

# Tags of a value that may be of one of two kinds; pydantic puts them into the place of an error.
NUMBER, MAPPING, TEXT, LIST = TAGS = ("(number)", "(mapping)", "(text)", "(list)")
# Of a text, or a list of them.
TEXT_OR_LIST = Discriminator(lambda value: LIST if isinstance(value, list) else TEXT)

# The largest seed that numpy and torch take.
LARGEST_SEED = 2**32 - 1


# A service, or a class of a user's own, has a key of this name; of services the version of their stages is raised.
warnings.filterwarnings("ignore", 'Field name "version" in .* shadows an attribute in parent')


class Settings(BaseModel):
    """A mapping with fixed keys. A subclass has one field per key, and its docstring says what the mapping is.

    Every field has a description. Classes are built when they are first needed, since a study needs few of them.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        # JSON has neither NaN nor infinity, but YAML does (.nan, .inf), and NaN is outside no bounds.
        allow_inf_nan=False,
        defer_build=True,
        model_title_generator=lambda settings: getattr(settings, "title", ""),
    )

    @field_validator("*", mode="before")
    @classmethod
    def _typed(cls, value, info):
        return typed(value, cls.model_fields[info.field_name].annotation)


class Entry(Settings):
    """One entry of a registry. The class below it is the registry; the classes below that are its entries.

    A mapping is checked against the entry that its ``key`` names: of a class with ``method: Literal["lime"]`` are
    the mappings with ``method: lime``. Entries register themselves, in the order in which they are written.

    A class has settings, tags, documentation, source and code of its entry. Its module imports at its head only what
    is light (no numpy, no torch), as Snakemake reads all classes; what computes is imported inside of the methods.

    Attributes:
        section: of the configuration, in which its entries stand.
        key: the field that names the entry.
        entries: the entries of a registry by name.
        title: the entry's name for readers.
        version: raised by one when the numbers that it gives change, which makes again what used it.
        is_own: whether the class is of a user's own file, by whose name an entry is made of it (``registered``).
    """

    section: ClassVar[str]
    key: ClassVar[str]
    entries: ClassVar[dict[str, type[Self]]]
    title: ClassVar[str]
    version: ClassVar[int] = 1
    is_own: ClassVar[bool] = False

    @classmethod
    def __pydantic_init_subclass__(cls: type[Self], **more: Any) -> None:
        """Register the class, if it is an entry."""
        super().__pydantic_init_subclass__(**more)
        # No class of anybody else takes the place of a built-in one.
        if cls.is_entry() and not cls.is_own:
            cls.entries.setdefault(get_args(cls.model_fields[cls.key].annotation)[0], cls)

    @classmethod
    def parse(cls, settings: Mapping[str, Any]) -> Self:
        """The entry of a registry that completed settings describe, as jobs are given them; also of a user's own class.

        Raises:
            InputError: a value is not allowed, as in a file of an earlier version; or a user's class cannot be read.
        """
        from evenlight.settings.problems import problems_of

        name = settings[cls.key]
        if name not in cls.entries and own_files.is_own(cls.section, name):
            registered(cls, name, own_files.class_of(cls.section, name))
        if name not in cls.entries:
            raise InputError(f"{cls.key}: found {shown(name)}; allowed is one of {', '.join(cls.entries)}")
        try:
            return cls.entries[name].model_validate(dict(settings))
        except ValidationError as error:
            problems = problems_of(error, dict(settings), cls.entries[name])
            raise InputError(f"{name}: {'; '.join(problems)}") from None

    @classmethod
    def parse_all(cls, settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Self]:
        """The entries that a job is given, by their names; see :meth:`parse`."""
        return {name: cls.parse(each) for name, each in settings.items()}

    @classmethod
    def check_own(cls, name: str) -> None:
        """Refuse a class of a user's own that lacks a tag, or has one with a value that it cannot have."""

    @classmethod
    def is_entry(cls) -> bool:
        """Whether the class is an entry, and not a registry or what several entries have in common."""
        return hasattr(cls, "key") and get_origin(cls.model_fields[cls.key].annotation) is Literal

    @model_validator(mode="wrap")
    @classmethod
    def _as_entry(cls, value, handler):
        if cls.is_own:
            return cls._as_own(value, handler)
        if cls.is_entry():
            return handler(value)
        if not isinstance(value, dict):
            raise PydanticCustomError("mapping", "no mapping")
        name = value.get(cls.key)
        if not isinstance(name, str) or name not in cls.entries:
            raise PydanticCustomError("entry", "no such entry", {"key": cls.key})
        return cls.entries[name].model_validate(value)

    @classmethod
    def _as_own(cls, value, handler):
        """Validators of a user's own may raise anything."""
        try:
            return handler(value)
        except ValidationError:
            raise
        except Exception as error:
            said = f"{type(error).__name__}: {error} (in a validator of {cls.__name__})"
            raise refusal(((), said)) from None

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema, handler) -> dict:
        """A registry is one of its entries."""
        if cls.is_entry():
            return handler(core_schema)
        from evenlight.settings.schema import entry_schema

        return {"type": "object", "oneOf": [entry_schema(entry) for entry in cls.entries.values()]}


class Method(Entry):
    """An explainer or a metric. The methods of one module are a family, with the module's name, and are computed in one
    job.

    Attributes:
        family: the module; of a class of a user's own a name of its own, since nothing is shared.
    """

    family: ClassVar[str]

    @classmethod
    def __pydantic_init_subclass__(cls, **more: Any) -> None:
        """Register the class, if it is an entry, in its family."""
        super().__pydantic_init_subclass__(**more)
        if cls.is_entry() and not hasattr(cls, "family"):
            cls.family = cls.__module__.rpartition(".")[2]

    @classmethod
    def check_own(cls, name: str) -> None:
        """Refuse a class of a user's own with a field that has another meaning in every entry."""
        ours = next(
            part for part in cls.__mro__ if issubclass(part, Settings) and part.__module__.startswith("evenlight.")
        )
        for field in ("label", "datasets"):
            given, theirs = cls.model_fields.get(field), ours.model_fields.get(field)
            if given and (theirs is None or given.annotation != theirs.annotation):
                raise InputError(f"{name}: field {field} has a name that each entry has; give it another one")


def typed(value, annotation):
    """``value`` in the type of a field, where it is a spelling of such a value; else unchanged.

    >>> typed("1e-3", float), typed(["1", 2.0], list[int]), typed("null", str | None)
    (0.001, [1, 2], None)
    """
    kinds = {get_origin(kind) or kind: kind for kind in _alternatives(annotation)}
    if isinstance(value, list) and list in kinds:
        return [typed(element, *get_args(kinds[list])) for element in value]
    if isinstance(value, dict) and dict in kinds:
        return {name: typed(element, get_args(kinds[dict])[1]) for name, element in value.items()}
    if value == "null" and types.NoneType in kinds:
        return None
    if value in ("true", "false") and bool in kinds:
        return value == "true"
    if isinstance(value, str) and kinds.keys() & {int, float} and str not in kinds and SPELLED_NUMBER.fullmatch(value):
        value = int(value) if re.fullmatch(r"[-+]?\d{1,15}", value) else float(value)
    if isinstance(value, int) and not isinstance(value, bool) and float in kinds and abs(value) < 2**53:
        return float(value)
    if isinstance(value, float) and int in kinds and value.is_integer():
        return int(value)
    return value


def _alternatives(annotation) -> list:
    """The types that an annotation allows, without what ``Annotated`` says of them."""
    if get_origin(annotation) is Annotated:
        return _alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [kind for alternative in get_args(annotation) for kind in _alternatives(alternative)]
    return [annotation]


def refusal(*problems: tuple[tuple[str | int, ...], str]) -> ValidationError:
    """What a validator raises whose keys contradict each other: where each problem is, and what is said of it."""
    return ValidationError.from_exception_data(
        "settings",
        [
            InitErrorDetails(type=PydanticCustomError("combination", "{said}", {"said": said}), loc=where, input=None)
            for where, said in problems
        ],
    )


def shown(value) -> str:
    """A value as messages show it."""
    text = json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)
    return text if len(text) <= 80 else f"{text[:77]}..."


# Types of fields -------------------------------------------------------------------------------------------------


def _all_different(values: list) -> list:
    if any(value in values[:position] for position, value in enumerate(values)):
        raise PydanticCustomError("different", "equal values")
    return values


Element = TypeVar("Element")
# A list of values that are all different.
Different = Annotated[list[Element], AfterValidator(_all_different), Field(json_schema_extra={"uniqueItems": True})]

# Names become names of files, which may have 255 characters; some have two of them.
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,79}$")]
Text = Annotated[str, Field(min_length=1)]
# The report reads headings as text with markup, in which a line of its own can be a command.
Heading = Annotated[str, Field(pattern=r"^[^<>\x00-\x1f\x7f]+$")]
# A path, or what may be one; ``~`` is the home folder, as in a shell. Of braces Snakemake would make wildcards.
Location = Annotated[str, Field(pattern=r"^[^{}\x00-\x1f\x7f]+$"), AfterValidator(os.path.expanduser)]
LocationWithFields = Annotated[Text, AfterValidator(os.path.expanduser)]
Sha256 = Annotated[
    Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None,
    Field(description="SHA-256 of the file, where `file` is an address (`https://`); null where it is a path."),
]
NumberPerDataset = dict[Name, Annotated[int, Field(ge=1)]]
# A complete configuration has the key only where it says something: all else stands as it does without it.
ForDatasets = Annotated[
    Annotated[Different[Text], Field(min_length=1)] | None,
    Field(exclude_if=lambda names: names is None, description="Datasets that it is for; `null` is all of the study."),
]


def check_addressed(file: str, sha256: str | None) -> None:
    """Refuse an address with a key, one without a SHA-256, by which the file is known again, and a path with one."""
    if is_address(file) and (secrets := secrets_in(file)):
        said = f"found {shown(without_secrets(file))} with a key behind it ({secrets[0]})"
        raise refusal((("file",), f"{said}, which would stand in every result; download the file, and name its path"))
    if is_address(file) != (sha256 is not None):
        what = "an address, of which sha256 must be given" if sha256 is None else "no address (https://…)"
        raise refusal((("sha256",), f"found {shown(sha256)}, and file {shown(file)} is {what}"))


def first_with_all_keys(alternatives: Iterable[type[Settings]]) -> WrapValidator:
    """A mapping is of the first of some classes that has all of its keys."""

    def chosen(value, handler):
        if not isinstance(value, dict):
            raise PydanticCustomError("mapping", "no mapping")
        for alternative in alternatives:
            if value.keys() <= alternative.model_fields.keys():
                return alternative.model_validate(value)
        raise PydanticCustomError("alternative", "keys of several alternatives")

    return WrapValidator(chosen)


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
    key: dict[str, Any] = {registry.key: (Literal[name], ...)}
    made: Any = create_model(part.__name__, __base__=part, __module__=part.__module__, **key)
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
