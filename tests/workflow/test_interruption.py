"""Runs that are killed, stopped, or started twice: nothing half done is left. What comes of them: test_faults.py."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from running import (
    SAID,
    SMALLER,
    assert_same_results,
    contents,
    copy_of_project,
    edited,
    environment,
    planned_jobs,
    results,
    run_study,
    snakemake,
)
from stages import LOGS, PATIENCE, STAGES, log_says, started, wait_until


@pytest.mark.slow
def test_a_killed_training_goes_on_from_its_checkpoint(tmp_path):
    """Killed as soon as there is one: the same weights as of a training that ran through, and nothing else is left."""
    study = edited(SMALLER, "trainings", "one_layer", "epochs", value=40)
    undisturbed = copy_of_project(tmp_path / "undisturbed", study | {"checkpoint_minutes": 0})
    run_study(undisturbed, "--until", "train")
    project = copy_of_project(tmp_path / "project", study | {"checkpoint_minutes": 1e-6})
    models = results(project) / "models" / "demo" / "ola_cea"
    with started(project) as run:
        wait_until(lambda _: any(models.glob(".seed0.checkpoint/*.pt")), project, run)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    # Snakemake deletes what it knows of a job that did not end.
    run_study(project, "--until", "train")
    assert log_says("train/demo/ola_cea/seed0.log", "goes on after step")(project)
    without = {"seed0/history.csv"}  # which has times
    found, expected = contents(models), contents(results(undisturbed) / "models" / "demo" / "ola_cea")
    assert found.keys() == expected.keys()
    assert {name for name in expected if found[name] != expected[name]} <= without
    assert "train" not in {rule for rule, _ in planned_jobs(project)}


def processes_in(folder: Path) -> set[int]:
    """The processes that work in a folder or below it."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(process / "cwd")).is_relative_to(folder):
                found.add(int(process.name))
        except OSError:  # it has ended
            continue
    return found


def test_warm_jobs_end_with_a_killed_snakemake(tmp_path):
    project = copy_of_project(tmp_path / "project", SMALLER)
    with started(project) as run:
        wait_until(STAGES["model is trained"].is_reached, project, run)
        jobs = processes_in(project) - {run.pid}
        assert jobs
        run.kill()
        run.wait()
        deadline = time.monotonic() + PATIENCE
        while processes_in(project):
            assert time.monotonic() < deadline, processes_in(project)
            time.sleep(0.01)


AT_WORK = "evenlight"  # by which snakesee knows of a run


def listed(project: Path) -> list[str]:
    """What lies in the folder of Snakemake's locks."""
    return [path.name for path in (project / ".snakemake" / "locks").glob("*")]


def test_second_run_is_refused_while_one_is_at_work(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    for path in (results(project) / "figures").rglob("*.svg"):
        path.unlink()
    log = project / LOGS / "draw_effects" / "demo.log"
    log.unlink()
    with started(project) as first:
        wait_until(STAGES["figures are drawn"].is_reached, project, first)
        os.killpg(first.pid, signal.SIGSTOP)
        assert AT_WORK in listed(project)
        second = snakemake(project, "--cores", "1")
        os.killpg(first.pid, signal.SIGCONT)
        assert first.wait(PATIENCE) == 0, (project / SAID).read_text()
    assert AT_WORK not in listed(project)
    assert second.returncode != 0
    assert f"another run is at work in {project}; wait for it or stop it" in second.stdout
    assert "Traceback" not in second.stdout
    assert_same_results(project, finished_smaller)


HALF_WRITTEN = """
import argparse, time
from evenlight.jobs.command_line import run
from evenlight.core.tables import replacing

def write(arguments):
    with replacing("results/table.csv") as temporary:
        temporary.write_text("half")
        print("writing", flush=True)
        # Not one long sleep: a signal just before it would wait for its end.
        while True:
            time.sleep(0.1)

run(write, argparse.ArgumentParser())
"""


def terminate_when(text: str, command: list[str], folder: Path) -> int:
    """Send SIGTERM to a command in ``folder`` once it has printed ``text``; its status."""
    scripts = Path(__file__).parents[2] / "workflow" / "scripts"
    variables = environment(PYTHONPATH=str(scripts))
    with subprocess.Popen(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as job:
        try:
            assert any(text in line for line in job.stdout)
            job.terminate()
            return job.wait(PATIENCE)
        finally:
            job.kill()


def test_terminated_script_leaves_no_half_written_file(tmp_path):
    status = terminate_when("writing", [sys.executable, "-c", HALF_WRITTEN], tmp_path)
    assert status == 128 + signal.SIGTERM
    assert contents(tmp_path) == {}


def test_terminated_training_leaves_nothing(finished_smaller, tmp_path):
    earlier = results(finished_smaller) / "models" / "demo" / "ola_cea" / "seed0"
    output = tmp_path / "models" / "seed0"
    settings = json.loads((earlier / "manifest.json").read_text(encoding="utf-8"))["settings"]
    settings["model"]["training"]["epochs"] = 10**9
    items = results(finished_smaller) / "datasets" / "demo" / "items.parquet"
    flags = [
        "--items",
        str(items),
        "--units",
        str(items.with_name("units.parquet")),
        "--settings",
        json.dumps(settings),
    ]
    flags += ["--device", "cpu", "--output", str(output)]
    status = terminate_when(
        "training on", [sys.executable, str(finished_smaller / "workflow/scripts/models/train.py"), *flags], tmp_path
    )
    assert status == 128 + signal.SIGTERM
    assert contents(tmp_path) == {}
