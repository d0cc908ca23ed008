"""A study of 20,000 jobs can be planned, and the system can start each of them."""

import re

import pytest
import yaml
from running import PROJECT, configure, copy_of_project, snakemake

# Linux takes no argument longer than this (MAX_ARG_STRLEN), and a rule's command is one argument of its shell.
LONGEST_ARGUMENT = 131_072
JOBS = 20_000


@pytest.mark.slow
def test_no_command_of_20_000_jobs_is_too_long(tmp_path, capsys):
    """The published grid with more seeds: what grows with them must not stand in a command."""
    study = yaml.safe_load((PROJECT / "config" / "studies" / "disparity.yaml").read_text(encoding="utf-8"))
    study["seeds"] = list(range(99))  # 200 jobs each
    project = copy_of_project(tmp_path / "project")
    configure(project, study)
    done = snakemake(project, "--dry-run", "--printshellcmds")
    assert done.returncode == 0, done.stdout[-5000:]
    assert int(re.search(r"^total +(\d+)$", done.stdout, re.MULTILINE)[1]) >= JOBS
    commands = re.findall(r"^Shell command: (.*)$", done.stdout, re.MULTILINE)
    assert len(commands) >= JOBS
    longest = max(commands, key=len)
    with capsys.disabled():
        print(f"\nlongest command of {len(commands):,}: {len(longest):,} characters: {longest[:60]} …")
    # Far below, since what is short here may be longer elsewhere: paths, and names of methods.
    assert len(longest) < LONGEST_ARGUMENT / 4
