"""A study of 20,000 jobs can be planned, and the system can start each of them."""

import re
from pathlib import Path

import pytest
import yaml
from running import PROJECT, TINY, configure, copy_of_project, run_study

# Linux takes no argument longer than this (MAX_ARG_STRLEN), and a rule's command is one argument of its shell.
LONGEST_ARGUMENT = 131_072
JOBS = 20_000


def longest_commands(project: Path) -> dict[str, int]:
    """How long the longest command of each script is, among those that a dry run prints."""
    stdout = run_study(project, "--dry-run", "--printshellcmds")
    commands = re.findall(r"^Shell command: (.*run\.py (\S+\.py).*)$", stdout, re.MULTILINE)
    return {script: max(len(command) for command, other in commands if other == script) for _, script in commands}


def test_no_command_grows_with_the_runs(tmp_path):
    """But for the seeds of each model, which a command may list."""
    project = copy_of_project(tmp_path / "project", TINY | {"seeds": [0]})
    few = longest_commands(project)
    configure(project, TINY | {"seeds": list(range(10))})
    many = longest_commands(project)
    assert few.keys() == many.keys()
    assert len(few) > 10
    listed = 9 * len(", 1") * len(TINY["models"])
    assert {script for script in few if many[script] - few[script] > listed} == set()


@pytest.mark.slow
def test_snakemake_looks_for_jobs_when_one_has_ended_and_not_all_the_time(tmp_path):
    """Left alone it looks again a second after each time that it looked, and so ever more often."""
    project = copy_of_project(tmp_path / "project", TINY)
    stdout = run_study(project, "--until", "train", "--verbose")
    ended = len(re.findall(r"^Finished jobid", stdout, re.MULTILINE))
    assert ended > len(TINY["models"]) * len(TINY["seeds"])
    assert 0 < len(re.findall("^Ready jobs: ", stdout, re.MULTILINE)) <= ended + 2


@pytest.mark.slow
def test_no_command_of_20_000_jobs_is_too_long(tmp_path, capsys):
    """The published grid with more seeds: what grows with them must not stand in a command."""
    study = yaml.safe_load((PROJECT / "config" / "studies" / "disparity.yaml").read_text(encoding="utf-8"))
    study["seeds"] = list(range(99))  # 200 jobs each
    project = copy_of_project(tmp_path / "project")
    configure(project, study)
    stdout = run_study(project, "--dry-run", "--printshellcmds")
    assert int(re.search(r"^total +(\d+)$", stdout, re.MULTILINE)[1]) >= JOBS
    commands = re.findall(r"^Shell command: (.*)$", stdout, re.MULTILINE)
    assert len(commands) >= JOBS
    longest = max(commands, key=len)
    with capsys.disabled():
        print(f"\nlongest command of {len(commands):,}: {len(longest):,} characters: {longest[:60]} …")
    # Far below, since what is short here may be longer elsewhere: paths, and names of methods.
    assert len(longest) < LONGEST_ARGUMENT / 4
