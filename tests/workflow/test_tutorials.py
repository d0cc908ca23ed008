"""Tutorials, followed as they stand, and the notebooks, which read what the tutorials have made."""

import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from running import PROJECT, copy_of_project, environment
from test_documented_commands import NOTEBOOKS, plan, said
from tutorials import Reader, is_model_of_the_pages, steps

pytestmark = pytest.mark.slow

TUTORIALS = sorted((PROJECT / "docs/tutorials").glob("[a-z]*.md"))
# What needs a cluster is only planned.
ON_A_CLUSTER = ("to_slurm",)


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """A fresh copy for the tutorials, which find there what those before them have made, and for the notebooks."""
    clone = copy_of_project(tmp_path_factory.mktemp("tutorials") / "project")
    shutil.copytree(PROJECT / "docs/notebooks", clone / "docs/notebooks")
    return clone


@pytest.fixture(scope="module")
def follow(clone) -> Callable[[Path], None]:
    """Does what a tutorial says, once."""

    @cache
    def follow(page: Path) -> None:
        planned = page.stem in ON_A_CLUSTER
        reader = Reader(
            clone, lambda command: (plan if planned or command.startswith("make") else said)(command, clone)
        )
        for step in steps(page.read_text(encoding="utf-8")):
            if not (planned and step.does == "compare"):
                reader.follow(step)

    return follow


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_can_be_followed(follow, page):
    follow(page)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_has_shown(notebooks, follow, clone, path):
    stored = notebooks.nbformat.read(path, as_version=4)
    # What a notebook reads is made by the tutorial to which it links first.
    follow(PROJECT / "docs" / re.search(r"tutorials/\w+\.md", stored.cells[0].source)[0])
    library = {"PYTHONPATH": str(clone / "workflow/scripts")}
    found = notebooks.executed(clone / "docs/notebooks" / path.name, **environment(**library))
    assert [len(cell.get("outputs", [])) for cell in found.cells] == [
        len(cell.get("outputs", [])) for cell in stored.cells
    ]
    if not is_model_of_the_pages(clone):
        pytest.skip("numbers and verdicts are not compared, since the model trained here is another one")
    assert notebooks.shown(found) == notebooks.shown(stored)
