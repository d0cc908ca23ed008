"""What several tests of the library begin with."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from own_parts import write_examples

from evenlight.configuration import BUILTIN, REGISTRIES
from evenlight.jobs import own_files

# What pages say, a file for each file of tests and in it a section for each test.
SNAPSHOTS = Path(__file__).parent / "snapshots"
HEADING = "== "


def sections_of(path: Path) -> dict[str, str]:
    """What each test holds, by its name."""
    parts = path.read_text(encoding="utf-8").split(f"\n{HEADING}") if path.exists() else []
    return dict(part.removeprefix(HEADING).strip("\n").split("\n", 1) for part in parts)


@pytest.fixture
def snapshot(request) -> Callable[..., None]:
    """Holds the lines that a page says against those that were reviewed; ``EVENLIGHT_SNAPSHOTS=write`` keeps these."""
    path = (SNAPSHOTS / request.path.stem.removeprefix("test_")).with_suffix(".txt")

    def holds(*lines: str) -> None:
        name, text = request.node.name, re.sub(r"[ ]+$", "", "\n".join(lines), flags=re.MULTILINE).strip("\n")
        if os.environ.get("EVENLIGHT_SNAPSHOTS") == "write":
            sections = sections_of(path) | {name: text}
            written = [f"{HEADING}{section}\n{sections[section]}\n" for section in sorted(sections)]
            path.write_text("\n".join(written), encoding="utf-8")
        assert text == sections_of(path).get(name), f"{path.name}: where this is meant, set EVENLIGHT_SNAPSHOTS=write"

    return holds


@pytest.fixture
def own_parts(tmp_path, monkeypatch) -> Iterator[Path]:
    """A folder ``study`` with the examples of docs/own_parts.md; what is registered in a test is gone after it."""
    (tmp_path / "study").mkdir()
    write_examples(tmp_path / "study")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(own_files.VARIABLE, "")
    for name in ("_MODULES", "_MADE", "_LOCATED"):
        monkeypatch.setattr(own_files, name, {})
    known = set(sys.modules)
    yield tmp_path / "study"
    for name in set(sys.modules) - known:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    for section, registry in REGISTRIES.items():
        for name in set(registry.entries) - BUILTIN[section]:
            del registry.entries[name]
