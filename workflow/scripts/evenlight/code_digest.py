"""What code a result depends on: a digest of ours, so that changed code reruns what used it and a comment does not,
and the versions of others'."""

import ast
import hashlib
import importlib.metadata
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from evenlight.errors import InputError

LIBRARIES = ("torch", "transformers", "tokenizers", "numpy")


def library_versions(names: Iterable[str] = LIBRARIES) -> dict[str, str]:
    """Versions of libraries, by default those that a model's weights and scores depend on."""
    return {name: importlib.metadata.version(name) for name in names}


def code_digest(*scripts: Path, also: Iterable[str] = (), root: Path | None = None) -> str:
    """SHA-256 (hexadecimal) over the syntax trees of ``scripts`` and of all project code that they import.

    Project code is what lies in ``root``, by default the script's folder: the package ``evenlight``. Imports are
    followed wherever they stand, inside functions too. ``also`` names modules that are imported under a
    computed name, such as ``evenlight.explainers.lime``. Comments, blank lines, docstrings and the place of
    the project on disk do not change the digest. Raises InputError for a missing file or a syntax error.
    """
    also = tuple(also)
    digest = hashlib.sha256()
    modules: dict[str, Path] = {}
    for script in map(Path, scripts):
        modules |= _closure(script, also, root or script.parent)
    for name, path in sorted(modules.items()):
        digest.update(f"{name}\n{_fingerprint(_source(path), path)}\n".encode())
    return digest.hexdigest()


def _closure(script: Path, also: tuple[str, ...], root: Path) -> dict[str, Path]:
    """The script and every project module that it imports, directly or not: module name to file."""
    modules: dict[str, Path | None] = {script.stem: script}
    _follow([*_imports_of(script.stem, script), *also], root, modules)
    for name in also:
        if modules[name] is None:
            raise InputError(f"{script}: no module {name} beside it; correct the name under which it is asked for")
    return {name: path for name, path in modules.items() if path}


def _follow(names: Iterable[str], root: Path, modules: dict[str, Path | None]) -> None:
    """Add the modules ``names`` and what they import to ``modules``; None stands for code that is not ours."""
    for name in names:
        for module in _with_parents(name):
            if module not in modules:
                path = modules[module] = _file_of(module, root)
                if path:
                    _follow(_imports_of(module, path), root, modules)


def _imports_of(module: str, path: Path) -> tuple[str, ...]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return _imports(_source(path), path, package)


def _with_parents(name: str) -> Iterator[str]:
    """The modules that run when ``a.b.c`` is imported: ``a``, ``a.b``, ``a.b.c``."""
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _file_of(name: str, root: Path) -> Path | None:
    """The file of a module, or None where the name is no module of the project."""
    path = root.joinpath(*name.split("."))
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _source(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: the script cannot be read ({error.strerror})") from None


# The caches are keyed by the content of the file, so an edit while the process lives is seen.
@cache
def _tree(source: bytes, path: Path) -> ast.Module:
    try:
        return ast.parse(source, filename=str(path))
    except SyntaxError as error:
        raise InputError(f"{path}, line {error.lineno}: {error.msg}; correct the code and start again") from None


@cache
def _imports(source: bytes, path: Path, package: str) -> tuple[str, ...]:
    """Every name that the module imports, absolute; for ``from a import b`` both ``a`` and ``a.b``."""
    names = []
    for node in ast.walk(_tree(source, path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            # Whether b is a module or a name in a is settled by whether there is a file a/b.py.
            names += [base, *(f"{base}.{alias.name}" for alias in node.names if alias.name != "*")]
    return tuple(names)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module
    parents = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join(parents + ([node.module] if node.module else []))


@cache
def _fingerprint(source: bytes, path: Path) -> str:
    words: list[str] = []
    _spell(_tree(source, path), words)
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def _spell(value, words: list[str]) -> None:
    """Append a syntax tree (or a part of one) in words, without docstrings, positions and empty fields.

    Own work rather than ``ast.dump``, which spells the same tree in another way from one Python to the next.
    """
    if isinstance(value, ast.AST):
        words.append(f"({type(value).__name__}")
        for field in value._fields:
            inner = getattr(value, field, None)
            if field == "body" and _has_docstring(value):
                inner = inner[1:]
            elif isinstance(value, ast.JoinedStr):
                # Some releases of Python 3.12 put empty pieces into f-strings.
                inner = [piece for piece in inner if getattr(piece, "value", None) != ""]
            if inner is not None and inner != []:
                words.append(field)
                _spell(inner, words)
        words.append(")")
    elif isinstance(value, list):
        words.append("[")
        for element in value:
            _spell(element, words)
        words.append("]")
    else:
        words.append(repr(value))


def _has_docstring(node: ast.AST) -> bool:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
