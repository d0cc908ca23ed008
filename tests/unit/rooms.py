"""The rooms of the library, what a file imports of them, and which tests belong to which room.

A file of tests belongs to the last room that it imports; `python tests/unit/rooms.py statistics` prints those of one.
"""

import ast
import sys
import tomllib
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
LIBRARY = REPOSITORY / "workflow" / "scripts" / "evenlight"


def library_order() -> list[str]:
    """The rooms of the library, each of which imports only from those before it: the contract in pyproject.toml."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [contract] = [one for one in contracts if one.get("containers") == ["evenlight"]]
    # The command stands above all rooms and is none.
    return [layer for layer in contract["layers"][::-1] if layer != "__main__"]


@cache
def imported_rooms(path: Path) -> set[str]:
    """The rooms of the library (what stands after ``evenlight.``) that a file imports, wherever the import stands."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return {name.split(".")[1] for name in names if name.startswith("evenlight.")}


def files_of(room: str) -> list[Path]:
    """The files of tests/unit that import a room and none below it.

    Raises:
        ValueError: there is no such room.
    """
    order = library_order()
    below = set(order[order.index(room) + 1 :])
    imported = {path: imported_rooms(path) for path in sorted(Path(__file__).parent.glob("test_*.py"))}
    return [path for path, rooms in imported.items() if room in rooms and not rooms & below]


if __name__ == "__main__":
    _, room = sys.argv
    if room not in library_order():
        sys.exit(f"error: ROOM={room} is no room; take one of {', '.join(library_order())}")
    doctests = [path for path in (LIBRARY / room, LIBRARY / f"{room}.py") if path.exists()]
    print(*files_of(room), *doctests)
