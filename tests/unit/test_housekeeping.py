"""What must hold of the repository as a whole."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path

import pytest
from rooms import LIBRARY, library_order

from evenlight.core.kinds import KINDS
from evenlight.core.versions import STAGES

REPOSITORY = Path(__file__).parents[2]

# Paths below these folders exist on one machine only.
MACHINE_PATH = re.compile(r"""(?:^|[\s"'`(=])(/(?:home|Users|root|tmp|work)/[\w.]+)""", re.MULTILINE)


@pytest.fixture(scope="module")
def tracked_files() -> list[Path]:
    """Every file that git tracks and that is there."""
    command = ["git", "-C", str(REPOSITORY), "ls-files", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    files = [REPOSITORY / name for name in listed.split("\0") if name]
    return [path for path in files if path.is_file()]


def test_no_large_file_is_tracked(tracked_files):
    assert [str(path) for path in tracked_files if path.stat().st_size > 2**20] == []


def test_no_path_of_one_machine_is_tracked(tracked_files):
    texts = {path: path.read_bytes().decode(errors="replace") for path in tracked_files}
    found = {str(path.relative_to(REPOSITORY)): MACHINE_PATH.findall(text) for path, text in texts.items()}
    assert {path: paths for path, paths in found.items() if paths} == {}


def test_one_place_names_the_address_of_the_repository(tracked_files):
    owner = "OWN" + "ER"
    named = {path.name for path in tracked_files if f"{owner}/" in path.read_bytes().decode(errors="replace")}
    assert named == {"pyproject.toml"}


def test_a_wheel_has_what_the_library_reads_beside_its_modules(tracked_files):
    patterns = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["*"]
    read = [path for path in tracked_files if LIBRARY in path.parents and path.suffix != ".py"]
    assert len(read) > 5
    assert [path.name for path in read if not any(fnmatch(path.name, pattern) for pattern in patterns)] == []


def test_every_page_and_figure_has_a_caption_and_a_report_opens_pages_that_are_there():
    named = {
        (folder, suffix): {path.stem for path in (LIBRARY / "reports" / folder).glob(f"*{suffix}")} - {"__init__"}
        for folder in ("pages", "plots")
        for suffix in (".py", ".rst")
    }
    pages = {
        name for name in named["pages", ".py"] if hasattr(import_module(f"evenlight.reports.pages.{name}"), "page")
    }
    assert len(pages) > 8
    assert pages == named["pages", ".rst"]
    assert named["plots", ".py"] == named["plots", ".rst"]
    assert {page for kind in KINDS.values() for page in kind.opens} <= pages


def test_pages_which_snakemake_reads_import_nothing_that_draws():
    texts = {
        ".".join(("evenlight", *path.relative_to(LIBRARY).with_suffix("").parts)): path.read_text(encoding="utf-8")
        for path in (LIBRARY / "reports").rglob("*.py")
    }
    imported = {name: set(re.findall(r"^ *(?:from|import) (\S+)", text, re.MULTILINE)) for name, text in texts.items()}
    drawing = {name for name, of in imported.items() if any(each.startswith("matplotlib") for each in of)}
    while more := {name for name, of in imported.items() if of & drawing} - drawing:
        drawing |= more
    assert len(drawing) > 12
    assert [name for name in drawing if ".pages." in name] == []


def test_functions_and_names_inside_snakemake_stand_in_the_library():
    """Where linters and tests read them; to find the library, a rules file may ask where it lies."""
    rules = [REPOSITORY / "Snakefile", *(REPOSITORY / "rules").rglob("*.smk")]
    text = "".join(path.read_text() for path in rules)
    assert re.findall(r"^ *def \w+", text, re.MULTILINE) == []
    assert set(re.findall(r"(?<!\w\.)\bworkflow\.(\w+)", text)) <= {"configfiles", "current_basedir", "source_path"}


def test_every_command_for_users_is_named_where_users_read():
    pages = [REPOSITORY / "Makefile", *REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")]
    text = "".join(path.read_text() for path in pages if path.name != "CHANGELOG.md")
    tools = sorted((REPOSITORY / "workflow" / "tools").glob("*.py"))
    assert tools
    assert [path.name for path in tools if path.name not in text or '"__main__"' not in path.read_text()] == []


def test_architecture_lists_every_room_in_the_order_of_the_contract():
    text = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = text.partition("### Rooms")[2].partition("## Five seams")[0]
    assert re.findall(r"^- `(\w+)`", listed, re.MULTILINE) == library_order()


def test_the_folders_of_tests_are_rooms():
    folders = {path.parent.name for path in (REPOSITORY / "tests/unit").glob("*/test_*.py")}
    assert folders <= set(library_order())
    assert len(folders) > 15


# What imports torch, or may: spaCy imports it where it is installed. And what within these rooms does not.
WITH_TORCH = ("corpus", "models", "engine", "explainers", "metrics", "concepts.forgetting", "notebook")
WITHOUT = ("corpus.annotation", "models.services", "models.architectures", "explainers.base", "metrics.base")

# Imports modules one by one, and ends with the name of the first that brings torch.
IMPORTS = """
import importlib, sys
for module in sys.argv[1:]:
    importlib.import_module(module)
    if "torch" in sys.modules:
        sys.exit(module)
"""


def test_the_snakefile_statistics_and_figures_import_no_torch():
    """What starts the workflow, and the work that needs no model, must be quick and run on machines without torch."""
    library = REPOSITORY / "workflow" / "scripts" / "evenlight"
    every = [
        ".".join(path.relative_to(library.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(library.rglob("*.py"))
    ]
    modules = [
        name
        for name in every
        if f"{name}.".startswith(tuple(f"evenlight.{part}." for part in WITHOUT))
        or not name.startswith(tuple(f"evenlight.{part}" for part in WITH_TORCH))
    ]
    assert {
        "evenlight.texts.items",
        "evenlight.statistics.analyses.covariate_adjusted",
        "evenlight.reports.pages.scores",
    } <= set(modules)
    command = [sys.executable, "-c", IMPORTS, *modules]
    done = subprocess.run(command, cwd=library.parent, capture_output=True, text=True)
    assert done.returncode == 0, f"torch was imported by {done.stderr}"


# What makes typed settings of a mapping, or a mapping of nothing but settings; and a digest of JSON values.
DOORS = {"reader_of", "recipe_of", "keywords", "digest_of_inputs"}


def test_no_function_takes_the_settings_of_a_method_as_a_mapping():
    """But for the rooms that read, check and complete what users write."""
    rooms = set(library_order()) - {"settings", "configuration", "notebook"}
    found = {
        function.name
        for path in LIBRARY.rglob("*.py")
        if path.relative_to(LIBRARY).parts[0].removesuffix(".py") in rooms
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        if "settings" in argument.arg and argument.annotation is not None
        if re.match(r"(dict|Mapping)\b", ast.unparse(argument.annotation))
    }
    assert found == DOORS


def test_every_command_has_a_version():
    """Downloads go by their checksums, and checks make no results."""
    scripts = REPOSITORY / "workflow" / "scripts"
    commands = {path.stem for path in scripts.glob("*/*.py") if path.parent.name not in ("evenlight", "checks")}
    assert STAGES.keys() == commands - {"fetch_source"} | {"ask_model"}


def test_no_job_has_a_digest_of_code_of_ours():
    """But for what renders: other digests made a week's work again for a line that no result depends on."""
    rules = "\n".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "rules").rglob("*.smk"))
    assert "code_digest" not in rules
    assert set(re.findall(r'rendered_by\("(\w+)"', rules)) <= {
        path.stem for path in (REPOSITORY / "workflow/scripts/figures").glob("*.py")
    }


def test_a_job_that_asks_a_network_knows_the_version_of_asking():
    """Of the rules that name their versions themselves. What a plan times is no number of a result."""
    rules = "\n".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "rules").rglob("*.smk"))
    named = re.findall(r'script=study\.script\("([\w/]+\.py)"\).*?versions=(.*?)\n    *shell:', rules, re.DOTALL)
    texts = {script: (REPOSITORY / "workflow/scripts" / script).read_text(encoding="utf-8") for script, _ in named}
    asks = re.compile(r"open_evaluator|load_saved|masked_evaluator")
    asking = {script: said for script, said in named if asks.search(texts[script]) and re.search(r"\bversions\(", said)}
    assert {"models/score_masked_words.py", "models/read_texts.py", "models/represent_texts.py"} <= asking.keys()
    asking.pop("explanations/plan_explanations.py")
    assert [script for script, said in asking.items() if '"ask_model"' not in said] == []


# Four words in a row are a sentence's; what stands in quotes is a key or a value.
PHRASE = re.compile(r"(?<![\w.`'\"])[A-Za-z]+(?:[,;:.]? [a-z]+){3}(?![\w`'\"])")

THROUGH = {"search", "match", "fullmatch", "says", "any", "all"}


def texts_of(node: ast.AST) -> Iterator[str]:
    """The texts of an expression, but for those that a function of ours is called with."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    called = getattr(node, "func", None)
    if called is None or getattr(called, "attr", getattr(called, "id", "")) in THROUGH:
        for child in ast.iter_child_nodes(node):
            yield from texts_of(child)


def holds_wording(test: ast.FunctionDef) -> bool:
    """Whether it asserts, matches or, as the last of its parameters, expects a phrase."""
    nodes = list(ast.walk(test))
    held = [node.test for node in nodes if isinstance(node, ast.Assert)]
    held += [node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "match"]
    given = [argument for call in test.decorator_list if isinstance(call, ast.Call) for argument in call.args]
    rows = [row for argument in given for row in getattr(argument, "elts", [])]
    held += [part for row in rows for part in (row.elts[-1:] if isinstance(row, ast.Tuple) else [row])]
    return any(PHRASE.search(text) for node in held for text in texts_of(node))


def test_few_tests_hold_the_wording_of_a_message_or_a_page():
    """A message is held by its item, field and remedy (wording.py), a page by a snapshot. What is left are data."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (REPOSITORY / "tests").rglob("test_*.py")]
    tests = [node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert sum(holds_wording(test) for test in tests if test.name.startswith("test_")) <= 150


def test_make_test_makes_the_environments_that_its_tests_ask_for(request):
    environments = {"archive_python": "archive", "axe": "axe", "docs_python": "docs", "kubernetes_python": "kubernetes"}
    items = [item for item in request.session.items if not item.get_closest_marker("slow")]
    asked = {environments[fixture] for item in items for fixture in environments.keys() & set(item.fixturenames)}
    if not asked:
        pytest.skip("only a whole run collects the tests that ask for an environment")
    [prerequisites] = re.findall(r"^test:(.*?)##", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert asked - set(re.findall(r"\.venv-(\w+)/ready", prerequisites)) == set()
