"""Explainers, metrics and readers of a user's own, in a file or a package that a configuration names.

A file is named as ``parts/last_layer.py:LastLayer``. A package declares a class as an entry point and is named by the
entry point's name. Where a file lies must not rerun anything, so jobs learn it from an environment variable and from no
flag. What it says is in their versions, as a digest.
"""

import ast
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
from types import ModuleType

from evenlight.core.errors import InputError
from evenlight.core.sources import digest as file_digest
from evenlight.core.sources import nearest
from evenlight.jobs.archive import MANIFEST
from evenlight.jobs.provenance import ARCHIVE


def code_digest(script: Path) -> str:
    """SHA-256 (hexadecimal) over the syntax trees of a file and of all that it imports beside itself.

    Comments, blank lines, docstrings and the place on disk do not change it. Raises InputError for a missing file or
    a syntax error.
    """
    digest = hashlib.sha256()
    for name, path in sorted(closure(script).items()):
        words: list[str] = []
        _spell(_tree(path), words, [])
        digest.update("\n".join([name, *words, ""]).encode())
    return digest.hexdigest()


def closure(script: Path) -> dict[str, Path]:
    """A file and every module beside it that it imports, directly or not and wherever that stands: name to file."""
    modules = {script.stem: script}
    waiting = [(script.stem, script)]
    while waiting:
        name, path = waiting.pop()
        for imported, file in _imported(name, path, script.parent).items():
            if imported not in modules:
                modules[imported] = file
                waiting.append((imported, file))
    return modules


def _imported(module: str, path: Path, folder: Path) -> dict[str, Path]:
    """The modules in a folder, with the packages that they are in, that a module imports itself."""
    imports: list[ast.Import | ast.ImportFrom] = []
    _spell(_tree(path), [], imports)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names = dict.fromkeys(each for name in _absolute_names(imports, package) for each in _with_parents(name))
    return {name: file for name in names if (file := _file(name, folder))}


def _file(module: str, folder: Path) -> Path | None:
    """The file of a module in a folder, or None where there is none."""
    base = folder.joinpath(*module.split("."))
    return next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()), None)


def _with_parents(name: str) -> Iterator[str]:
    """The modules that run when ``a.b.c`` is imported: ``a``, ``a.b``, ``a.b.c``."""
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except OSError as error:
        raise InputError(f"{path}: the file cannot be read ({error.strerror})") from None
    except SyntaxError as error:
        raise InputError(f"{path}, line {error.lineno}: {error.msg}; correct the code and start again") from None


def _absolute_names(imports: Iterable[ast.Import | ast.ImportFrom], package: str) -> Iterator[str]:
    """Every name that a module of ``package`` imports, absolute; for ``from a import b`` both ``a`` and ``a.b``."""
    for node in imports:
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.Import):
            yield from names
            continue
        parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*parents, node.module] if node.module else parents)
        yield base
        # Whether b is a module or a name in a is settled by whether there is a file a/b.py.
        yield from (f"{base}.{name}" for name in names if name != "*")


def _spell(value, words: list[str], imports: list[ast.AST]) -> None:
    """Append (a part of) a syntax tree in words, without docstrings, positions and empty fields, and note its imports.

    Own work rather than ``ast.dump``, which spells the same tree in another way from one Python to the next.
    """
    if isinstance(value, ast.AST):
        words.append(f"({type(value).__name__}")
        if isinstance(value, (ast.Import, ast.ImportFrom)):
            imports.append(value)
        for field in value._fields:
            inner = getattr(value, field, None)
            if field == "body" and _has_docstring(value):
                inner = inner[1:]
            elif isinstance(value, ast.JoinedStr):
                # Some releases of Python 3.12 put empty pieces into f-strings.
                inner = [piece for piece in inner if getattr(piece, "value", None) != ""]
            if inner is not None and inner != []:
                words.append(field)
                _spell(inner, words, imports)
        words.append(")")
    elif isinstance(value, list):
        words.append("[")
        for element in value:
            _spell(element, words, imports)
        words.append("]")
    else:
        words.append(repr(value))


def _has_docstring(node: ast.AST) -> bool:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None


# By section of the configuration: the key that names a class, and what a class of one's own must have.
KEYS = {"datasets": "reader", "explainers": "method", "metrics": "metric"}
CLASSES = {"datasets": "Reader", "explainers": "Explainer", "metrics": "Metric"}
# The variable with the absolute path of each named file, as JSON.
VARIABLE = "EVENLIGHT_OWN_FILES"
# What the families of such explainers and metrics begin with; each class is a family, since nothing is shared.
FAMILY = "own_"
_NAME = re.compile(r"(?P<file>[^:{}]+\.py):(?P<name>[A-Za-z_]\w*)")
# The module of each file, with the digest of what was read; and the classes that a notebook has made.
_MODULES: dict[Path, tuple[str, object]] = {}
_MADE: dict[tuple[str, str], type] = {}
# Where this process has found the files.
_LOCATED: dict[str, str] = {}


def is_file_name(name: object) -> bool:
    """Whether a name is that of a class in a file.

    >>> is_file_name("parts/mine.py:Mine"), is_file_name("lime"), is_file_name(3)
    (True, False, False)
    """
    return isinstance(name, str) and bool(_NAME.fullmatch(name))


def is_own(section: str, name: object) -> bool:
    """Whether a name that no built-in class has is that of a class in a file, of a package or of a notebook."""
    return is_file_name(name) or (section, name) in _MADE or (isinstance(name, str) and bool(_declared(section, name)))


def own_family(name: str) -> str:
    """The family of an explainer or a metric of one's own.

    >>> own_family("parts/last_layer.py:LastLayer"), own_family("shapiq-sv")
    ('own_last_layer_lastlayer_84fc', 'own_shapiq_sv_84b6')
    """
    found = _NAME.fullmatch(name)
    said = f"{Path(found['file']).stem}_{found['name']}" if found else name
    # The name itself tells those apart that are said alike.
    return f"{FAMILY}{re.sub(r'[^a-z0-9]+', '_', said.lower())}_{hashlib.sha256(name.encode()).hexdigest()[:4]}"


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
            if (
                isinstance(name, str)
                and name not in builtin[section]
                and (is_own(section, name) or name.endswith(".py"))
            ):
                found.append((section, entry, name))
    return found


def locate(config: Mapping, folders: Iterable[Path], trusts_archives: bool = False) -> None:
    """Find the files that a configuration names, each in the first of some folders that has it; told to all jobs.

    Args:
        config: as it is written, right or wrong.
        folders: those of the study's files, and where the run begins.
        trusts_archives: whether code that came with an archive may be run.

    Raises:
        InputError: a name has two files that differ, in two folders or in two studies that are used as modules; or
            code came with an archive, which nobody trusts.
    """
    entries = (settings for section in KEYS for settings in _values(config.get(section)))
    names = sorted({name for settings in entries for name in _values(settings) if is_file_name(name)})
    folders, found = list(folders), {}
    for name in names:
        inside = _NAME.fullmatch(name)["file"]
        paths = [path.resolve() for folder in folders if (path := folder / inside).is_file()]
        known = [Path(_LOCATED[name])] if Path(_LOCATED.get(name, "")).is_file() else []
        if len({file_digest(path): path for path in (*paths, *known)}) > 1:
            listed = " and ".join(dict.fromkeys(map(_shown, (*paths, *known))))
            raise InputError(f"{name}: {listed} differ, and both are meant; give one another name")
        # Of one that is nowhere, like names are looked for beside the study.
        found[name] = str(paths[0] if paths else (folders[0] / inside).resolve())
    _LOCATED.update(found)
    os.environ[VARIABLE] = json.dumps(_located() | found)
    if names and not trusts_archives:
        _refuse_foreign(names, folders)


def _refuse_foreign(names: Iterable[str], folders: Iterable[Path]) -> None:
    """Refuse a study that was unpacked and names code, and code that came with an archive, whatever names it."""
    remedy = "read it, then start with --config trust_parts=true"
    manifests = [path for folder in folders if (path := folder / ARCHIVE / MANIFEST).is_file()]
    if manifests:
        listed = ", ".join(names)
        raise InputError(f"{manifests[0].parents[1]}: this study came with an archive and would run {listed}; {remedy}")
    lines = (line for path in Path("results").glob(f"*/{ARCHIVE}/{MANIFEST}") for line in path.open(encoding="utf-8"))
    came = {line.partition(" ")[0] for line in lines}
    if not came:
        return
    for path in dict.fromkeys(path for name in names for path in files_of_class(name)):
        if file_digest(path) in came:
            raise InputError(f"{_shown(path)} came with an archive, and this study would run it; {remedy}")


def _values(part: object) -> list:
    return list(part.values()) if isinstance(part, Mapping) else []


def path_of(name: str) -> Path | None:
    """Where the file of a class lies; None where a package or a notebook has the class."""
    if not is_file_name(name):
        return None
    return Path(_located().get(name) or _NAME.fullmatch(name)["file"])


def _located() -> dict[str, str]:
    return json.loads(os.environ.get(VARIABLE) or "{}")


def files_of_class(name: str) -> list[Path]:
    """The file of a class and those beside it that it imports; none where it is not there, which is told elsewhere.

    Raises:
        InputError: one is no Python.
    """
    path = path_of(name)
    return list(closure(path).values()) if path and path.is_file() else []


def digest_of_class(section: str, name: str) -> str:
    """What the code of a class is: of a file with what it imports beside itself, of a package with all its modules."""
    if path := path_of(name):
        return code_digest(path)
    package = importlib.util.find_spec(_declared(section, name).module.partition(".")[0])
    digest = hashlib.sha256()
    for folder in package.submodule_search_locations or [Path(package.origin).parent]:
        pattern = "**/*.py" if package.submodule_search_locations else Path(package.origin).name
        for path in sorted(Path(folder).glob(pattern)):
            digest.update(f"{path.relative_to(folder)} {file_digest(path)}\n".encode())
    return digest.hexdigest()


def class_of(section: str, name: str) -> type:
    """The class that a configuration names, or that a notebook has given (:func:`keep_class`).

    Raises:
        InputError: there is none, or its file cannot be run.
    """
    if made := _MADE.get((section, name)):
        return made
    path = path_of(name)
    if path is None:
        if name.endswith(".py"):
            raise InputError(f"{name}: name the class behind a colon, such as {name}:Mine")
        declared = _declared(section, name)
        if declared is None:
            raise InputError(f"{name}: no installed package declares it under {_group(section)}")
        with told_in_words(Path(importlib.util.find_spec(declared.module).origin), _of_reading):
            return _checked(declared.load(), section, name)
    wanted = _NAME.fullmatch(name)["name"]
    module = _module_of(path)
    if not hasattr(module, wanted):
        classes = [each for each, value in vars(module).items() if isinstance(value, type)]
        own = [each for each in classes if getattr(module, each).__module__ == module.__name__]
        there = f"it has {', '.join(own)}" if own else "it has none"
        raise InputError(f"{_shown(path)}: has no class {wanted}; {there}; correct the name behind the colon")
    return _checked(getattr(module, wanted), section, f"{_shown(path)}: {wanted}")


def keep_class(section: str, part: type) -> str:
    """Keep a class that a notebook has made, and the name by which it is found.

    Raises:
        InputError: it is no class of one's own of this section, or lacks a function.
    """
    name = getattr(part, "__name__", str(part))
    _MADE[section, name] = _checked(part, section, name)
    return name


@contextmanager
def running(section: str, name: str, what: str, done: list) -> Iterator[None]:
    """Code of a class is run; where it fails, ``what`` says after how many of ``done``, by ``{}`` its number from 1.

    Raises:
        InputError: it fails.
    """
    module = sys.modules.get(class_of(section, name).__module__)
    source = path_of(name) or Path(getattr(module, "__file__", None) or name)
    with told_in_words(source, lambda error: what.format(len(done) + 1)):
        yield


def _checked(part: object, section: str, place: str) -> type:
    of_section = CLASSES[section]
    if not isinstance(part, type) or not getattr(part, "is_own", False) or part.section != section:
        raise InputError(f"{place} is no evenlight.own.{of_section}; begin it with `class ...({of_section}):`")
    if lacking := sorted(part.__abstractmethods__):
        raise InputError(f"{place} has no function {lacking[0]}; docs/own_parts.md has an example")
    return part


@cache
def _declared(section: str, name: str) -> EntryPoint | None:
    """The class that an installed package declares under a name."""
    return next(iter(entry_points(group=_group(section), name=name)), None)


def installed(key: str) -> list[str]:
    """The names that installed packages declare for a key, such as ``method``; none of a key that names no class."""
    sections = [section for section, of_section in KEYS.items() if of_section == key]
    return sorted({name for section in sections for name in entry_points(group=_group(section)).names})


def _group(section: str) -> str:
    return f"evenlight.{CLASSES[section].lower()}s"


def _module_of(path: Path):
    """A file as a module; it is run again where it has changed."""
    if not path.is_file():
        raise _not_there(path)
    content = file_digest(path)
    known, module = _MODULES.get(path, ("", None))
    if known != content:
        # Here, since a file that is no Python is told with its line.
        beside = closure(path)
        # Behind all others, so that no library is hidden by a file with its name.
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))
        name = f"evenlight_own_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}_{path.stem}"
        module = ModuleType(name)
        module.__file__ = str(path)
        # The settings of a class look for names in its module.
        sys.modules[name] = module
        with told_in_words(path, _of_reading):
            # What was read, and nothing that was compiled of it before.
            exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
        for imported, file in beside.items():
            there = getattr(sys.modules.get(imported), "__file__", None)
            if file != path and there and Path(there).resolve() != file.resolve():
                raise InputError(
                    f"{_shown(path)} imports {imported}, which is {there}; give {_shown(file)} another name"
                )
        _MODULES[path] = (content, module)
    return module


def _of_reading(error: BaseException) -> str:
    """What is said of a file that cannot be read."""
    if isinstance(error, ModuleNotFoundError):
        return "while it was read; import inside of a function what is not installed wherever Snakemake runs"
    if isinstance(error, ImportError):
        return "while it was read; of a file beside it write `import name` or `from name import ...`"
    return "while it was read"


@contextmanager
def told_in_words(source: Path, what: Callable[[BaseException], str]) -> Iterator[None]:
    """Errors of code of one's own are raised as what a user reads: file, line, error and ``what`` is said of it.

    The log has all of the traceback.
    """
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        frames = [
            frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent == source.parent
        ]
        place = f"{_shown(Path(frames[-1].filename))}, line {frames[-1].lineno}" if frames else _shown(source)
        raise InputError(f"{place}: {type(error).__name__}: {error} ({what(error)})") from None


def _not_there(path: Path) -> InputError:
    return InputError(
        f"{nearest(_shown(path))}; it is looked for beside the study's file, and where Snakemake is started"
    )


def _shown(place: Path) -> str:
    """A path from where Snakemake was started, if it lies there."""
    return os.path.relpath(place) if place.is_relative_to(Path.cwd()) else str(place)
