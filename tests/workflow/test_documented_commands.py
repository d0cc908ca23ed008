"""Commands of the documents, as they stand there: planned, since most take long. Tutorials: test_tutorials.py."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from running import PROJECT, copy_of_project, environment
from tutorials import Reader, Step, steps, unsaid
from warm_snakemake import run

PLANNED = ("README.md", "docs/use.md")
NOTEBOOKS = sorted((PROJECT / "docs/notebooks").glob("*.ipynb"))
GALLERY = PROJECT / "docs" / "gallery.md"
# What needs the network, or other software, is tried elsewhere (tests/workflow/test_remote.py) or not at all.
ELSEWHERE = ("pip install", "python3 -m venv", "snakedeploy", "source ")


def commands() -> list[str]:
    """The commands of all pages that are planned, each once."""
    read = [step for page in PLANNED for step in steps((PROJECT / page).read_text(encoding="utf-8"))]
    found = [command for step in read if step.does == "run" for command in step.commands]
    found += re.findall(r"^Command: `(.*)`$", GALLERY.read_text(encoding="utf-8"), re.MULTILINE)
    return [command for command in dict.fromkeys(found) if not command.startswith(ELSEWHERE)]


def plan(command: str, project: Path) -> tuple[str, int]:
    """What the command would do, which must be something that it can do."""
    program, *arguments = shlex.split(command.split("&&")[0])
    if program == "make":
        return said(shlex.join([program, "--dry-run", *arguments]), PROJECT)
    return said(shlex.join([program, "-n", *arguments]) if program == "snakemake" else command, project)


def said(command: str, project: Path) -> tuple[str, int]:
    """What a command says, and how it ends."""
    program, *arguments = shlex.split(command)
    if program == "snakemake":
        done = run(arguments, project, environment())
    else:
        done = subprocess.run(
            [program, *arguments], cwd=project, env=environment(), capture_output=True, text=True, check=False
        )
    return done.stdout, done.returncode


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A fresh copy with files in the place of a model of the demo, which the audit's example takes."""
    project = copy_of_project(tmp_path_factory.mktemp("documented") / "project")
    model = project / "results/demo/models/demo_books/small_bert/seed0"
    model.mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (model / name).write_text("{}", encoding="utf-8")
    return project


@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_a_documented_command_can_be_planned(project, command):
    found, status = plan(command, project)
    assert status == 0, found


def test_the_pages_have_commands():
    assert len(commands()) >= 10


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_was_run(path):
    text = path.read_text(encoding="utf-8")
    assert len(text) < 60_000
    cells = json.loads(text)["cells"]
    assert [cell["source"] for cell in cells if cell["cell_type"] == "code" and not cell["outputs"]] == []


def test_a_quotation_that_nothing_says_is_found():
    said = ["train    2\ntotal    36\nThe audit is done in 4 s."]
    assert unsaid("train 3\n…\nis done in under 1 s", said) == []
    assert unsaid("train 3\n…\nexplain 2", said) == ["explain 0"]


def test_a_reader_edits_only_what_is_there_once(tmp_path):
    reader = Reader(tmp_path, run=None)
    reader.follow(Step("save", "a: 1\nb: 1\n", ("x.yaml",)))
    reader.follow(Step("edit", " a: 1\n-b: 1\n+b: 2\n", ("x.yaml",)))
    assert (tmp_path / "x.yaml").read_text() == "a: 1\nb: 2\n"
    with pytest.raises(AssertionError, match="not once there"):
        reader.follow(Step("edit", "-b: 1\n+b: 2\n", ("x.yaml",)))


def test_a_command_must_fail_where_the_page_says_so_and_nowhere_else(tmp_path):
    refused, done = steps("```\nfirst\n```\n\n```text refused\nno\n```\n\n```\nsecond\n```\n")[::2]
    Reader(tmp_path, lambda command: ("no", 1)).follow(refused)
    with pytest.raises(AssertionError, match="ended with 1"):
        Reader(tmp_path, lambda command: ("no", 1)).follow(done)
    with pytest.raises(AssertionError, match="ended with 0"):
        Reader(tmp_path, lambda command: ("yes", 0)).follow(refused)
