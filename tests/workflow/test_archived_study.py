"""A study in one file: packed, validated as a crate, unpacked beside a clone, and drawn there without torch."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from running import SMALLER, all_jobs, chosen, contents, copy_of_project, environment, planned_jobs, results
from running import snakemake as run_snakemake
from test_environments import needed_distributions, requirements
from wording import says

from evenlight.jobs import archive, provenance

pytestmark = pytest.mark.slow

# Run by the interpreter that has roc-validator: what it finds in a crate, an issue a line. The one address that it asks
# for, the context of RO-Crate 1.1, is answered from a file; no other is.
VALIDATE = """
import sys
from pathlib import Path

import requests


def answer(session, method, url, **settings):
    if url != "https://w3id.org/ro/crate/1.1/context":
        raise requests.ConnectionError(f"{url} is asked for, and the tests have no network")
    response = requests.Response()
    response.status_code, response.url, response._content = 200, url, Path(sys.argv[3]).read_bytes()
    response.headers["Content-Type"] = "application/ld+json"
    return response


requests.Session.request = answer
from rocrate_validator import models, services

settings = services.ValidationSettings(
    rocrate_uri=sys.argv[1],
    profile_identifier="workflow-run-crate-0.5",
    requirement_severity=models.Severity[sys.argv[2]],
    no_cache=True,
)
result = services.validate(settings)
for issue in result.get_issues():
    print(issue.check.identifier, issue.message, getattr(issue, "violatingEntity", ""))
print("passed" if result.passed() else "failed")
"""
CONFIGURATION = "results/tiny/study.yaml"


def tool(project: Path, name: str, *arguments: str, python: str = sys.executable) -> subprocess.CompletedProcess:
    """Run a tool of the project in its folder."""
    command = [python, f"workflow/tools/{name}.py", *arguments]
    variables = environment(PYTHONPATH="workflow/scripts")
    return subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True)


@pytest.fixture(scope="module")
def pack(archive_python):
    """Packs the study of a project."""

    def packing(project: Path, output: Path, *arguments: str) -> subprocess.CompletedProcess:
        named = ("--study", "tiny", "--output", str(output), *arguments)
        return tool(project, "archive_study", *named, python=archive_python)

    return packing


@pytest.fixture(scope="module")
def packed(finished_smaller, pack, tmp_path_factory) -> Path:
    """An archive of the finished study, without its models."""
    output = tmp_path_factory.mktemp("packed") / "tiny.zip"
    done = pack(finished_smaller, output, "--without", "models")
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture
def clone(packed, tmp_path) -> Path:
    """A fresh clone in which the archive was unpacked."""
    clone = copy_of_project(tmp_path / "clone")
    # Python alone: no package is needed.
    done = subprocess.run(
        [sys.executable, "-S", "workflow/tools/unpack_study.py", str(packed)],
        cwd=clone,
        env=environment(PYTHONPATH="workflow/scripts"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return clone


@pytest.fixture
def figures_only(tmp_path) -> dict[str, str]:
    """Variables with which Python imports what ``envs/figures.txt`` brings, and refuses every other package."""
    needed = needed_distributions(requirements("figures"))
    provided = packages_distributions().items()
    others = [name for name, of in provided if not {each.lower().replace("_", "-") for each in of} & needed]
    # Ours, and the plugins of Snakemake, which imports every one that is there.
    others = [name for name in others if not name.startswith(("snakemake_", "evenlight"))]
    assert {"torch", "transformers", "tokenizers", "safetensors", "spacy", "selenium"} <= set(others)
    folder = tmp_path / "figures_only"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        f"""import sys
OTHERS = frozenset({sorted(set(others) - {"pip", "setuptools", "_distutils_hack"})!r})
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OTHERS:
            raise ModuleNotFoundError(f"{{name}} is not among envs/figures.txt", name=name)
sys.meta_path.insert(0, Refusing())
"""
    )
    return {"PYTHONPATH": str(folder), "EVENLIGHT_WARM_START": "0"}


def snakemake(clone: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    """Snakemake with the configuration of the archive."""
    shutil.copyfile(clone / CONFIGURATION, clone / "study.yaml")  # where `running` looks for it
    return run_snakemake(clone, *arguments, **variables)


def test_the_same_results_are_packed_into_the_same_bytes(finished_smaller, pack, packed, tmp_path):
    done = pack(finished_smaller, tmp_path / "again.zip", "--without", "models")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()
    assert re.search(r"SHA-256 [0-9a-f]{64}", done.stdout)


def test_the_archive_is_a_workflow_run_crate(packed, archive_python, tmp_path):
    def issues(crate: Path, severity: str) -> list[str]:
        context = Path(__file__).with_name("ro_crate_context.json")
        command = [archive_python, "-c", VALIDATE, crate, severity, context]
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert issues(packed, "REQUIRED") == ["passed"]
    # What is recommended and left: the workflow has no page yet, and who ran the study is not for us to say.
    left = r"SHOULD have a url|SHOULD be an absolute URI|agent|`author`|`publisher`|singleton array.*object|failed"
    assert [issue for issue in issues(packed, "RECOMMENDED") if not re.search(left, issue)] == []
    # The validator does find what is wrong.
    with zipfile.ZipFile(packed) as members:
        members.extractall(tmp_path)
    metadata = json.loads((tmp_path / archive.CRATE).read_text())
    metadata["@graph"] = [entity for entity in metadata["@graph"] if entity["@id"] != "#run"]
    (tmp_path / archive.CRATE).write_text(json.dumps(metadata))
    assert "failed" in issues(tmp_path, "REQUIRED")


def test_the_crate_says_what_the_results_depend_on(packed):
    with zipfile.ZipFile(packed) as members:
        entities = {entity["@id"]: entity for entity in json.loads(members.read(archive.CRATE))["@graph"]}
        table = members.read("results/tiny/tables/effects.parquet")
    about = entities["results/tiny/tables/effects.parquet"]
    assert about["description"] == says("rule estimate_effects")
    assert about["contentSize"] == str(len(table))
    values = [entity["value"] for name, entity in entities.items() if name.startswith("#environment")]
    assert any("torch" in value and os.uname().nodename in value for value in values)
    assert "cpu" in values or not any("manifest.json" in name for name in entities)


@pytest.mark.parametrize("figure", ["panels/demo/ola_cea.svg", "effects/demo.svg"])
def test_a_figure_is_drawn_alone_from_the_archive(clone, figures_only, figure):
    """Soon, as one job does it, without torch, which reads no table of the study but those that its rule names."""
    path = results_of(clone) / "figures" / figure
    target, before = path.relative_to(clone).as_posix(), path.read_bytes()
    path.unlink()
    planned = snakemake(clone, "--dry-run", "--", target, **figures_only).stdout
    [named] = re.findall(r"^ +input: (.*)$", planned, re.MULTILINE)
    tables = set(results_of(clone).rglob("*.parquet"))
    others = tables - {clone / name for name in named.split(", ")}
    assert others < tables
    # What earlier analyses have found is told before anything is planned.
    for table in others - {results_of(clone) / "tables" / "interim_analyses.parquet"}:
        date = table.stat().st_mtime_ns
        table.write_bytes(b"not to be read")
        os.utime(table, ns=(date, date))
    done = snakemake(clone, "--cores", "1", "--", target, **figures_only)
    assert done.returncode == 0, done.stdout
    assert "1 of 1 jobs done: " in done.stdout
    assert path.read_bytes() == before


@pytest.mark.parametrize("warm", ["0", "1"])
def test_a_figure_is_drawn_where_no_environment_is_active(clone, tmp_path, warm):
    """Snakemake is called by its path, and the PATH has no ``python`` that could run a job."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to("/bin/false")
    path = results_of(clone) / "figures" / "control.svg"
    before = path.read_bytes()
    path.unlink()
    called = Path(sys.executable).with_name("snakemake")
    command = [called, "--cores", "1", "results/tiny/figures/control.svg", "--configfile", CONFIGURATION]
    variables = environment(PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin", EVENLIGHT_WARM_START=warm)
    done = subprocess.run(command, cwd=clone, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert path.read_bytes() == before


def test_where_no_python_can_run_jobs_none_is_started(clone):
    """But a dry run needs none."""
    module = clone / "workflow/scripts/evenlight/jobs/interpreter.py"
    text = module.read_text()
    module.write_text(text.replace('NEEDED = ("pandas"', 'NEEDED = ("a_package_that_nobody_has"'))
    assert module.read_text() != text
    assert snakemake(clone, "--dry-run").returncode == 0
    (results_of(clone) / "figures" / "control.svg").unlink()
    done = snakemake(clone, "--cores", "1")
    assert done.returncode != 0
    assert "source .venv/bin/activate" in done.stdout
    assert "Traceback" not in done.stdout
    assert not (results_of(clone) / "figures" / "control.svg").exists()


def results_of(clone: Path) -> Path:
    return clone / "results" / "tiny"


def test_all_that_is_read_can_be_made_again_and_nothing_else(clone, figures_only):
    shutil.copyfile(clone / CONFIGURATION, clone / "study.yaml")
    assert planned_jobs(clone) == set()
    drawn = chosen(all_jobs(SMALLER), "draw_", "tabulate_")
    assert planned_jobs(clone, "--forceall", **figures_only) == drawn
    before = {part: contents(results_of(clone) / part) for part in ("tables", "figures")}
    done = snakemake(clone, "--cores", "2", "--forceall", **figures_only)
    assert done.returncode == 0, done.stdout
    assert {part: contents(results_of(clone) / part) for part in ("tables", "figures")} == before
    # The stand-in does what it should: what needs torch fails.
    refused = subprocess.run(
        [sys.executable, "-c", "import torch"], env=environment(**figures_only), capture_output=True, text=True
    )
    assert "is not among envs/figures.txt" in refused.stderr


def test_an_unpacked_study_is_packed_into_the_same_results(pack, packed, clone, tmp_path):
    (clone / "study.yaml").unlink(missing_ok=True)
    done = pack(clone, tmp_path / "again.zip")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(packed) as first, zipfile.ZipFile(tmp_path / "again.zip") as second:
        same = [name for name in first.namelist() if name.startswith(archive.FOLDERS)]
        assert same == [name for name in second.namelist() if name.startswith(archive.FOLDERS)]
        assert [name for name in same if first.read(name) != second.read(name)] == []
        records = [json.loads(members.read(provenance.RECORDS)) for members in (first, second)]
    assert records[0] == records[1]


def test_a_study_that_is_not_finished_is_not_packed(finished_smaller, pack, archive_python, copy_of, tmp_path):
    project = copy_of(finished_smaller)
    (results(project) / "tables" / "effects.csv").unlink()
    done = pack(project, tmp_path / "tiny.zip")
    assert done.returncode == 1
    assert re.search(r"error: results/tiny/tables/effects\.csv: .*missing", done.stderr)
    assert not (tmp_path / "tiny.zip").exists()
    unknown = tool(project, "archive_study", "--study", "none", "--output", "none.zip", python=archive_python)
    assert "the study 'none'" in unknown.stderr


def test_a_result_is_explained_from_the_figure_to_the_source(finished_smaller, clone):
    figure = "results/tiny/figures/effects/demo.svg"
    here, unpacked = (tool(project, "explain_result", figure) for project in (finished_smaller, clone))
    for done in (here, unpacked):
        assert done.returncode == 0, done.stderr
        rules = re.findall(r"^(\w+): \d+ jobs?$", done.stdout, re.MULTILINE)
        assert rules[:2] == ["draw_effects", "estimate_effects"]
        assert {"score", "attribute_lime", "attribute_path", "read_texts", "train", "import_dataset"} <= set(rules)
        words = " ".join(done.stdout.split())
        assert "resources/demo/sentences.yaml: SHA-256" in words
        assert '"steps": 3' in words
        assert '"seed": 0' in words
        assert "torch" in words
        assert os.uname().nodename in words
        assert "WARNING" not in words
    # All of it but what the files themselves say, of which the archive has no models.
    assert re.findall(r"code +(\w{64})", here.stdout) == re.findall(r"code +(\w{64})", unpacked.stdout)
    none = tool(clone, "explain_result", "README.md")
    assert none.returncode == 1


def test_a_file_that_is_not_what_the_archive_had_is_named(clone):
    figure = results_of(clone) / "figures" / "effects" / "demo.svg"
    figure.write_bytes(figure.read_bytes() + b"\n")
    done = tool(clone, "explain_result", "results/tiny/figures/effects/demo.svg")
    assert "archive had: results/tiny/figures/effects/demo.svg" in " ".join(done.stdout.split())
    records = results_of(clone) / "archive" / provenance.RECORDS
    records.write_text('{"a":' * 100_000 + "1" + "}" * 100_000)
    done = tool(clone, "explain_result", "results/tiny/figures/effects/demo.svg")
    assert "error: results/tiny/archive/provenance.json: no records" in done.stderr


def test_a_changed_table_is_named_where_a_figure_was_made_of_it(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    table = results(project) / "tables" / "effects.parquet"
    table.write_bytes(table.read_bytes() + b"\0")
    done = tool(project, "explain_result", "results/tiny/figures/effects/demo.svg")
    assert "read here: results/tiny/tables/effects.parquet" in " ".join(done.stdout.split())
