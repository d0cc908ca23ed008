"""How `make` makes its environments, and what it says to whoever starts wrongly."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from running import PROJECT, copy_of_project, environment
from warm_snakemake import run

ENVIRONMENTS = (".venv/ready", ".venv/ready-for-tests", ".venv-archive/ready", ".venv-ferret/ready")


@pytest.fixture
def folder(tmp_path) -> Path:
    """A fresh clone, as far as `make` reads it."""
    for name in ("envs", "bench"):
        shutil.copytree(PROJECT / name, tmp_path / "clone" / name, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    shutil.copy(PROJECT / "Makefile", tmp_path / "clone")
    return tmp_path / "clone"


def program(folder: Path, name: str, text: str) -> Path:
    """A program that is found first on the PATH of :func:`make`."""
    path = folder / "first" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    """Run `make`, with all that it says in ``stdout``."""
    path = f"{folder / 'first'}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE", "UV"))}
    return ended(folder, "make", "--no-print-directory", *arguments, **kept | {"PATH": path} | variables)


def ended(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess:
    """Run a command to its end."""
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(command, cwd=folder, env=variables, **pipe)


@pytest.mark.parametrize("target", ENVIRONMENTS)
def test_uv_makes_the_environments_where_it_is(folder, target):
    uv = program(folder, "uv", "exit 1")
    indexes = {"PIP_EXTRA_INDEX_URL": "https://one.example https://two.example", "PIP_FIND_LINKS": "wheels"}
    planned = make(folder, "-n", target, **indexes).stdout
    assert f'"{uv}" venv --quiet --clear --python' in planned
    installed = [line for line in planned.splitlines() if f'"{uv}" pip install' in line]
    assert installed
    # Where pip would look, uv does: else it would take torch with CUDA from the registry.
    found = "--index https://one.example --index https://two.example --find-links wheels"
    assert [line for line in installed if found not in line] == []
    assert "pip install -qq" not in planned


@pytest.mark.parametrize("target", ENVIRONMENTS)
def test_without_uv_pip_does(folder, target):
    planned = make(folder, "-n", target, "UV=").stdout
    assert "-m venv --clear" in planned
    assert "-m pip install -qq" in planned
    assert "--quiet" not in planned


@pytest.mark.parametrize("target", [".venv/ready", "unpack", "check-archive"])
def test_an_older_python_is_refused_with_the_remedy(folder, target):
    program(folder, "python3", 'case "$1" in -c) exit 1;; --version) echo Python 3.10.14;; esac')
    refused = make(folder, target, "UV=")
    assert refused.returncode != 0
    assert "3.11 or newer, and 'python3'" in refused.stdout
    assert "make PYTHON=python3.12" in refused.stdout
    assert not (folder / ".venv").exists()


@pytest.fixture
def read_only():
    """Runs a command in a folder that cannot be written to, by root either; gives what it says."""

    def run(folder: Path, *command: str, **variables: str) -> str:
        mounted = 'mount --bind . . && mount -o remount,ro,bind . && cd "$PWD" && exec "$@"'
        apart = ["unshare", "--map-root-user", "--mount", "sh", "-c", mounted, "sh"]
        if ended(folder, *apart, "true", **os.environ).returncode:
            pytest.skip("needs a kernel that lets users mount in a namespace of their own")
        done = ended(folder, *apart, *command, **os.environ | variables)
        assert done.returncode != 0
        return done.stdout

    return run


def test_a_folder_that_cannot_be_written_to_is_refused(folder, read_only):
    said = read_only(folder, "make", ".venv/ready")
    assert f"error: {folder} cannot be written" in said
    assert "Installing" not in said


@pytest.mark.parametrize("uv", [True, False], ids=["uv", "pip"])
def test_requirements_that_cannot_be_fetched_are_told_with_the_remedy(folder, uv):
    """As without a network: what installs has found no file."""
    program(folder, "python3", '[ "$2" = venv ] && mkdir -p .venv/bin && cp "$0" .venv/bin/python; [ "$2" != pip ]')
    named = program(folder, "uv", '[ "$1" != pip ]') if uv else ""
    refused = make(folder, ".venv/ready", f"UV={named}")
    assert refused.returncode != 0
    assert "requirements could not be" in refused.stdout
    assert "PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER make" in refused.stdout
    assert not (folder / ".venv" / "ready").exists()


def snakemake_says(folder: Path, **variables: str) -> str:
    """What a run says that is refused."""
    done = run(["--dry-run", "--configfile", f"{PROJECT}/config/demo.yaml"], folder, environment(**variables))
    assert done.returncode != 0
    assert "Traceback" not in done.stdout, done.stdout
    return " ".join(done.stdout.split())


def test_snakemake_in_the_folder_of_the_workflow_is_sent_to_the_one_above(tmp_path):
    project = copy_of_project(tmp_path / "project")
    assert f"start Snakemake in the folder above, where config/ lies and results are written: cd {project}" in (
        snakemake_says(project / "workflow")
    )


def test_snakemake_in_a_folder_that_cannot_be_written_to_is_refused(tmp_path, read_only):
    project = copy_of_project(tmp_path / "project")
    said = read_only(project, "snakemake", "--dry-run", "--configfile", "config/demo.yaml", **environment())
    assert f"{project} cannot be written" in said
    assert "Traceback" not in said
