"""Classes of a user's own as entries of the registries, made when a configuration names them."""

from collections.abc import Mapping
from typing import Literal

from pydantic import create_model

from evenlight import own_files
from evenlight.configuration.explainers import Explainer
from evenlight.configuration.metrics import Metric
from evenlight.configuration.readers import Reader
from evenlight.configuration.settings import Entry
from evenlight.errors import InputError

REGISTRIES: dict[str, type[Entry]] = {"datasets": Reader, "explainers": Explainer, "metrics": Metric}
BUILTIN = {section: frozenset(registry.entries) for section, registry in REGISTRIES.items()}
BETTER = ("higher", "lower")


def register(config: Mapping, trusts_archives: bool) -> dict[str, str]:
    """Make entries of the classes of one's own that a configuration names; by dotted key, what is wrong with others.

    Nothing is run of what came with an archive, unless it is trusted.
    """
    problems: dict[str, str] = {}
    families: dict[str, str] = {}
    for section, entry, name in own_files.named(config, BUILTIN):
        try:
            if not trusts_archives:
                own_files.refuse_foreign(name)
            made = registered(section, name, own_files.class_of(section, name))
            if section != "datasets" and families.setdefault(made.family, name) != name:
                raise InputError(f"{name} and {families[made.family]} have the same file name and class; rename one")
        except InputError as error:
            problems[f"{section}.{entry}.{own_files.KEYS[section]}"] = str(error)
    return problems


def kept(section: str, part: type[Entry]) -> str:
    """The name under which a class that a notebook has made is an entry.

    Raises:
        InputError: it is no class of one's own of this section, lacks a function, or has the name of a built-in one.
    """
    name = own_files.keep(section, part)
    if name in BUILTIN[section]:
        raise InputError(f"{name} is the name of a built-in one; give the class another name")
    registered(section, name, part)
    return name


def registered(section: str, name: str, part: type[Entry]) -> type[Entry]:
    """The entry of a registry that a class is under a name.

    Raises:
        InputError: a tag has a value that it cannot have.
    """
    registry = REGISTRIES[section]
    known = registry.entries.get(name)
    if known is not None and issubclass(known, part):
        return known
    if section == "metrics" and getattr(part, "better", None) not in BETTER:
        found = getattr(part, "better", None)
        raise InputError(f'{name}: better is {found!r}; set `better: ClassVar[str] = "higher"`, or "lower"')
    key = {registry.key: (Literal[name], ...)}
    made = create_model(part.__name__, __base__=part, __module__=part.__module__, **key)
    made.__doc__ = part.__doc__
    made.family = own_files.family_of(name)
    made.title = getattr(part, "title", part.__name__)
    return made
