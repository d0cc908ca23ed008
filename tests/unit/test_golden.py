"""Golden outputs: no method changes its numbers without a version that says so, see golden_files.py."""

import json

import pytest
from golden_files import FOLDER, VARIABLE, problem_of
from golden_outputs import OUTPUTS, WITHOUT_OUTPUT, methods, versions_of


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_method_gives_what_its_version_gave(name, tmp_path):
    problem = problem_of(name, versions_of(name), OUTPUTS[name](tmp_path))
    assert not problem, problem


def test_every_method_has_a_golden_output_or_a_reason():
    missing = sorted(methods() - OUTPUTS.keys() - WITHOUT_OUTPUT.keys())
    assert not missing, f"{missing} have no golden output; give each a small input in tests/unit/golden_outputs.py"
    assert not WITHOUT_OUTPUT.keys() & OUTPUTS.keys()
    assert not (OUTPUTS.keys() | WITHOUT_OUTPUT.keys()) - methods(), "these are no methods any more"
    files = {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.json")}
    assert files <= OUTPUTS.keys(), "these are of no method, and can be deleted"


# How a change is told ---------------------------------------------------------------------------------------------

KEPT = {"default": [0.25, -0.5], "other": [1.0]}


@pytest.fixture
def held(tmp_path, monkeypatch):
    """Holds an output against :data:`KEPT` of version 1, and gives the problem; ``writes`` as `make golden` does."""
    (tmp_path / "explainers").mkdir()
    file = tmp_path / "explainers" / "it.json"
    file.write_text(json.dumps({"versions": {"It": 1, "stage attribute": 1}, "output": KEPT}))

    def held(output, own: int = 1, stage: int = 1, writes: bool = False) -> str:
        monkeypatch.setenv(VARIABLE, "write" if writes else "")
        return problem_of("explainers/it", {"It": own, "stage attribute": stage}, output, tmp_path)

    held.file = file
    return held


@pytest.mark.parametrize("changed", [[0.25, 0.5], [0.25], [0.25, None], [0.25, "-0.5"]])
@pytest.mark.parametrize("writes", [False, True])
def test_a_change_without_a_version_is_told_and_never_written(held, changed, writes):
    before = held.file.read_text()
    problem = held(KEPT | {"default": changed}, writes=writes)
    assert "default" in problem
    assert "the version of It" in problem
    assert "`make golden ONLY=explainers/it`" in problem
    assert held.file.read_text() == before


@pytest.mark.parametrize(("own", "stage"), [(2, 1), (1, 2), (2, 2)])
def test_a_change_with_a_version_is_written_and_then_held(held, own, stage):
    changed = KEPT | {"default": [0.25, 0.5]}
    assert "ONLY=explainers/it" in held(changed, own, stage)
    assert held(changed, own, stage, writes=True) == ""
    assert held(changed, own, stage) == ""
    assert "raise the version" in held(KEPT, own, stage)


@pytest.mark.parametrize("writes", [False, True])
def test_a_version_that_was_raised_for_nothing_is_told(held, writes):
    assert "lower it" in held(KEPT, own=2, writes=writes)


def test_a_method_without_a_file_and_a_new_choice_are_told_the_command(held):
    more = KEPT | {"new": [2.0]}
    assert "ONLY=explainers/it" in held(more)
    held.file.unlink()
    assert "`make golden ONLY=explainers/it` writes it" in held(KEPT)
    assert held(KEPT, writes=True) == ""
    assert held(KEPT) == ""
