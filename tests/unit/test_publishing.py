"""What the project shows to others: GitHub's actions, the container file, the workflow catalog, its documents."""

import re
from pathlib import Path

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
ACTIONS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))


def steps(path: Path) -> list[dict]:
    """Every step of all jobs of a workflow of GitHub."""
    return [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]


def make_targets() -> set[str]:
    """The targets of the Makefile that have a name of their own."""
    return set(re.findall(r"^([a-z-]+):(?!=)", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))


def test_linters_tests_and_the_demo_are_run():
    run = {step["run"] for path in ACTIONS for step in steps(path) if "run" in step}
    assert run >= {"make check", "make test", "make demo"}


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.stem)
def test_action_is_sound(path):
    content = yaml.safe_load(path.read_text())
    # YAML 1.1 reads the key `on` as a truth value.
    assert content.keys() >= {"name", True, "permissions", "jobs"}
    for step in steps(path):
        assert ("uses" in step) != ("run" in step)
        assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", step.get("uses", "a/b@v1.0.0"))
        assert set(re.findall(r"\bmake ([a-z-]+)", step.get("run", ""))) <= make_targets()


def test_container_has_all_requirements():
    text = (REPOSITORY / "Containerfile").read_text()
    installed = set(re.findall(r"-r (envs/\w+\.txt)", text))
    kinds = {path.with_suffix(".txt").name for path in (REPOSITORY / "envs").glob("*.yaml")}
    assert installed == {f"envs/{kind}" for kind in [*kinds, "kubernetes.txt"]}
    assert "FROM python:3.11-" in text


def test_catalog_entry():
    usage = yaml.safe_load((REPOSITORY / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert usage["report"] is True
    assert set(usage["software-stack-deployment"]) == {"conda", "apptainer", "apptainer+conda"}
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    for path in ("README.md", "LICENSE", "config/README.md", "config/config.yaml", "workflow/Snakefile"):
        assert (REPOSITORY / path).is_file()
    assert (REPOSITORY / "workflow" / "schemas" / "config.schema.yaml").is_file()
