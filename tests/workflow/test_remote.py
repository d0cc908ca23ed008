"""The workflow used from where it lies: a commit of a git repository, with nothing installed but its requirements."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from running import (
    CONFIGURATION,
    OPTIONAL_CAPTIONS,
    PROJECT,
    SAID,
    SMALLER,
    all_jobs,
    assert_reported,
    chosen,
    command,
    configure,
    copy_of_project,
    environment,
    planned_jobs,
    results,
    run_study,
    snakemake,
    start,
)

pytestmark = pytest.mark.slow

PATIENCE = 900  # seconds until a test gives up
DEPLOYED_CONFIGURATION = Path("config", "config.yaml")  # of a folder that snakedeploy made
OVERLAY = {"study": SMALLER["study"]}  # a file of a few keys, which Snakemake merges into that one
IDENTITY = {f"GIT_{role}_{key}": "test" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}


def git(repository: Path, *arguments: str) -> str:
    """Run git in a repository, without the settings of whoever runs the tests."""
    settings = IDENTITY | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", "-C", str(repository), *arguments], env=os.environ | settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(repository: Path, message: str) -> str:
    """Commit everything in the repository; its full hash."""
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", message)
    return git(repository, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """A git repository with the working tree as its first commit."""
    folder = copy_of_project(tmp_path_factory.mktemp("origin") / "evenlight")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder, "First")
    git(folder, "tag", "v1")
    return folder


@pytest.fixture(scope="module")
def requirements(tmp_path_factory) -> dict[str, str]:
    """The environment of a user who has installed the workflow's requirements, but not this project."""
    folder = tmp_path_factory.mktemp("user")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    python = folder / "venv" / "bin" / "python"
    # Links to editable installations in a folder that is itself linked to are not followed.
    modules = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    Path(modules, "requirements.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    starter = python.with_name("snakemake")
    starter.write_text(f"#!{python}\nfrom snakemake.cli import main\n\nmain()\n")
    starter.chmod(0o755)
    variables = {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(
        [python, "-c", "import evenlight"], cwd=folder, env=environment(**variables), capture_output=True, text=True
    )
    assert "No module named 'evenlight'" in done.stderr
    return variables


@pytest.fixture(scope="module")
def import_from(repository) -> Callable[[Path, str], None]:
    """Writes the Snakefile with which a folder uses a commit of the repository."""

    def write(folder: Path, revision: str) -> None:
        source = f"git+file://{repository}/workflow/Snakefile@{revision}"
        (folder / "Snakefile").write_text(
            f'module evenlight:\n    snakefile: "{source}"\n    config: config\n\n\nuse rule * from evenlight\n'
        )

    return write


@pytest.fixture(scope="module")
def study(tmp_path_factory, repository, requirements, import_from) -> Path:
    """An empty folder in which the small study was run from the repository's first commit; not to be changed."""
    folder = tmp_path_factory.mktemp("study")
    configure(folder, SMALLER)
    import_from(folder, git(repository, "rev-parse", "HEAD"))
    run_study(folder, **requirements)
    return folder


@pytest.fixture
def changed(repository) -> Iterator[Callable[[str, str], str]]:
    """Makes a commit in which text is added to a file, and takes it back after the test."""
    first = git(repository, "rev-parse", "HEAD")

    def change(path: str, addition: str) -> str:
        with (repository / path).open("a", encoding="utf-8") as file:
            file.write(addition)
        return commit(repository, "Change")

    yield change
    git(repository, "reset", "--quiet", "--hard", first)


def test_study_from_a_commit(study, repository):
    tables = {path.name for path in (results(study) / "tables").glob("*.html")}
    assert tables >= {"disparity.html", "effects.html", "models.html", "scores.html"}
    laid_out = [path.name for path in (study / ".snakemake" / "evenlight").iterdir()]
    assert laid_out == [git(repository, "rev-parse", "HEAD")]


def test_report_has_the_captions_of_the_commit(study, requirements, tmp_path):
    path = tmp_path / "report.html"
    done = snakemake(study, "--report", str(path), **requirements)
    assert done.returncode == 0, done.stdout
    categories, captions = ("Disparity", "Scores", "Models"), PROJECT / "workflow" / "scripts" / "evenlight" / "reports"
    assert_reported(path, categories, captions, without=OPTIONAL_CAPTIONS)


def test_another_commit_reruns_what_its_code_changes(study, requirements, import_from, changed, tmp_path):
    folder = Path(shutil.copytree(study, tmp_path / "copy"))
    comment = changed("workflow/scripts/evenlight/texts/items.py", "\n# A remark.\n")
    import_from(folder, comment)
    assert planned_jobs(folder, **requirements) == set()
    code = changed("workflow/scripts/figures/draw_score_panels.py", "\nADDED = 1\n")
    import_from(folder, code)
    assert planned_jobs(folder, **requirements) == chosen(all_jobs(SMALLER), "draw_score_panels")


def test_branch_and_tag(repository, requirements, import_from, tmp_path):
    for revision in ("main", "v1"):
        folder = tmp_path / revision
        folder.mkdir()
        configure(folder, SMALLER)
        import_from(folder, revision)
        assert planned_jobs(folder, **requirements) == all_jobs(SMALLER)
        assert (folder / ".snakemake" / "evenlight" / git(repository, "rev-parse", "HEAD")).is_dir()


def test_two_runs_that_start_at_once(repository, requirements, import_from, tmp_path):
    configure(tmp_path, SMALLER)
    import_from(tmp_path, "main")
    runs = [
        subprocess.Popen(command("--dry-run", "--quiet"), cwd=tmp_path, env=environment(**requirements))
        for _ in range(3)
    ]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert [path.name for path in (tmp_path / ".snakemake" / "evenlight").iterdir()] == [
        git(repository, "rev-parse", "HEAD")
    ]


def test_other_snakefile_of_a_commit_is_refused(repository, requirements, tmp_path):
    configure(tmp_path, SMALLER)
    (tmp_path / "Snakefile").write_text(f'include: "git+file://{repository}/Snakefile@main"\n')
    done = snakemake(tmp_path, "--dry-run", **requirements)
    assert done.returncode != 0
    assert "workflow/Snakefile" in done.stdout


@pytest.fixture(scope="module")
def deployed(repository, requirements, tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """A folder that snakedeploy made as from GitHub, whose address git takes for this repository's; its environment."""
    hosted = tmp_path_factory.mktemp("hosted")
    git(hosted, "clone", "--quiet", "--bare", str(repository), str(hosted / "evenlight" / "evenlight"))
    redirected = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{hosted}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
    }
    folder = hosted / "deployed"
    variables = requirements | redirected
    deploy = "from snakedeploy.client import main; main()"
    arguments = ["deploy-workflow", "https://github.com/evenlight/evenlight", str(folder), "--tag", "v1"]
    done = subprocess.run(
        [sys.executable, "-c", deploy, *arguments], env=environment(**variables), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    # What snakedeploy writes is a template, to be edited to one's own study.
    configure(folder, SMALLER)
    (folder / CONFIGURATION).replace(folder / DEPLOYED_CONFIGURATION)
    configure(folder, OVERLAY)
    return folder, variables


def test_deployed_with_snakedeploy(deployed, repository):
    folder, variables = deployed
    assert 'github("evenlight/evenlight", path="workflow/Snakefile", tag="v1")' in (
        folder / "workflow" / "Snakefile"
    ).read_text(encoding="utf-8")
    assert planned_jobs(folder, **variables) == all_jobs(SMALLER)
    assert (folder / ".snakemake" / "evenlight" / git(repository, "rev-parse", "v1")).is_dir()


def test_a_second_study_beside_that_of_the_snakefile_is_refused(deployed):
    folder, variables = deployed
    configure(folder, SMALLER)
    try:
        done = snakemake(folder, "--dry-run", **variables)
    finally:
        configure(folder, OVERLAY)
    said = " ".join(done.stdout.split())
    assert done.returncode != 0
    assert f"{folder / CONFIGURATION} and {folder / DEPLOYED_CONFIGURATION} are studies" in said
    assert "leave out --configfile" in said


def test_second_run_in_a_deployed_folder_is_refused_and_a_killed_one_continues(deployed):
    folder, variables = deployed
    items = results(folder) / "datasets" / "demo" / "items.parquet"
    target = str(items.relative_to(folder))
    first = start(folder, "--cores", "1", target, **variables)
    try:
        deadline = time.monotonic() + PATIENCE
        while not (folder / "logs" / "tiny" / "import_dataset" / "demo.log").is_file():
            assert first.poll() is None, (folder / SAID).read_text()
            assert time.monotonic() < deadline, (folder / SAID).read_text()
            time.sleep(0.01)
        os.killpg(first.pid, signal.SIGSTOP)
        second = snakemake(folder, "--cores", "1", target, **variables)
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    assert second.returncode != 0
    assert f"work in {folder}; wait" in second.stdout
    items.unlink(missing_ok=True)
    third = snakemake(folder, "--cores", "1", target, **variables)
    assert third.returncode == 0, third.stdout
    assert items.is_file()
