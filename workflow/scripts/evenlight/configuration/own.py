"""Classes of a user's own as entries of the registries, made when a configuration names them."""

from collections.abc import Mapping

from evenlight.core.errors import InputError
from evenlight.datasets import Reader
from evenlight.explainers import Explainer
from evenlight.jobs import own_files
from evenlight.metrics import Metric
from evenlight.settings import Entry
from evenlight.settings.own import registered

REGISTRIES: dict[str, type[Entry]] = {"datasets": Reader, "explainers": Explainer, "metrics": Metric}
BUILTIN = {section: frozenset(registry.entries) for section, registry in REGISTRIES.items()}


def register(config: Mapping) -> dict[str, str]:
    """Make entries of the classes of one's own that a configuration names; by dotted key, what is wrong with others."""
    problems: dict[str, str] = {}
    for section, entry, name in own_files.named(config, BUILTIN):
        try:
            registered(REGISTRIES[section], name, own_files.class_of(section, name))
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
    registered(REGISTRIES[section], name, part)
    return name
