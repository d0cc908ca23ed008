"""The digest of a user's own class changes with the code that it runs, and with nothing else."""

from pathlib import Path

import pytest

from evenlight.core.errors import InputError
from evenlight.jobs.own_files import code_digest

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


def changes(project: Path, script: str, module: str, old: str, new: str) -> bool:
    """Whether the digest of ``script`` changes when ``old`` in ``module`` becomes ``new``."""
    path = project / module
    text = path.read_text()
    assert old in text
    before = code_digest(project / script)
    path.write_text(text.replace(old, new))
    return code_digest(project / script) != before


MODELS = "evenlight/models.py"


@pytest.mark.parametrize(
    ("script", "module", "old", "new", "counts"),
    [
        # Comments, docstrings and layout do not count.
        ("train.py", MODELS, "    total = 1\n", "    # a comment\n    total = 1  # another\n", False),
        ("train.py", MODELS, "total = 1\n", "total = (\n        1\n    )\n", False),
        ("train.py", MODELS, '    """Fit the model."""\n', "", False),
        ("train.py", MODELS, '"""Models."""\n', "", False),
        # Code does.
        ("train.py", MODELS, "total = 1", "total = 1.0", True),
        ("train.py", MODELS, "total", "amount", True),
        ("train.py", MODELS, "def fit():", "def fit(total=None):", True),
        ("train.py", MODELS, "    total = 1\n", '    total = 1\n    """no docstring"""\n', True),
        # So do imported modules.
        ("train.py", "train.py", "models.fit()", "models.fit", True),
        ("train.py", "evenlight/errors.py", "pass", "code = 1", True),
        ("train.py", "evenlight/__init__.py", '"""The package."""\n', "value = 1\n", True),
        ("draw.py", "evenlight/figures/style.py", "return Problem", "return 1", True),
        # Imported relatively, and inside a function.
        ("draw.py", "evenlight/errors.py", "pass", "code = 1", True),
        # Others do not.
        ("train.py", "evenlight/lonely.py", "1", "2", False),
        ("draw.py", "train.py", "models.fit()", "models.fit", False),
    ],
)
def test_the_code_of_a_script_and_of_what_it_imports_counts(project, script, module, old, new, counts):
    assert changes(project, script, module, old, new) == counts


@pytest.mark.parametrize(
    "statement",
    [
        "import evenlight.lonely",
        "from evenlight import lonely",
        "from evenlight.lonely import *",
        "import draw",
    ],
)
def test_a_new_import_is_followed(project, statement):
    imported, old, new = ("draw.py", "boxes()", "boxes") if "draw" in statement else ("evenlight/lonely.py", "1", "2")
    script = project / "train.py"
    script.write_text(f"{statement}\n{script.read_text()}")
    assert changes(project, "train.py", imported, old, new)


def test_imports_in_a_circle_end(project):
    (project / "evenlight/errors.py").write_text("import evenlight.models\n")
    assert code_digest(project / "train.py")


def test_the_place_on_disk_does_not_count(project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "scripts"
    project.rename(elsewhere)
    moved = code_digest(elsewhere / "train.py")
    elsewhere.rename(project)
    assert code_digest(project / "train.py") == moved


def test_the_digest_is_the_same_on_every_python(tmp_path):
    """The value was computed once; a Python that spells syntax trees otherwise would explain whole studies again."""
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
    assert code_digest(script) == "5c66eb25edf472d38bdae1995129edec576840adfdb6b9535a6c59b27f19d1a7"


def test_a_syntax_error_and_a_missing_file_are_named(project):
    (project / "evenlight/models.py").write_text("value = 1\ndef (:\n")
    with pytest.raises(InputError, match=r"evenlight/models\.py, line 2: .*correct the code"):
        code_digest(project / "train.py")
    with pytest.raises(InputError, match=r"absent\.py: .*cannot"):
        code_digest(project / "absent.py")
