"""What the workflow costs beside the work: planning, and the start of jobs; what Python imports, and for how long."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from running import PROJECT, TINY, copy_of_project, environment

# What jobs need and planning does not; each takes a tenth of a second or more.
HEAVY = {"torch", "transformers", "tokenizers", "scipy.stats", "statsmodels", "sklearn", "matplotlib"}
HEAVY |= {"pandas", "pyarrow", "altair", "spacy", "vl_convert", "selenium", "openpyxl", "lxml", "bs4", "protego"}
HEAVY |= {"peft", "safetensors"}
# Times that of a bare workflow with the same jobs. On an idle machine it is 1.1 to 1.25 (docs/performance.md).
MOST = 1.4


def imported(project: Path, *arguments: str) -> set[str]:
    """The packages that a dry run imports, and their own."""
    done = subprocess.run(
        ["snakemake", "--dry-run", *arguments],
        cwd=project,
        env=environment(PYTHONPROFILEIMPORTTIME="1"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    names = re.findall(r"^import time: +\d+ \| +\d+ \| +(\S+)$", done.stderr, re.MULTILINE)
    assert "snakemake.workflow" in names
    return {".".join(name.split(".")[:parts]) for name in names for parts in (1, 2)}


def test_planning_imports_nothing_heavy(tmp_path):
    """Beyond what Snakemake imports by itself."""
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "Snakefile").write_text("rule all:\n    output:\n        'done',\n    shell:\n        'touch {output}'\n")
    ours = imported(copy_of_project(tmp_path / "project", TINY), "--configfile", "study.yaml")
    assert "evenlight" in ours
    assert (ours - imported(bare)) & HEAVY == set()


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1000", "20000"])
def test_planning_takes_about_as_long_as_a_bare_workflow(jobs):
    """Processor time of both, in turns, the least of some. Other work on the machine has moved it by a third."""
    study = PROJECT / "config" / "studies" / "disparity.yaml"
    command = [sys.executable, "bench/graph.py", "--configfile", study, "--repetitions", "2"]
    more = ["--jobs", jobs] if int(jobs) > 1485 else []
    done = subprocess.run([*command, *more], cwd=PROJECT, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert int(rows[-1][0].replace(",", "")) >= int(jobs)
    assert float(rows[-1][-1]) < MOST, done.stdout


# What jobs of a stage, a folder of scripts, may have imported when they have read their flags. Numpy comes with pandas.
TABLES = {"pandas", "pyarrow"}
ALLOWED = {
    "datasets": {*TABLES, "scipy", "sklearn"},
    "models": {*TABLES, "torch", "transformers", "tokenizers", "safetensors", "scipy"},
    # What asks a model is imported when the family is known, as others ask none.
    "explanations": {*TABLES, "scipy", "sklearn"},
    "answers": {*TABLES, "scipy"},
    "results": {*TABLES, "scipy", "statsmodels", "sklearn"},
    "figures": {*TABLES, "scipy", "statsmodels", "matplotlib", "altair", "vl_convert"},
}
# What needs more than its stage: of the explanations, those that always ask a model, and the training that also fits
# linear classifiers.
APART = {"randomise_layers", "attribute_changes", "forget_concept", "generate_answers", "plan_explanations"}
READ_FLAGS = """
import runpy, sys
for script in sys.argv[1:]:
    sys.argv[:] = [script, "--help"]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit:
        pass
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.parametrize("stage", ALLOWED)
def test_jobs_of_a_stage_start_without_what_they_do_not_need(stage):
    scripts = sorted(path for path in (PROJECT / "workflow/scripts" / stage).glob("*.py") if path.stem not in APART)
    assert len(scripts) >= 2
    command = [sys.executable, "-c", READ_FLAGS, *scripts]
    variables = environment(PYTHONPATH=str(PROJECT / "workflow" / "scripts"))
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("usage:") == len(scripts)
    imported = set(done.stderr.splitlines()[-1].split())
    assert "evenlight" in imported
    assert imported & HEAVY - ALLOWED[stage] == set()
