"""The code of a user's own class: its file and what that imports beside itself, as a digest that a comment leaves."""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from evenlight.core.errors import InputError


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
