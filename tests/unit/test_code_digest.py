"""The digest changes with the code that a script runs, and with nothing else."""

import json
import os
import shutil
from pathlib import Path

import pytest

from evenlight.configuration import REGISTRIES
from evenlight.core.errors import InputError
from evenlight.jobs import code_digest as module
from evenlight.jobs.code_digest import Code, code_digest

SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"
PROJECT = {
    "train.py": "import json\nfrom evenlight import models\nmodels.fit()\n",
    "draw.py": "from evenlight.figures import boxes\nboxes()\n",
    "evenlight/__init__.py": '"""The package."""\n',
    "evenlight/models.py": (
        '"""Models."""\n'
        "import numpy as np\n"
        "from evenlight.errors import Problem\n\n"
        "def fit():\n"
        '    """Fit the model."""\n'
        "    total = 1\n"
        "    return total\n"
    ),
    "evenlight/errors.py": "class Problem(Exception):\n    pass\n",
    "evenlight/figures/__init__.py": "from .style import boxes\n",
    "evenlight/figures/style.py": "def boxes():\n    from ..errors import Problem\n    return Problem\n",
    "evenlight/lonely.py": "value = 1\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in PROJECT.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def changes(project: Path, script: str, module: str, old: str, new: str, also: tuple[str, ...] = ()) -> bool:
    """Whether the digest of ``script`` changes when ``old`` in ``module`` becomes ``new``."""
    path = project / module
    text = path.read_text()
    assert old in text
    before = code_digest(project / script, also=also)
    path.write_text(text.replace(old, new))
    return code_digest(project / script, also=also) != before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    total = 1\n", "    # a comment\n    total = 1  # another\n"),
        ("    total = 1\n", "\n\n    total = 1\n"),
        ("total = 1\n", "total = (\n        1\n    )\n"),
        ('"""Fit the model."""', '"""Fit it."""'),
        ('    """Fit the model."""\n', ""),
        ('"""Models."""\n', '"""Other words."""\n'),
        ('"""Models."""\n', ""),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(project, old, new):
    assert not changes(project, "train.py", "evenlight/models.py", old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total = 1", "total = 2"),
        ("total = 1", "total = 1.0"),
        ("total = 1", "total = '1'"),
        ("total", "amount"),
        ("return total", "return None"),
        ("return total", "return"),
        ("def fit():", "def fit(total=None):"),
        ("    total = 1\n", '    total = 1\n    """no docstring"""\n'),
    ],
)
def test_code_counts(project, old, new):
    assert changes(project, "train.py", "evenlight/models.py", old, new)


@pytest.mark.parametrize(
    ("script", "module", "old", "new"),
    [
        ("train.py", "train.py", "models.fit()", "models.fit"),
        ("train.py", "evenlight/errors.py", "pass", "code = 1"),
        ("train.py", "evenlight/__init__.py", '"""The package."""\n', "value = 1\n"),
        ("draw.py", "evenlight/figures/style.py", "return Problem", "return 1"),
        # imported relatively, and inside a function
        ("draw.py", "evenlight/errors.py", "pass", "code = 1"),
    ],
)
def test_imported_modules_count(project, script, module, old, new):
    assert changes(project, script, module, old, new)


@pytest.mark.parametrize(
    ("script", "module", "old", "new"),
    [
        ("train.py", "evenlight/lonely.py", "1", "2"),
        ("train.py", "evenlight/figures/style.py", "return Problem", "return 1"),
        ("draw.py", "evenlight/models.py", "total = 1", "total = 2"),
        ("draw.py", "train.py", "models.fit()", "models.fit"),
    ],
)
def test_other_modules_do_not_count(project, script, module, old, new):
    assert not changes(project, script, module, old, new)


@pytest.mark.parametrize(
    "statement",
    [
        "import evenlight.lonely",
        "import evenlight.lonely as other",
        "from evenlight import lonely",
        "from evenlight.lonely import value",
        "from evenlight.lonely import *",
        "import draw",
    ],
)
def test_a_new_import_is_followed(project, statement):
    imported, old, new = ("draw.py", "boxes()", "boxes") if "draw" in statement else ("evenlight/lonely.py", "1", "2")
    script = project / "train.py"
    script.write_text(f"{statement}\n{script.read_text()}")
    assert changes(project, "train.py", imported, old, new)


def test_modules_with_a_computed_name_are_given(project):
    assert changes(project, "train.py", "evenlight/lonely.py", "1", "2", also=("evenlight.lonely",))
    with pytest.raises(InputError, match=r"train\.py: no module evenlight\.lime"):
        code_digest(project / "train.py", also=("evenlight.lime",))


def test_imports_in_a_circle_end(project):
    (project / "evenlight/errors.py").write_text("import evenlight.models\n")
    assert code_digest(project / "train.py")


def test_several_scripts_count_in_any_order(project):
    both = code_digest(project / "train.py", project / "draw.py")
    assert both == code_digest(project / "draw.py", project / "train.py")
    assert both not in {code_digest(project / "train.py"), code_digest(project / "draw.py")}


def test_the_place_on_disk_does_not_count(project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "scripts"
    project.rename(elsewhere)
    moved = code_digest(elsewhere / "train.py")
    elsewhere.rename(project)
    assert code_digest(project / "train.py") == moved


def test_the_digest_is_the_same_on_every_python(tmp_path):
    """The value was computed once; a Python that spells syntax trees differently would rerun whole studies."""
    script = tmp_path / "script.py"
    script.write_text(
        "class A(dict): pass\n"
        + "async def f(a, /, b=1, *c, d: int = 2, **e) -> None:\n"
        + "    async with a as (x, y): return f'{x!r:>{y}} and {b}', {**e}, [*c], lambda z=...: z\n"
        + "def g():\n"
        + "    try: (yield 1j, b'2', None, True)\n"
        + "    except* OSError as error: raise ValueError from error\n"
        + "    match a:\n"
        + "        case {'k': [1, *_], **rest} if (n := 3) > 2: print(-n ** 0.5, sep='\\n')\n"
    )
    assert code_digest(script) == "d5858430a9ac6209d1eccf4f12182335cec3be777d6aaa55341495f9fe375d7f"


def test_a_syntax_error_names_file_and_line(project):
    (project / "evenlight/models.py").write_text("value = 1\ndef (:\n")
    with pytest.raises(InputError, match=r"evenlight/models\.py, line 2: .*correct the code"):
        code_digest(project / "train.py")


def test_a_missing_script_is_named(project):
    with pytest.raises(InputError, match=r"absent\.py: the script cannot be read"):
        code_digest(project / "absent.py")


def test_what_is_remembered_of_a_file_goes_by_its_text(project, tmp_path_factory):
    """Neither dates nor sizes count, and nothing is parsed twice."""
    memory = tmp_path_factory.mktemp("memory") / "not there yet" / "code.json"
    path = project / "evenlight/models.py"
    text, dates = path.read_text(), path.stat()
    digests = {}
    for number in ("1", "2", "1"):
        path.write_text(text.replace("total = 1", f"total = {number}"))
        os.utime(path, ns=(dates.st_atime_ns, dates.st_mtime_ns))
        digest = Code(project, memory).digest(project / "train.py")
        assert digest == code_digest(project / "train.py") == digests.setdefault(number, digest)
    assert digests["1"] != digests["2"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_content_of", None)
        assert Code(project, memory).digest(project / "train.py") == digests["1"]
        with pytest.raises(TypeError):
            Code(project, memory).digest(project / "draw.py")


def test_what_other_code_remembered_is_not_taken(project, tmp_path_factory, monkeypatch):
    memory = tmp_path_factory.mktemp("memory") / "code.json"
    digest = Code(project, memory).digest(project / "train.py")
    monkeypatch.setattr(module, "_OURSELVES", b"another version of the module")
    monkeypatch.setattr(module, "_content_of", lambda source, path: module.Content("0", []))
    assert Code(project, memory).digest(project / "train.py") != digest


@pytest.mark.parametrize("text", ["", '{"half', "[]", '"text"'])
def test_a_spoilt_memory_is_made_anew(project, tmp_path_factory, text):
    memory = tmp_path_factory.mktemp("memory") / "code.json"
    memory.write_text(text)
    assert Code(project, memory).digest(project / "train.py") == code_digest(project / "train.py")
    assert len(json.loads(memory.read_text())) == 4
    assert [path.name for path in memory.parent.iterdir()] == ["code.json"]


def test_a_memory_that_cannot_be_written_is_done_without(project, tmp_path_factory):
    file = tmp_path_factory.mktemp("memory") / "file"
    file.touch()
    assert Code(project, file / "code.json").digest(project / "train.py") == code_digest(project / "train.py")


def test_only_the_last_texts_are_remembered(project, tmp_path_factory, monkeypatch):
    monkeypatch.setattr(module, "_MOST_REMEMBERED", 2)
    memory = tmp_path_factory.mktemp("memory") / "code.json"
    for _ in range(2):
        assert Code(project, memory).digest(project / "train.py") == code_digest(project / "train.py")
        assert len(json.loads(memory.read_text())) == 2


def families(section: str) -> list[str]:
    """The families of explainers or metrics, as ``explainers.lime``.

    Those about concepts, and about what follows from an answer, have scripts of their own.
    """
    named = {entry.family for entry in REGISTRIES[section].entries.values()} - {"concepts", "follow_ups"}
    return sorted(f"{section}.{family}" for family in named)


@pytest.mark.parametrize(
    ("module", "changed"),
    [
        ("explainers.deeplift.released", ["explainers.deeplift"]),
        ("explainers.kernel_shap.released", ["explainers.kernel_shap"]),
        ("explainers.lime.released", ["explainers.lime"]),
        ("explainers.rectified.released", ["explainers.rectified"]),
        (
            "explainers.embedding_layers",
            ["explainers.deeplift", "explainers.gradient", "explainers.gradient_shap", "explainers.rectified"],
        ),
        ("metrics.correctness.released", ["metrics.correctness"]),
        ("metrics.flip_area.released", ["metrics.flip_area"]),
        ("metrics.flip_area.corrected", ["metrics.flip_area"]),
        ("metrics.worst_change", ["metrics.worst_change"]),
    ],
)
def test_changed_code_of_a_definition_is_changed_code_of_its_families_alone(module, changed, tmp_path):
    scripts = Path(shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__")))
    commands = {"explainers": scripts / "explanations/attribute.py", "metrics": scripts / "explanations/score.py"}

    def digests() -> dict[str, str]:
        code = Code(scripts)
        return {
            family: code.digest(command, also=[f"evenlight.{family}"])
            for section, command in commands.items()
            for family in families(section)
        }

    before = digests()
    path = scripts / "evenlight" / f"{module.replace('.', '/')}.py"
    path.write_text(f"{path.read_text()}\nEXTRA = 1\n")
    after = digests()
    assert [family for family in before if before[family] != after[family]] == changed
