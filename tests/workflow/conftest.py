"""Studies that are run once for all tests of the workflow, and copies of them to change."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from running import SMALLER, TINY, copy_of_project, run_study


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Path:
    """A project after the whole tiny study, two jobs at a time; not to be changed."""
    project = copy_of_project(tmp_path_factory.mktemp("finished") / "project", TINY)
    run_study(project, cores=2)
    return project


@pytest.fixture(scope="session")
def finished_smaller(tmp_path_factory) -> Path:
    """A project after a part of the same study, one job at a time; not to be changed."""
    project = copy_of_project(tmp_path_factory.mktemp("finished_smaller") / "project", SMALLER)
    run_study(project, cores=1)
    return project


@pytest.fixture
def copy_of(tmp_path) -> Callable[[Path], Path]:
    """Makes a copy of a project, with its results and Snakemake's memory of them; all dates stay."""
    return lambda project: Path(shutil.copytree(project, tmp_path / "copy"))
