"""Explainers, metrics and readers of a user's own, in a file or a package that a configuration names.

A file is named as ``parts/last_layer.py:LastLayer``. A package declares a class as an entry point and is named by the
entry point's name. Where a file lies must not rerun anything, so jobs learn it from an environment variable and from no
flag. What it says is in their digest of code.
"""

import hashlib
import importlib.util
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from evenlight.archive import MANIFEST
from evenlight.code_digest import Code
from evenlight.errors import InputError
from evenlight.provenance import ARCHIVE
from evenlight.sources import digest as file_digest
from evenlight.sources import missing

# By section of the configuration: the key that names a class, and what a class of one's own must have.
KEYS = {"datasets": "reader", "explainers": "method", "metrics": "metric"}
CLASSES = {"datasets": "Reader", "explainers": "Explainer", "metrics": "Metric"}
# The variable with the absolute path of each named file, as JSON.
VARIABLE = "EVENLIGHT_OWN_FILES"
# What the families of such explainers and metrics begin with; each class is a family, since nothing is shared.
FAMILY = "own_"
# What is said where a file cannot be read.
READING = "while it was read; import inside of a function what is not installed wherever Snakemake runs"
_NAME = re.compile(r"(?P<file>[^:{}]+\.py):(?P<name>[A-Za-z_]\w*)")
# The module of each file, with the digest of what was read; and the classes that a notebook has made.
_MODULES: dict[Path, tuple[str, object]] = {}
_MADE: dict[tuple[str, str], type] = {}


def is_file_name(name: object) -> bool:
    """Whether a name is that of a class in a file.

    >>> is_file_name("parts/mine.py:Mine"), is_file_name("lime"), is_file_name(3)
    (True, False, False)
    """
    return isinstance(name, str) and bool(_NAME.fullmatch(name))


def is_own(section: str, name: object) -> bool:
    """Whether a name that no built-in class has is that of a class in a file, of a package or of a notebook."""
    return is_file_name(name) or (section, name) in _MADE or (isinstance(name, str) and bool(_declared(section, name)))


def family_of(name: str) -> str:
    """The family of an explainer or a metric of one's own.

    >>> family_of("parts/last_layer.py:LastLayer"), family_of("shapiq-sv")
    ('own_last_layer_lastlayer', 'own_shapiq_sv')
    """
    found = _NAME.fullmatch(name)
    said = f"{Path(found['file']).stem}_{found['name']}" if found else name
    return FAMILY + re.sub(r"[^a-z0-9]+", "_", said.lower())


def module_of(family: str) -> str:
    """The module with a family's function: all of one's own have one."""
    return "own" if family.startswith(FAMILY) else family


def named(config: Mapping, builtin: Mapping[str, Iterable[str]]) -> list[tuple[str, str, str]]:
    """The classes of one's own that a configuration names: section, name of the entry, name of the class.

    Args:
        config: as it is written, right or wrong.
        builtin: by section, the names that are the workflow's own.
    """
    found = []
    for section, key in KEYS.items():
        entries = config.get(section)
        for entry, settings in entries.items() if isinstance(entries, Mapping) else ():
            name = settings.get(key) if isinstance(settings, Mapping) else None
            if isinstance(name, str) and name not in builtin[section] and is_own(section, name):
                found.append((section, entry, name))
    return found


def locate(config: Mapping, folders: Iterable[Path]) -> None:
    """Find the files that a configuration names, each in the first of some folders that has it; told to all jobs."""
    entries = (settings for section in KEYS for settings in _values(config.get(section)))
    names = {name for settings in entries for name in _values(settings) if is_file_name(name)}
    folders, found = list(folders), {}
    for name in sorted(names):
        paths = [path for folder in folders if (path := folder / _NAME.fullmatch(name)["file"]).is_file()]
        # Of one that is nowhere, like names are looked for beside the study.
        found[name] = str((paths or [folders[0] / _NAME.fullmatch(name)["file"]])[0].resolve())
    # Of two studies that are used as modules, each finds its own.
    os.environ[VARIABLE] = json.dumps(_located() | found)


def _values(part: object) -> list:
    return list(part.values()) if isinstance(part, Mapping) else []


def path_of(name: str) -> Path | None:
    """Where the file of a class lies; None where a package or a notebook has the class."""
    if not is_file_name(name):
        return None
    return Path(_located().get(name) or _NAME.fullmatch(name)["file"])


def _located() -> dict[str, str]:
    return json.loads(os.environ.get(VARIABLE) or "{}")


def files_of(name: str) -> list[Path]:
    """The file of a class and those beside it that it imports.

    Raises:
        InputError: one is not there or is no Python.
    """
    path = path_of(name)
    if path is None:
        return []
    if not path.is_file():
        raise _not_there(path)
    return list(Code(path.parent).closure(path).values())


def digest_of(section: str, name: str) -> str:
    """What the code of a class is: of a file with what it imports beside itself, of a package with all its modules."""
    if path := path_of(name):
        return Code(path.parent).digest(path)
    package = importlib.util.find_spec(_declared(section, name).module.partition(".")[0])
    folders = package.submodule_search_locations or []
    modules = [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))] or [Path(package.origin)]
    return hashlib.sha256("".join(map(file_digest, modules)).encode()).hexdigest()


def class_of(section: str, name: str) -> type:
    """The class that a configuration names, or that a notebook has given (:func:`keep`).

    Raises:
        InputError: there is none, or its file cannot be run.
    """
    if made := _MADE.get((section, name)):
        return made
    path = path_of(name)
    if path is None:
        declared = _declared(section, name)
        if declared is None:
            raise InputError(f"{name}: no installed package declares it under {_group(section)}")
        with told_in_words(Path(declared.module), lambda: READING):
            return _checked(declared.load(), section, name)
    wanted = _NAME.fullmatch(name)["name"]
    module = _module_of(path)
    if not hasattr(module, wanted):
        own = [each for each, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        there = f"it has {', '.join(own)}" if own else "it has none"
        raise InputError(f"{_shown(path)}: has no class {wanted}; {there}; correct the name behind the colon")
    return _checked(getattr(module, wanted), section, f"{_shown(path)}: {wanted}")


def keep(section: str, part: type) -> str:
    """Keep a class that a notebook has made, and the name by which it is found."""
    name = part.__name__
    _MADE[section, name] = _checked(part, section, name)
    return name


def part_of(section: str, settings: Mapping):
    """An instance of the class that an entry names, with its settings, which have been checked before."""
    name = settings[KEYS[section]]
    part = class_of(section, name)
    return part.model_validate({key: value for key, value in settings.items() if key in part.model_fields})


@contextmanager
def running(section: str, name: str, what: str, done: list) -> Iterator[None]:
    """Code of a class is run; where it fails, ``what`` says after how many of ``done``, by ``{}`` its number from 1.

    Raises:
        InputError: it fails.
    """
    module = sys.modules.get(class_of(section, name).__module__)
    source = path_of(name) or Path(getattr(module, "__file__", None) or name)
    with told_in_words(source, lambda: what.format(len(done) + 1)):
        yield


def _checked(part: object, section: str, place: str) -> type:
    of_section = CLASSES[section]
    if not isinstance(part, type) or getattr(part, "own_section", None) != section:
        raise InputError(f"{place} is no evenlight.own.{of_section}; begin it with `class ...({of_section}):`")
    if lacking := sorted(part.__abstractmethods__):
        raise InputError(f"{place} has no function {lacking[0]}; docs/own_parts.md has an example")
    return part


@cache
def _declared(section: str, name: str) -> EntryPoint | None:
    """The class that an installed package declares under a name."""
    return next(iter(entry_points(group=_group(section), name=name)), None)


def _group(section: str) -> str:
    return f"evenlight.{CLASSES[section].lower()}s"


def _module_of(path: Path):
    """A file as a module; it is run again where it has changed."""
    if not path.is_file():
        raise _not_there(path)
    content = file_digest(path)
    known, module = _MODULES.get(path, ("", None))
    if known != content:
        # Python's own: a file that cannot be read, or is no Python, is told with its line.
        Code(path.parent).closure(path)
        # Behind all others, so that no library is hidden by a file with its name.
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))
        name = f"evenlight_own_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        # The settings of a class look for names in its module.
        sys.modules[name] = module
        with told_in_words(path, lambda: READING):
            spec.loader.exec_module(module)
        _MODULES[path] = (content, module)
    return module


@contextmanager
def told_in_words(source: Path, what: Callable[[], str]) -> Iterator[None]:
    """Errors of code of one's own are raised as what a user reads: file, line, error and ``what`` was done.

    The log has all of the traceback.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        traceback.print_exc()
        frames = [
            frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent == source.parent
        ]
        place = f"{_shown(Path(frames[-1].filename))}, line {frames[-1].lineno}" if frames else _shown(source)
        raise InputError(f"{place}: {type(error).__name__}: {error} ({what()})") from None


def _not_there(path: Path) -> InputError:
    said = missing(_shown(path)).rpartition(" paths begin")[0].removesuffix(";")
    return InputError(f"{said}; it is looked for beside the study's file, and where Snakemake is started")


def _shown(place: Path) -> str:
    """A path from where Snakemake was started, if it lies there."""
    return os.path.relpath(place) if place.is_relative_to(Path.cwd()) else str(place)


def refuse_foreign(name: str) -> None:
    """Refuse code that came with an archive and is as it came, before it is run.

    Raises:
        InputError: with the file.
    """
    for path in files_of(name):
        for folder in path.resolve().parents:
            manifest = folder / ARCHIVE / MANIFEST
            if manifest.is_file():
                inside = (Path("results", folder.name) / path.resolve().relative_to(folder)).as_posix()
                if f"{file_digest(path)}  {inside}" in manifest.read_text(encoding="utf-8").splitlines():
                    raise InputError(
                        f"{_shown(path)} came with an archive, and this study would run it; read it, then start with "
                        "--config trust_parts=true"
                    )
