"""Devices that jobs share: one job has one, and gives it back however it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evenlight.jobs import gpus
from evenlight.models.devices import pick_device

JOB = """
import os, sys
from evenlight.jobs.gpus import lease
lease()
lease()
print("CUDA_VISIBLE_DEVICES is", os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def job(tmp_path):
    """Starts jobs on a machine with these devices; none outlives the test."""
    started = []

    def start(devices: str | None) -> subprocess.Popen:
        variables = {
            name: value for name, value in os.environ.items() if name not in (gpus.DEVICES_VARIABLE, gpus.VISIBLE)
        }
        variables |= {"TMPDIR": str(tmp_path)} | ({gpus.DEVICES_VARIABLE: devices} if devices is not None else {})
        process = subprocess.Popen(
            [sys.executable, "-c", JOB], env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with process:
            process.kill()


def device_of(process: subprocess.Popen) -> str:
    """What a job sees, once it has it."""
    for line in process.stdout:
        if line.startswith("CUDA_VISIBLE_DEVICES is "):
            return line.split()[-1]
    raise AssertionError("the job has ended")


def test_two_jobs_have_a_device_each_and_the_third_waits(job):
    first, second = job("3,7"), job("3,7")
    held = {device_of(first): first, device_of(second): second}
    assert held.keys() == {"3", "7"}
    third = job("3,7")
    assert third.stdout.readline() == "waiting for a GPU: other jobs have 3, 7\n"
    held["7"].send_signal(signal.SIGKILL)
    assert device_of(third) == "7"
    fourth = job("3,7")
    assert "waiting" in fourth.stdout.readline()
    held["3"].stdin.close()
    assert device_of(fourth) == "3"


def test_device_of_a_model_is_leased(monkeypatch):
    leased = []
    monkeypatch.setattr(gpus, "lease", lambda: leased.append(True))
    for device, times in (("cpu", 0), ("auto", 1)):
        pick_device(device)
        assert len(leased) == times


def test_nothing_is_leased_where_nothing_is_shared(job, tmp_path):
    assert device_of(job(None)) == "None"
    assert device_of(job("")) == "None"
    assert list(Path(tmp_path).iterdir()) == []


def test_devices_are_those_named_then_those_visible_then_those_of_the_driver(monkeypatch, tmp_path):
    driver = tmp_path / "nvidia-smi"
    driver.write_text("#!/bin/sh\nprintf 'GPU-a\\nGPU-b\\n'\n")
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv(gpus.VISIBLE, raising=False)
    monkeypatch.delenv(gpus.DEVICES_VARIABLE, raising=False)
    assert gpus.devices() == ["GPU-a", "GPU-b"]
    monkeypatch.setenv(gpus.VISIBLE, "1,2")
    assert gpus.devices() == ["1", "2"]
    monkeypatch.setenv(gpus.DEVICES_VARIABLE, "5")
    assert gpus.devices() == ["5"]
    monkeypatch.delenv(gpus.VISIBLE)
    monkeypatch.delenv(gpus.DEVICES_VARIABLE)
    driver.write_text("#!/bin/sh\necho 'no driver' >&2; exit 9\n")
    assert gpus.devices() == []
    monkeypatch.setenv("PATH", "")
    assert gpus.devices() == []
