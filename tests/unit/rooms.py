"""The rooms of the library and their tests: `tests/unit/<room>/`; what is of no room stands in `tests/unit/` itself."""

import tomllib
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
