"""What several tests of the library begin with."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from own_parts import write_examples

from evenlight.configuration.own import BUILTIN, REGISTRIES
from evenlight.jobs import own_files


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
