"""The pins under envs/: exact, complete, the same for pip and conda, and what is really installed."""

import ast
import re
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

REPOSITORY = Path(__file__).parents[2]
ENVIRONMENTS = REPOSITORY / "envs"

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]

# The kinds of work of the workflow; each has a requirements file and a conda file.
KINDS = ["workflow", "data", "corpus", "models", "statistics"]

# Distributions whose conda package has another name; all others have the same one.
CONDA_NAMES = {
    "huggingface-hub": "huggingface_hub",
    "matplotlib": "matplotlib-base",
    "snakemake": "snakemake-minimal",
    "torch": "pytorch",
}

# Torch's own CUDA packages, which torch pins itself and which only some machines install.
CUDA_PREFIXES = ("nvidia-", "cuda-", "triton")


def requirements(kind: str, follow: bool = True) -> dict[str, Requirement]:
    """The requirements in ``envs/{kind}.txt`` by canonical name, with those of the files that it includes."""
    found = {}
    for line in (ENVIRONMENTS / f"{kind}.txt").read_text().splitlines():
        if line.startswith("-r ") and follow:
            found |= requirements(Path(line.removeprefix("-r ")).stem)
        elif line and not line.startswith(("#", "-")):
            requirement = Requirement(line)
            found[canonicalize_name(requirement.name)] = requirement
    return found


def pinned_version(requirement: Requirement) -> str:
    """The one version that ``requirement`` allows; anything but ``==`` and a plain version is an error."""
    (specifier,) = requirement.specifier
    assert specifier.operator == "==", f"{requirement} is not pinned by =="
    assert Version(specifier.version).local is None, f"{requirement} names one build of the version"
    return specifier.version


def pins(kind: str) -> dict[str, str]:
    """The pinned versions of ``envs/{kind}.txt`` by canonical name."""
    return {name: pinned_version(requirement) for name, requirement in requirements(kind).items()}


ALL_PINS = {name: pin for kind in [*KINDS, "tests"] for name, pin in pins(kind).items()}


@pytest.mark.parametrize("kind", [*KINDS, "slurm", "tests"])
def test_requirements_follow_the_constraints(kind):
    lines = (ENVIRONMENTS / f"{kind}.txt").read_text().splitlines()
    assert "-c constraints.txt" in lines
    constraints = pins("constraints")
    assert pins(kind) == {name: constraints[name] for name in pins(kind)}


@pytest.mark.parametrize("kind", KINDS)
def test_conda_and_pip_agree(kind):
    environment = yaml.safe_load((ENVIRONMENTS / f"{kind}.yaml").read_text())
    conda = dict(dependency.split(" ", 1) for dependency in environment["dependencies"])
    assert conda.pop("python") == "=3.11"
    assert conda == {CONDA_NAMES.get(name, name): f"=={pin}" for name, pin in pins(kind).items()}
    assert environment["channels"][0] == "conda-forge"
    assert environment["channels"][-1] == "nodefaults"


@pytest.mark.parametrize("kind", KINDS)
def test_extras_of_the_package_have_the_same_names(kind):
    extra = [Requirement(line) for line in PROJECT["optional-dependencies"][kind]]
    included = {f"-r {name}.txt" for each in extra if each.name == "evenlight" for name in each.extras}
    assert {canonicalize_name(each.name) for each in extra} - {"evenlight"} == set(requirements(kind, follow=False))
    assert included == {line for line in (ENVIRONMENTS / f"{kind}.txt").read_text().splitlines() if line[:2] == "-r"}


def test_versions_of_the_project_agree():
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["version"]
    assert re.search(
        rf"^## \[{re.escape(PROJECT['version'])}\]", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE
    )


def test_installed_versions_are_the_pinned_ones():
    found = {name: Version(version(name)).public for name in ALL_PINS}
    others = {name: pair for name, pair in found.items() if pair != ALL_PINS[name]}
    assert not others, "remove .venv and run `make test` again"


def needed_distributions(names) -> set[str]:
    """The canonical names of the installed distributions that ``names`` need, directly or through others."""
    needed, waiting = set(), list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in needed:
            needed.add(name)
            requires = [Requirement(line) for line in distribution(name).requires or []]
            waiting += [each.name for each in requires if not each.marker or each.marker.evaluate({"extra": ""})]
    return needed


def test_constraints_pin_everything_that_is_needed():
    needed = {name for name in needed_distributions(ALL_PINS) if not name.startswith(CUDA_PREFIXES)}
    assert needed - set(pins("constraints")) == set()


# What has an environment of its own: peers whose answers are recorded, and mutmut.
ELSEWHERE = {"ferret", "gim", "inseq", "lxt", "mutmut"}


def imported_packages(folder: Path) -> dict[str, list[str]]:
    """The other projects' packages that Python files below ``folder`` import, each with the files that do so."""
    commands = [
        path
        for path in (REPOSITORY / "workflow").glob("*/**/*.py")
        if "evenlight" not in path.relative_to(REPOSITORY).parts
    ]
    stages = {path.parent.name for path in commands}
    beside = [path for part in ("tests", "bench") for path in (REPOSITORY / part).rglob("*.py")]
    own = {"evenlight", *stages, *(path.stem for path in [*commands, *beside])}
    found = {}
    for path in sorted(folder.rglob("*.py")):
        modules = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                modules.add(node.module)
        for package in {module.partition(".")[0] for module in modules} - own - ELSEWHERE - sys.stdlib_module_names:
            found.setdefault(package, []).append(str(path.relative_to(REPOSITORY)))
    return found


@pytest.mark.parametrize(
    ("folder", "kinds"), [("workflow/scripts", KINDS), ("tests", [*KINDS, "tests"])], ids=["workflow", "tests"]
)
def test_every_import_is_a_direct_requirement(folder, kinds):
    direct = set().union(*(requirements(kind) for kind in kinds))
    providers = packages_distributions()
    imported = imported_packages(REPOSITORY / folder)
    assert imported
    undeclared = {
        package: files
        for package, files in imported.items()
        if direct.isdisjoint(canonicalize_name(name) for name in providers.get(package, []))
    }
    assert undeclared == {}
