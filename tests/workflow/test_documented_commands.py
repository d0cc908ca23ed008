"""Every command of the first page, the page for users and the gallery, planned, since most take long."""

import re
import shlex

import pytest
from running import PROJECT, copy_of_project, environment
from warm_snakemake import run

PAGES = ("README.md", "docs/use.md")
GALLERY = PROJECT / "docs" / "gallery.md"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What needs the network, or other software, is tried elsewhere (tests/workflow/test_remote.py) or not at all.
ELSEWHERE = ("pip install", "snakedeploy", "source ")


def commands() -> list[str]:
    """The lines of all blocks of commands, without their comments, each once."""
    blocks = [
        block
        for page in PAGES
        for language, block in FENCE.findall((PROJECT / page).read_text(encoding="utf-8"))
        if not language
    ]
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    lines += re.findall(r"^Command: `(.*)`$", GALLERY.read_text(encoding="utf-8"), re.MULTILINE)
    return [line for line in dict.fromkeys(lines) if line and not line.startswith(ELSEWHERE)]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A fresh copy with files in the place of a model of the demo, which the audit's example takes."""
    project = copy_of_project(tmp_path_factory.mktemp("documented") / "project")
    model = project / "results/demo/models/demo_books/small_bert/seed0"
    model.mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (model / name).write_text("{}", encoding="utf-8")
    return project


@pytest.mark.parametrize("command", commands())
def test_a_documented_command_can_be_planned(project, command):
    program, *arguments = shlex.split(command)
    if program == "make":
        assert re.search(rf"^{arguments[0]}:.*  ## ", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        return
    assert program == "snakemake"
    asked = [*arguments, "-n"] if "--configfile" not in arguments else ["-n", *arguments]
    planned = run(asked, project, environment())
    assert planned.returncode == 0, planned.stdout


def test_the_pages_have_commands():
    assert len(commands()) >= 10
