"""Studies that are run once for all tests of the workflow, and copies of them to change."""

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from running import SMALLER, TINY, configure, copy_of_project, run_study


def project_after(study: dict, name: str, cores: int, temporary: pytest.TempPathFactory, worker: str) -> Path:
    """A project after a whole study, run by the first of the processes among which the tests are shared out."""
    folder = temporary.getbasetemp() if worker == "master" else temporary.getbasetemp().parent
    project = folder / name
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / f"{name}.done"
        if not done.exists():
            shutil.rmtree(project, ignore_errors=True)
            copy_of_project(project, study)
            run_study(project, cores=cores)
            done.touch()
    return project


@pytest.fixture(scope="session")
def finished(tmp_path_factory, worker_id) -> Path:
    """A project after the whole tiny study, two jobs at a time; not to be changed."""
    return project_after(TINY, "finished", 2, tmp_path_factory, worker_id)


@pytest.fixture(scope="session")
def finished_smaller(tmp_path_factory, worker_id) -> Path:
    """A project after a part of the same study, one job at a time; not to be changed."""
    return project_after(SMALLER, "finished_smaller", 1, tmp_path_factory, worker_id)


@pytest.fixture
def copy_of(tmp_path) -> Callable[[Path], Path]:
    """Makes a copy of a project, with its results and Snakemake's memory of them; all dates stay."""
    return lambda project: Path(shutil.copytree(project, tmp_path / "copy"))


@pytest.fixture(scope="module")
def without_results(tmp_path_factory) -> Path:
    """A project without results."""
    return copy_of_project(tmp_path_factory.mktemp("without_results") / "project")


@pytest.fixture
def project(without_results) -> Path:
    """The same one, with the tiny study until a test has another."""
    configure(without_results, TINY)
    return without_results
