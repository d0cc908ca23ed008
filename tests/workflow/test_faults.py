"""One comparison: whatever ends a run, in whatever stage, the same command goes on to the same tables and figures.

The smaller study is run under one fault after another, which strikes in every stage, and is compared byte for byte with
a run that nothing disturbed.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from running import (
    SAID,
    SMALLER,
    assert_same_results,
    contents,
    copy_of_project,
    planned_jobs,
    results,
    run_study,
    snakemake,
)
from slurm import Cluster, running_cluster
from stages import STAGES, started, wait_for_end, wait_until
from test_slurm import PATIENCE, said, start_on_cluster, wait_for
from warm_snakemake import Run

from evenlight.jobs.warm_start import SWITCH_VARIABLE

PLENTY = 500_000_000  # bytes
COLD = {SWITCH_VARIABLE: "0"}  # jobs are started by themselves, so that they can outlive their run


def kill_all(project: Path, stages: Iterable[str]) -> None:
    """SIGKILL of Snakemake and its jobs; each run comes to the next stage."""
    for stage in stages:
        with started(project) as run:
            wait_until(STAGES[stage].is_reached, project, run)
            os.killpg(run.pid, signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL


def kill_snakemake(project: Path, stages: Iterable[str]) -> None:
    """SIGKILL of Snakemake alone: its jobs write what they have while later ones read that of their successors."""
    with ExitStack() as runs:
        left_behind: list[Run] = []
        for stage in stages:
            run = runs.enter_context(started(project, **COLD))
            wait_until(STAGES[stage].is_reached, project, run)
            run.kill()
            run.wait()
            # The job that it leaves is held up until the next run has done the same work.
            os.killpg(run.pid, signal.SIGSTOP)
            for earlier in left_behind:
                continue_if_there(earlier)
            left_behind.append(run)
        last = runs.enter_context(started(project, **COLD))
        continue_if_there(left_behind[-1])
        assert last.wait(PATIENCE) == 0, (project / SAID).read_text()
        for run in left_behind:
            wait_for_end(run)


def continue_if_there(run: Run) -> None:
    """Let the jobs of a run go on that were held up."""
    with suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGCONT)


def fill_disk(project: Path, stages: Iterable[str]) -> None:
    """No byte is left from a moment of each stage until the run has given up."""
    disk = project.parent
    for stage in stages:
        with started(project) as run:
            wait_until(STAGES[stage].is_reached, project, run)
            resize(disk, 0)
            assert run.wait(PATIENCE) != 0
        resize(disk, PLENTY)
        assert "No space left on device" in (project / SAID).read_text(), stage


def cut_short(project: Path, stages: Iterable[str]) -> None:
    """Half of a file is gone, with its date as it was, as after a disk's fault: it is named, to be deleted."""
    run_study(project)
    # From the last one on, so that what is before each of them is still whole.
    for stage in reversed([stage for stage in stages if STAGES[stage].file]):
        path = results(project) / STAGES[stage].file
        about = path.stat()
        path.write_bytes(path.read_bytes()[: about.st_size // 2])
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
        # What is made of it, so that it is read.
        after = list(STAGES.values())[list(STAGES).index(stage) + 1 :]
        for made in {*(results(project) / each.file for each in after if each.file)} - {path}:
            made.unlink(missing_ok=True)
        for made in (results(project) / "tables").glob("*"):  # gone with its last table
            if made != path:
                made.unlink()
        shutil.rmtree(results(project) / "figures", ignore_errors=True)
        done = snakemake(project, "--cores", "2")
        assert done.returncode != 0
        assert "Traceback" not in done.stdout, done.stdout
        folder = str(path.parent.relative_to(project))
        assert any(folder in line and "delete it" in line for line in done.stdout.splitlines()), done.stdout
        if path.suffix == ".safetensors":
            shutil.rmtree(path.parent)
        else:
            path.unlink()


def lose_node(project: Path, stages: Iterable[str]) -> None:
    """The machine of a cluster vanishes with the job, and comes back; Snakemake, which runs elsewhere, only waits."""
    with running_cluster(project.parent / "cluster") as cluster:
        run = start_on_cluster(project, cluster)
        try:
            for stage in [stage for stage in stages if STAGES[stage].rule]:
                wait_for(lambda stage=stage: STAGES[stage].begins(project), project, cluster, run)
                cluster.lose_node()
                cluster.start_node()
            assert run.wait(PATIENCE) == 0, said(project, cluster)
            struck = {STAGES[stage].rule for stage in stages} - {""}
            assert struck <= lost(cluster), said(project, cluster)
        finally:
            run.kill()
            run.wait()


def lost(cluster: Cluster) -> set[str]:
    """The rules of jobs that the node took with it: Slurm starts them again, or sees them fail and Snakemake does."""
    ended = [job for job in cluster.jobs() if job["Restarts"] != "0" or job["JobState"] != "COMPLETED"]
    rules = {stage.rule for stage in STAGES.values()} - {""}
    return {rule for rule in rules for job in ended if rule in job.get("Comment", "")}


# What a fault does, and what it needs of the machine.
FAULTS: dict[str, tuple[Callable[[Path, Iterable[str]], None], str]] = {
    "everything is killed": (kill_all, ""),
    "Snakemake is killed": (kill_snakemake, ""),
    "the disk is full": (fill_disk, "disk"),
    "a file is cut short": (cut_short, ""),
    "the node vanishes": (lose_node, "slurm_programs"),
}
EVERY = tuple(STAGES)
# One in which a job goes on from what it has kept, and one that is done again from its beginning.
SOME = {"Snakemake is killed": ("model is trained",), "a file is cut short": ("explanations are scored",)}
TWO = ("model is trained", "explanations are scored")


# By default the commonest fault strikes in all stages. `make test-slow` has the others, each in one or two stages and
# in all. A vanishing node, which Slurm takes minutes to notice, strikes in all only; test_slurm.py has one.
OFTEN, LONG = "everything is killed", "the node vanishes"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "stages"),
    [
        (OFTEN, EVERY),
        *(
            pytest.param(fault, stages, marks=pytest.mark.slow)
            for fault in FAULTS
            if fault != OFTEN
            for stages in ([EVERY] if fault == LONG else [SOME.get(fault, TWO), EVERY])
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} stages",
)
def test_the_results_are_those_of_an_undisturbed_run(fault, stages, finished_smaller, tmp_path, request):
    strike, needed = FAULTS[fault]
    folder = tmp_path
    if needed:
        folder = request.getfixturevalue(needed) or tmp_path
    project = copy_of_project(folder / "project", SMALLER)
    # What runs say lies elsewhere: it must be written on a full disk too.
    (project / SAID).symlink_to(tmp_path / SAID)
    strike(project, stages)
    run_study(project)
    assert_same_results(project, finished_smaller)
    expected = contents(results(finished_smaller))
    found = contents(results(project))
    made = [STAGES[stage].file for stage in stages if STAGES[stage].file]
    assert [name for name in made if found[name] != expected[name]] == []
    assert planned_jobs(project) == set()


@pytest.fixture
def disk(tmp_path) -> Iterator[Path]:
    """A file system of its own, in memory, whose room :func:`resize` changes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={PLENTY}", "tmpfs", disk]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"a full disk needs a file system of its own, and this user may not mount one: {done.stderr}")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def resize(disk: Path, room: int) -> None:
    """Leave ``room`` bytes on the disk."""
    for _ in range(20):
        used = shutil.disk_usage(disk).used
        command = ["mount", "-o", f"remount,size={used + room}", disk]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:  # else something was written since
            return
    raise AssertionError(done.stderr)
