"""The digest of a user's own class changes with the code that it runs, and with nothing else."""

from pathlib import Path

import pytest

from evenlight.core.errors import InputError
from evenlight.jobs.code_digest import code_digest

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


def test_a_syntax_error_names_file_and_line(project):
    (project / "evenlight/models.py").write_text("value = 1\ndef (:\n")
    with pytest.raises(InputError, match=r"evenlight/models\.py, line 2: .*correct the code"):
        code_digest(project / "train.py")


def test_a_missing_file_is_named(project):
    with pytest.raises(InputError, match=r"absent\.py: .*cannot"):
        code_digest(project / "absent.py")
