"""Studies on a real Slurm: the same results as on one machine, whatever ends a job, the node or the run."""

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from running import (
    CONFIGURATION,
    PROJECT,
    SAID,
    SMALLER,
    contents,
    copy_of_project,
    environment,
    planned_jobs,
    results,
    run_study,
    without_times,
)
from slurm import Cluster, running_cluster

PATIENCE = 900  # seconds until a test gives up, much more than any machine should need
PROFILE = "profiles/slurm"
SHORT = 10  # minutes that a rule may say of itself and still run where Snakemake does
# Jobs that a model runs in claim a GPU; there is none, so they run on the processor, as in the study beside it.
STUDY = SMALLER | {"device": "auto"}
# What is short in a small study goes together: docs/operations.md.
PACKED = (
    "train=models",
    "read_texts=models",
    "score=statistics",
    "summarise_scores=statistics",
    "measure_disparity=statistics",
    "estimate_effects=statistics",
    "permute_verdicts=statistics",
    "permute_groups=statistics",
    "adjust_for_covariates=statistics",
)

# The plugin asks about jobs less and less often, which is right for hours and long for seconds.
ASKING_OFTEN = """
import asyncio, sys
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

async def sleep(self):
    await asyncio.sleep(0.5)

RemoteExecutor.sleep = sleep
from snakemake.cli import main
main()
"""


@pytest.fixture
def cluster(slurm_programs, tmp_path) -> Iterator[Cluster]:
    """Slurm on this machine, with one node and one GPU."""
    with running_cluster(tmp_path / "cluster") as cluster:
        yield cluster


def start_on_cluster(project: Path, cluster: Cluster, *arguments: str) -> subprocess.Popen:
    """Start Snakemake in ``project`` with the profile for Slurm; what it says goes to the file ``SAID``."""
    command = [sys.executable, "-c", ASKING_OFTEN, *arguments, "--configfile", CONFIGURATION, "--profile", PROFILE]
    command += ["--slurm-status-command", "squeue", "--latency-wait", "10"]
    with open(project / SAID, "a", encoding="utf-8") as said:
        return subprocess.Popen(
            command,
            cwd=project,
            env=environment() | cluster.variables,
            stdout=said,
            stderr=subprocess.STDOUT,
        )


def said(project: Path, cluster: Cluster) -> str:
    """What the runs of a project have said, and what the cluster has to say."""
    logs = [path.read_text() for path in sorted((project / ".snakemake/slurm_logs").rglob("*.log"))]
    return "\n".join([(project / SAID).read_text(), *logs, str(cluster.jobs()), cluster.logs()])


def finish(project: Path, cluster: Cluster, *arguments: str) -> None:
    """Run Snakemake to its end, which must be a success."""
    assert start_on_cluster(project, cluster, *arguments).wait(PATIENCE) == 0, said(project, cluster)


def jobs_of(cluster: Cluster, rule: str) -> list[dict[str, str]]:
    """The jobs of a rule, or of a group that has it, first of which was submitted first."""
    jobs = [job for job in cluster.jobs() if rule in job.get("Comment", "")]
    return sorted(jobs, key=lambda job: int(job["JobId"]))


def wait_for(happened: Callable[[], Any], project: Path, cluster: Cluster, run: subprocess.Popen) -> Any:
    """Wait for a moment of a run, which must still be going on then; what was seen."""
    deadline = time.monotonic() + PATIENCE
    while not (seen := happened()):
        assert run.poll() is None, f"the run ended before:\n{said(project, cluster)}"
        assert time.monotonic() < deadline, f"still waiting:\n{said(project, cluster)}"
        time.sleep(0.1)
    return seen


def running(cluster: Cluster, rule: str) -> list[dict[str, str]]:
    """The jobs of the rule that are at work."""
    return [job for job in jobs_of(cluster, rule) if job["JobState"] == "RUNNING"]


@pytest.mark.slow
def test_study_through_slurm_is_that_of_one_machine(finished_smaller, cluster, tmp_path):
    """Although its first job is killed for its memory, and Snakemake itself while jobs are at work."""
    project = copy_of_project(tmp_path / "project", STUDY)
    packed = ("tables", "--groups", *PACKED)
    little = ("--set-resources", "train:mem_mb=150 if attempt == 1 else 4000", "read_texts:mem_mb=150 * attempt")
    killed = start_on_cluster(project, cluster, *packed, *little)
    try:
        wait_for(lambda: running(cluster, "attribute"), project, cluster, killed)
    finally:
        killed.kill()
        killed.wait()
    first, second = jobs_of(cluster, "train")
    assert "Exceeded job memory limit" in Path(first["StdOut"]).read_text()
    assert second["JobState"] == "COMPLETED"
    assert memory(first) == 150
    assert memory(second) == 4000

    finish(project, cluster, *packed)
    tables, expected = contents(results(project) / "tables"), contents(results(finished_smaller) / "tables")
    tables = {name: content for name, content in tables.items() if not Path(name).name.startswith(".")}
    assert tables.keys() == expected.keys()
    assert [name for name in without_times(expected) if tables[name] != expected[name]] == []
    assert planned_jobs(project, "tables") == set()

    on_gpu = [job for job in cluster.jobs() if "gpu" in job.get("TresPerJob", "")]
    assert {rule for job in on_gpu for rule in re.findall("train|attribute_path|attribute_lime", job["Comment"])} == {
        "train",
        "attribute_path",
        "attribute_lime",
    }
    times = sorted((job["StartTime"], job["EndTime"]) for job in on_gpu)
    assert [(one, other) for one, other in pairwise(times) if other[0] < one[1]] == []
    print_overhead(project, cluster)
    here = {"import_dataset", "measure_quality", "summarise_disparity", "tabulate_disparity", "measure_co_occurrence"}
    assert [job["Comment"] for job in cluster.jobs() if any(rule in job["Comment"] for rule in here)] == []
    assert {job["Account"] for job in cluster.jobs()} == {"evenlight"}
    assert {job["Partition"] for job in on_gpu} == {"gpu"}
    assert {job["Partition"] for job in cluster.jobs() if "TresPerJob" not in job} <= {"cpu"}


def print_overhead(project: Path, cluster: Cluster) -> None:
    """How long jobs were on the node, and how much of it their commands took (``pytest -s``)."""
    for family in ("path", "lime"):
        minutes, seconds = jobs_of(cluster, f"attribute_{family}")[-1]["RunTime"].split(":")[1:]
        measured = project / "benchmarks/tiny/attribute/demo/ola_cea/seed0" / f"{family}.tsv"
        at_work = measured.read_text().splitlines()[1].split()[0]
        print(f"attribute_{family}: {60 * int(minutes) + int(seconds)} s on the node, {at_work} s of them at work")


def memory(job: dict[str, str]) -> int:
    """What a job asked for, in megabytes."""
    return int(re.fullmatch(r"(\d+)M", job["MinMemoryNode"])[1])


@pytest.mark.slow
def test_a_node_that_vanishes_is_only_a_delay(finished_smaller, cluster, tmp_path):
    """Also to an array of jobs, and so is a job that somebody cancels."""
    project = copy_of_project(tmp_path / "project", STUDY | {"seeds": [0, 1]})
    models = [f"results/tiny/models/demo/ola_cea/seed{seed}/model.safetensors" for seed in (0, 1)]
    run = start_on_cluster(project, cluster, *models, "--slurm-array-jobs", "train")
    try:
        wait_for(lambda: running(cluster, "train"), project, cluster, run)
        assert {task["ArrayTaskId"] for task in jobs_of(cluster, "train")} == {"1", "2"}
        cluster.lose_node()
        assert not any((project / path).exists() for path in models)
        cluster.start_node()
        task, *_ = wait_for(lambda: running(cluster, "train"), project, cluster, run)
        # The number of one task may be that of the whole array.
        cluster.asked("scancel", f"{task['ArrayJobId']}_{task['ArrayTaskId']}")
        assert run.wait(PATIENCE) == 0, said(project, cluster)
    finally:
        run.kill()
        run.wait()
    tasks = {job["JobId"]: job for job in jobs_of(cluster, "train")}
    assert tasks.pop(task["JobId"])["JobState"] == "CANCELLED"
    assert [task["JobState"] for task in tasks.values()] == ["COMPLETED", "COMPLETED"]
    assert "1" in {task["Restarts"] for task in jobs_of(cluster, "train")}
    assert (project / models[0]).read_bytes() == (finished_smaller / models[0]).read_bytes()
    assert planned_jobs(project, *models) == set()


def test_the_documented_groups_are_the_tested_ones():
    documented = (PROJECT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\b\w+=(?:models|statistics)\b", documented)) == set(PACKED)


def asked_for(project: Path, *arguments: str) -> dict[str, dict[str, int]]:
    """The numbers among the resources of each rule in a dry run, of its job that asks for most."""
    stdout = run_study(project, "--dry-run", "--profile", PROFILE, *arguments)
    listed = re.findall(r"^(?:local)?rule (\w+):\n(?:.*\n)*? +resources: (.*)$", stdout, re.MULTILINE)
    assert listed
    # Jobs are listed in any order.
    found: dict[str, list[dict[str, int]]] = {}
    for rule, resources in listed:
        numbers = re.findall(r"\b(gpu|mem_mb|runtime)=(\d+)", resources)
        found.setdefault(rule, []).append({name: int(number) for name, number in numbers})
    return {rule: max(jobs, key=lambda numbers: sorted(numbers.items())) for rule, jobs in found.items()}


def test_each_job_asks_for_more_with_each_attempt(tmp_path):
    """But those that run where Snakemake does, because they are short."""
    project = copy_of_project(tmp_path / "project", STUDY)
    first, third = asked_for(project), asked_for(project, "--attempt", "3")
    grown = {rule for rule in first if first[rule] != third[rule]}
    assert {"train", "read_texts", "attribute_lime", "score", "permute_groups"} <= grown
    for rule in grown:
        assert third[rule] == first[rule] | {name: 3 * first[rule][name] for name in ("mem_mb", "runtime")}
    assert {numbers["runtime"] for rule, numbers in first.items() if rule not in grown and numbers} == {SHORT}
    assert min(first[rule]["runtime"] for rule in grown) > SHORT
