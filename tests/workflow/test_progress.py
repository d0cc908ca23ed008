"""How far a whole study is, and how long it still takes: what snakesee shows of a run."""

import os
import re
import subprocess
from pathlib import Path

from running import environment

STEPS = re.compile(r"^(\d+) of (\d+) steps \(\d+%\) done$", re.MULTILINE)


def status(snakesee: str, project: Path) -> str:
    """What is shown once, without a terminal."""
    variables = environment(COLUMNS="200", NO_COLOR="1", HOME=str(project))
    done = subprocess.run([snakesee, "status", str(project)], env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_jobs_and_time_left_are_shown_of_the_whole_study(snakesee, finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    logs = list((project / ".snakemake" / "log").iterdir())
    [log] = (log for log in logs if STEPS.search(log.read_text()))
    for other in {*logs} - {log}:  # of runs that found nothing to do
        other.unlink()
    said = log.read_text()
    total = int(STEPS.search(said)[2])
    assert total > 20
    assert f"Progress: {total}/{total} (100.0%)" in status(snakesee, project)
    # As it stood when half of the jobs were done; the times of jobs are known from Snakemake's records.
    half = next(match for match in STEPS.finditer(said) if int(match[1]) >= total // 2)
    log.write_text(said[: half.end() + 1])
    os.utime(log)
    shown = status(snakesee, project)
    assert f"Progress: {half[1]}/{total} " in shown
    assert re.search(r"^ETA: .*[1-9]", shown, re.MULTILINE), shown
    assert "Status: RUNNING" not in shown
    # As while a run is at work (test_interruption.py).
    locks = project / ".snakemake" / "locks"
    locks.mkdir(exist_ok=True)
    (locks / "evenlight").touch()
    assert "Status: RUNNING" in status(snakesee, project)
