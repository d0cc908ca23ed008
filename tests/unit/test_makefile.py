"""What the Makefile does outside of its folder, and to environments that are links."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", f"PYTHON={sys.executable}", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("uv", ["", "/bin/true"])
@pytest.mark.parametrize("target", [".venv-archive/ready", ".venv-docs/ready", ".venv/ready", ".venv/ready-for-tests"])
def test_an_environment_that_is_a_link_is_left_as_it_is(tmp_path, target, uv):
    """The link has no stamp, or an older one: it is of another clone, perhaps, of other requirements."""
    clone, other = tmp_path / "clone", tmp_path / "other"
    clone.mkdir()
    for name in ("Makefile", "envs"):
        (clone / name).symlink_to(PROJECT / name)
    (other / "bin").mkdir(parents=True)
    (other / "bin" / "python").symlink_to(sys.executable)
    (other / "kept").touch()
    folder = target.partition("/")[0]
    (clone / folder).symlink_to(other)
    if folder != ".venv":
        (clone / ".venv" / "bin").mkdir(parents=True)
        (clone / ".venv" / "bin" / "python").symlink_to(sys.executable)
    if target != ".venv/ready":
        (clone / ".venv" / "ready").touch()
    done = make(clone, f"UV={uv}", target)
    assert done.returncode
    assert f"{folder} is a link" in done.stderr
    assert "delete the link" in done.stderr
    assert (other / "kept").exists()
    assert (other / "bin" / "python").exists()


@pytest.mark.parametrize("target", ["archive", "unpack", "check-archive"])
def test_a_study_in_another_folder_is_packed_and_unpacked(tmp_path, target):
    """As that of a module, which has no Makefile; nothing is run here."""
    done = make(tmp_path, "-n", "-f", str(PROJECT / "Makefile"), target, "STUDY=mine")
    assert done.returncode == 0, done.stderr
    [command] = [line for line in done.stdout.splitlines() if "_study.py" in line]
    assert f'"{PROJECT}/workflow/tools/' in command
    assert f'PYTHONPATH="{PROJECT}/workflow/scripts"' in command
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", ["test", "test-fast", "test-slow", "golden"])
def test_a_new_clone_gets_what_tests_need_before_they_start(tmp_path, target):
    """Each of them may be the first target of a clone, as of a weekly workflow; nothing is run here."""
    for name in ("Makefile", "envs"):
        (tmp_path / name).symlink_to(PROJECT / name)
    done = make(tmp_path, "-n", target)
    assert done.returncode == 0, done.stderr
    before, starts, _ = done.stdout.partition(" -m pytest ")
    assert starts
    assert "-r envs/tests.txt" in before
