"""Which ``python`` runs the jobs: that of the PATH where it can, else the one that runs Snakemake, else none."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from evenlight.jobs import interpreter

OURS = Path(sys.executable).parent
ABLE = f'exec {sys.executable} "$@"'


@pytest.fixture
def path_with(tmp_path, monkeypatch):
    """Sets a PATH whose ``python`` is a script of one line, or is not there; the PATH."""

    def setting(line: str | None) -> str:
        if line:
            python = tmp_path / "python"
            python.write_text(f"#!/bin/sh\n{line}\n")
            python.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        return str(tmp_path)

    return setting


def test_a_python_that_can_run_jobs_is_left(path_with):
    path = path_with(ABLE)
    assert interpreter.problem_with_python() is None
    assert os.environ["PATH"] == path


@pytest.mark.parametrize("line", ["exec /bin/false", f'exec {sys.executable} -S -E "$@"', None])
def test_another_gives_way_to_the_one_that_runs_snakemake(path_with, line):
    path = path_with(line)
    assert interpreter.problem_with_python() is None
    assert os.environ["PATH"] == f"{OURS}{os.pathsep}{path}"
    assert Path(shutil.which("python")).parent == OURS
    # And then nothing is asked again.
    assert interpreter.problem_with_python() is None
    assert os.environ["PATH"] == f"{OURS}{os.pathsep}{path}"


@pytest.mark.parametrize(("line", "found"), [(ABLE, "/python, which lacks"), (None, "`python`, which here")])
def test_where_none_can_the_remedy_is_said(path_with, monkeypatch, line, found):
    path = path_with(line)
    monkeypatch.setattr(interpreter, "NEEDED", ("pandas", "a_package_that_nobody_has"))
    problem = interpreter.problem_with_python()
    assert found in problem
    assert "source .venv/bin/activate" in problem
    assert os.environ["PATH"] == path


def test_an_active_environment_without_what_jobs_need_is_named(monkeypatch):
    monkeypatch.setenv("PATH", str(OURS))
    monkeypatch.setattr(interpreter, "NEEDED", ("a_package_that_nobody_has",))
    assert f"{OURS}/python" in interpreter.problem_with_python()
