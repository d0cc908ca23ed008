"""What code a result depends on: a digest of ours, so that changed code reruns what used it and a comment does not,
and the versions of others'."""

import ast
import contextlib
import hashlib
import importlib.metadata
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from evenlight.core.errors import InputError

LIBRARIES = ("torch", "transformers", "tokenizers", "numpy")


def library_versions(names: Iterable[str] = LIBRARIES) -> dict[str, str]:
    """Versions of libraries, by default those that a model's weights and scores depend on."""
    return {name: importlib.metadata.version(name) for name in names}


def code_digest(*scripts: Path, also: Iterable[str] = (), root: Path | None = None) -> str:
    """The digest of ``scripts`` and of what they import, as the code is now; see :meth:`Code.digest`.

    Project code is what lies in ``root``, by default the first script's folder.
    """
    return Code(root or Path(scripts[0]).parent).digest(*scripts, also=also)


class Code:
    """Project code, the package ``evenlight``, as it is when it is first asked for; every file is read once.

    Args:
        root: the folder with all of it.
        memory: a file that remembers, from one process to the next, what was found in a file's text. It goes by the
            text and not by dates, so that no edit is missed. It need not be there, nor in a place that can be written.
    """

    def __init__(self, root: Path, memory: Path | None = None) -> None:
        self._root = root
        self._memory = memory
        self._known = _remembered(memory) if memory else {}
        self._files: dict[str, Path | None] = {}
        self._contents: dict[Path, Content] = {}
        self._imported: dict[tuple[str, Path], dict[str, Path]] = {}

    def digest(self, *scripts: Path, also: Iterable[str] = ()) -> str:
        """SHA-256 (hexadecimal) over the syntax trees of ``scripts`` and of all project code that they import.

        Imports are followed wherever they stand, inside functions too. ``also`` names modules that are imported under
        a computed name, such as ``evenlight.explainers.lime``. Comments, blank lines, docstrings and the place of
        the project on disk do not change the digest. Raises InputError for a missing file or a syntax error.
        """
        also = tuple(also)
        known = len(self._known)
        modules: dict[str, Path] = {}
        for script in map(Path, scripts):
            modules |= self.closure(script, also)
        digest = hashlib.sha256()
        for name, path in sorted(modules.items()):
            digest.update(f"{name}\n{self._content(path).fingerprint}\n".encode())
        if self._memory and len(self._known) > known:
            _remember(self._known, self._memory)
        return digest.hexdigest()

    def closure(self, script: Path, also: Iterable[str] = ()) -> dict[str, Path]:
        """The script and every project module that it imports, directly or not: module name to file."""
        also = tuple(also)
        for name in also:
            if not self._file(name):
                raise InputError(f"{script}: no module {name} beside it; correct the name under which it is asked for")
        modules = {script.stem: script}
        waiting = [self._imports(script.stem, script), self._ours(also)]
        while waiting:
            for name, path in waiting.pop().items():
                if name not in modules:
                    modules[name] = path
                    waiting.append(self._imports(name, path))
        return modules

    def _imports(self, module: str, path: Path) -> dict[str, Path]:
        """The project modules that a module imports itself."""
        if (module, path) not in self._imported:
            package = module if path.name == "__init__.py" else module.rpartition(".")[0]
            names = _absolute_names(self._content(path).imports, package)
            self._imported[module, path] = self._ours(names)
        return self._imported[module, path]

    def _ours(self, names: Iterable[str]) -> dict[str, Path]:
        """Those of ``names`` that are project modules, and the packages that they are in."""
        modules = dict.fromkeys(module for name in names for module in _with_parents(name))
        return {module: path for module in modules if (path := self._file(module))}

    def _file(self, module: str) -> Path | None:
        """The file of a module, or None where the name is no module of the project."""
        if module not in self._files:
            base = self._root.joinpath(*module.split("."))
            candidates = (base / "__init__.py", base.with_suffix(".py"))
            self._files[module] = next((candidate for candidate in candidates if candidate.is_file()), None)
        return self._files[module]

    def _content(self, path: Path) -> "Content":
        if path not in self._contents:
            source = _source(path)
            key = hashlib.sha256(_OURSELVES + source).hexdigest()
            if key not in self._known:
                self._known[key] = _content_of(source, path)
            self._contents[path] = Content(*self._known[key])
        return self._contents[path]


class Content(NamedTuple):
    """What the digest needs of a file: a digest of its syntax tree, and for each import its level, module and names."""

    fingerprint: str
    imports: list[tuple[int, str | None, list[str]]]


# So that what another version of this module found is not taken for what this one would find.
_OURSELVES = Path(__file__).read_bytes()
_MOST_REMEMBERED = 2000


def _remembered(memory: Path) -> dict[str, Content]:
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _remember(known: dict[str, Content], memory: Path) -> None:
    unfinished = memory.with_name(f"{memory.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        memory.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps(dict(list(known.items())[-_MOST_REMEMBERED:])), encoding="utf-8")
        unfinished.replace(memory)


def _with_parents(name: str) -> Iterator[str]:
    """The modules that run when ``a.b.c`` is imported: ``a``, ``a.b``, ``a.b.c``."""
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _source(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: the script cannot be read ({error.strerror})") from None


def _content_of(source: bytes, path: Path) -> Content:
    try:
        tree = ast.parse(source, filename=str(path))
    except SyntaxError as error:
        raise InputError(f"{path}, line {error.lineno}: {error.msg}; correct the code and start again") from None
    words: list[str] = []
    imports: list[ast.Import | ast.ImportFrom] = []
    _spell(tree, words, imports)
    return Content(
        hashlib.sha256("\n".join(words).encode()).hexdigest(),
        [
            (getattr(node, "level", 0), getattr(node, "module", None), [alias.name for alias in node.names])
            for node in imports
        ],
    )


def _absolute_names(imports: Iterable[tuple[int, str | None, list[str]]], package: str) -> Iterator[str]:
    """Every name that a module of ``package`` imports, absolute; for ``from a import b`` both ``a`` and ``a.b``."""
    for level, module, names in imports:
        if not level and not module:
            yield from names
            continue
        parents = package.split(".")[: len(package.split(".")) - level + 1] if level else []
        base = ".".join([*parents, module] if module else parents)
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
