"""A study with a reader, an explainer and a metric of a user's own: whole, edited, elsewhere, and in an archive."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from own_parts import write_examples
from running import (
    CONFIGURATION,
    SMALLER,
    chosen,
    configuration,
    configure,
    copy_of_project,
    environment,
    planned_jobs,
    results,
    run_study,
    snakemake,
)
from test_archived_study import tool
from warm_snakemake import run

from evenlight.core.contracts.explanations import SCORES
from evenlight.core.contracts.results import EFFECTS
from evenlight.core.tables import read_table
from evenlight.jobs.own_files import own_family

LAST, TOP, LINES = "parts/last_layer.py:LastLayer", "parts/top_share.py:TopShare", "parts/reviews.py:JsonLines"
COLUMNS = {"text": "review", "label": "stars", "classes": ["bad", "good"], "test_share": 0.5}
STUDY = SMALLER | {
    "datasets": {
        "reviews": {
            "reader": LINES,
            "file": "reviews.jsonl",
            "attributes": {"gender": {"column": "gender", "levels": ["male", "female"]}},
            **COLUMNS,
        }
    },
    "explainers": {"attention": {"method": LAST, "by": "all"}, "igxi": SMALLER["explainers"]["igxi"]},
    "metrics": {"top": {"metric": TOP, "tokens": 2}, "gini": {"metric": "gini"}},
    "explain": {},
}


def reviews() -> Iterator[dict]:
    """Of men and women in turns; what is good has another word than what is bad."""
    for number in range(80):
        label = "good" if number % 4 < 2 else "bad"
        person = ("he", "she")[number % 2]
        yield {
            "review": f"On day {number} {person} said that it was {'fine' if label == 'good' else 'poor'}.",
            "stars": label,
            "gender": ("male", "female")[number % 2],
        }


def prepared(project: Path) -> Path:
    """A project with the study, its data and its code."""
    write_examples(project)
    (project / "reviews.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in reviews()))
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """The finished study; not to be changed."""
    project = prepared(copy_of_project(tmp_path_factory.mktemp("own") / "project", STUDY))
    run_study(project)
    return project


def test_a_study_of_own_parts_is_like_any_other(project):
    run = results(project) / "scores/reviews/ola_cea/seed0"
    top = {name: read_table(run / f"{own_family(TOP)}/{name}.parquet", SCORES)["top"] for name in ("attention", "igxi")}
    assert (top["attention"].between(0, 1)).all()
    assert not top["attention"].equals(top["igxi"])
    effects = read_table(results(project) / "tables/effects.parquet", EFFECTS)
    assert set(zip(effects["explainer"], effects["metric"], strict=True)) == {
        (explainer, metric) for explainer in STUDY["explainers"] for metric in STUDY["metrics"]
    }
    page = (results(project) / "tables/effects.html").read_text(encoding="utf-8")
    assert "Share of the top" in page
    assert planned_jobs(project) == set()


def test_an_edit_reruns_what_used_it_and_nothing_else(project, copy_of):
    changed = copy_of(project)
    path = changed / "parts/last_layer.py"
    path.write_text(path.read_text().replace("attention.mean(0)", "2 * attention.mean(0)"))
    jobs = planned_jobs(changed)
    assert not {rule for rule, _ in jobs} & {"import_dataset", "train", "read_texts", "attribute_path"}
    assert chosen(jobs, f"attribute_{own_family(LAST)}")

    path.write_text((project / "parts/last_layer.py").read_text() + "\n# A remark.\n")
    assert planned_jobs(changed) == set()

    path = changed / "parts/top_share.py"
    path.write_text(path.read_text().replace("score.any()", "score.all()"))
    jobs = planned_jobs(changed)
    assert not {rule for rule, _ in jobs if rule.startswith("attribute_")}
    assert {dict(wildcards)["family"] for rule, wildcards in jobs if rule == "score"} == {own_family(TOP)}

    path = changed / "parts/reviews.py"
    path.write_text(path.read_text().replace("json.loads", "(lambda line: json.loads(line))"))
    assert chosen(planned_jobs(changed), "import_dataset")


def test_an_error_in_it_ends_the_run_with_its_file_and_line(project, copy_of):
    changed = copy_of(project)
    path = changed / "parts/last_layer.py"
    path.write_text(path.read_text().replace("attention.mean(0)", "attention.mean(7)"))
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if "mean(7)" in text)
    done = snakemake(changed, "--cores", "1")
    assert done.returncode != 0
    said = [line for line in done.stdout.splitlines() if line.startswith("error: ")][-1]
    assert said.startswith(f"error: parts/last_layer.py, line {line}: IndexError: Dimension")
    assert said.endswith("(while text 1 of 40 was explained)")
    assert (
        not (results(changed) / "attributions/reviews/ola_cea/seed0/attention.parquet").exists()
        or (results(changed) / "attributions/reviews/ola_cea/seed0/attention.parquet").read_bytes()
        == (results(project) / "attributions/reviews/ola_cea/seed0/attention.parquet").read_bytes()
    )


def test_check_tells_of_it_before_anything_long_runs(project, tmp_path):
    fresh = prepared(copy_of_project(tmp_path / "fresh", STUDY))
    path = fresh / "parts/last_layer.py"
    path.write_text(path.read_text().replace(".cpu().numpy()", ".cpu().numpy()[1:]"))
    done = snakemake(fresh, "--cores", "1", "check")
    assert done.returncode != 0
    said = [line for line in done.stdout.splitlines() if line.startswith("error: explainers.attention")]
    assert len(set(said)) == 1
    assert "scores of shape" in said[0]


def test_the_code_lies_beside_a_study_elsewhere(project, tmp_path):
    """The results are those of the same code: where it lies reruns nothing."""
    moved = Path(shutil.copytree(project, tmp_path / "moved"))
    (moved / "studies").mkdir()
    (moved / CONFIGURATION).rename(moved / "studies" / CONFIGURATION)
    (moved / "parts").rename(moved / "studies/parts")
    done = run(["--dry-run", "--configfile", f"studies/{CONFIGURATION}"], moved, environment())
    assert done.returncode == 0, done.stdout
    assert "Nothing to be done" in done.stdout


def test_an_archive_has_the_code_and_runs_it_when_it_is_trusted(project, archive_python, tmp_path):
    output = tmp_path / "mine.zip"
    named = ("--study", "tiny", "--configfile", CONFIGURATION, "--output", str(output), "--without", "models")
    packed = tool(project, "archive_study", *named, python=archive_python)
    assert packed.returncode == 0, packed.stderr
    clone = copy_of_project(tmp_path / "clone")
    unpacked = tool(clone, "unpack_study", str(output), python=sys.executable)
    assert unpacked.returncode == 0, unpacked.stderr
    assert (clone / "results/tiny/parts/last_layer.py").read_text() == (project / "parts/last_layer.py").read_text()

    def drawn(*more: str) -> subprocess.CompletedProcess:
        figure = "results/tiny/figures/control.svg"
        command = ["--cores", "1", "--force", figure, "--configfile", "results/tiny/study.yaml", *more]
        return run(command, clone, environment())

    refused = drawn()
    assert refused.returncode != 0
    assert "results/tiny: this study came" in refused.stdout
    # No file that came with it can say so.
    path = clone / "results/tiny/study.yaml"
    written = path.read_text()
    path.write_text(f"{written}\ntrust_parts: true\n")
    assert "trust_parts: found in" in drawn().stdout
    path.write_text(written)
    done = drawn("--config", "trust_parts=true")
    assert done.returncode == 0, done.stdout


def test_a_study_that_names_a_file_outside_of_its_folder_is_not_packed(project, archive_python, copy_of, tmp_path):
    changed = copy_of(project)
    config = configuration(changed)
    config["metrics"]["top"]["metric"] = f"{changed}/parts/top_share.py:TopShare"
    configure(changed, config)
    named = ("--study", "tiny", "--configfile", CONFIGURATION, "--output", str(tmp_path / "mine.zip"))
    packed = tool(changed, "archive_study", *named, python=archive_python)
    assert packed.returncode != 0
    assert "the study's folder" in packed.stderr
