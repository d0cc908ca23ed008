"""Which jobs a configuration stands for, from wherever the workflow is used."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import yaml
from running import (
    PROJECT,
    SMALLER,
    TINY,
    all_jobs,
    chosen,
    configure,
    copy_of_project,
    edited,
    environment,
    planned_jobs,
    run_study,
    use_as_module,
)

# What a new result is: a class, whose statistic and contract stand here for those of the library.
RESULT = """
from typing import ClassVar, Literal

import pandas as pd
import pyarrow as pa

from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Result


class CountExplained(Result):
    '''How many files of explanations there are.'''

    folders: ClassVar = ("attributions",)
    tables: ClassVar = {"explained": Contract("explained", "count_explained", pa.schema({"files": pa.int64()}))}

    result: Literal["count_explained"]

    def compute(self, inputs):
        files = list(inputs.folders["attributions"].rglob("*.parquet"))
        return Computed([pd.DataFrame({"files": [len(files)]})])
"""
# What a new page and its figure are: a module each, of which only the first is read where rules are made.
PAGE = """
from evenlight.reports.entries import Drawn, Shown
from evenlight.reports.html_table import Page
from evenlight.statistics.analyses.count_explained import CountExplained

TABLES = tuple(CountExplained.tables.values())


def shown(study):
    if study.config["kind"] != "counting":
        return None
    return Shown("Counts", "{}", figures={"explained": Drawn("All counts.", "explained", "{}", shows="counts")})


def page(explained):
    return Page("Counts", f"How many? {len(explained)}.", [])
"""
# What a new kind of study is.
KIND = """
KINDS["counting"] = Kind("How much is explained?", {"explained": "how many files there are."})
"""
DATASET = {"reader": "demo", "classes": "three_class", "words": "subject", "validation_share": 0.2}


def test_study_is_the_full_grid(project):
    assert planned_jobs(project) == all_jobs(TINY)


def test_random_layers_are_of_datasets_with_an_explainer_that_can_be_asked_again(project):
    study = edited(TINY, "datasets", "other", value=TINY["datasets"]["demo"] | {"words": "subject"})
    (project / "theirs.jsonl").touch()
    explainers = {
        "igxi": TINY["explainers"]["igxi"] | {"datasets": ["demo"]},
        "theirs": {"method": "imported", "file": "theirs.jsonl", "datasets": ["other"]},
    }
    models = {"ola_cea": TINY["models"]["ola_cea"]}
    configure(
        project, study | {"seeds": [0], "models": models, "explainers": explainers, "randomisation": {"texts": 5}}
    )
    planned = planned_jobs(project)
    assert {dict(wildcards)["dataset"] for _, wildcards in chosen(planned, "draw_randomisation")} == {"demo"}
    assert {dict(wildcards)["explainer"] for _, wildcards in chosen(planned, "randomise_layers")} == {"igxi"}


def test_random_explainers_alone_are_audited_without_what_is_beyond_them(project):
    configure(project, SMALLER | {"explainers": {"random": {"method": "uniform_random"}}})
    planned = {rule for rule, _ in planned_jobs(project, "all", "audit")}
    assert "write_page" in planned
    assert "measure_beyond_random" not in planned


def test_only_what_an_audit_shows_is_computed_for_it(project):
    planned = {name: {rule for rule, _ in planned_jobs(project, name)} for name in ("all", "audit")}
    computed = {
        *("write_page", "count_texts", "estimate_texts_needed", "classify_empty_texts", "describe_decisions"),
    }
    assert all(jobs >= computed for jobs in planned.values())
    not_shown = {"tabulate_scores", "summarise_scores"}
    assert not_shown <= planned["all"]
    assert not planned["audit"] & not_shown


def test_a_new_result_is_a_class(tmp_path):
    project = copy_of_project(tmp_path / "project", SMALLER)
    scripts = project / "workflow" / "scripts"
    (scripts / "evenlight/statistics/analyses/count_explained.py").write_text(RESULT)
    planned = planned_jobs(project, "results/tiny/tables/explained.parquet")
    expected = chosen(all_jobs(SMALLER), "import_dataset", "train", "read_texts", "attribute_")
    assert planned == expected | {("count_explained", frozenset())}
    for name in ("igxi", "lime"):
        (project / f"attributions/{name}.parquet").parent.mkdir(exist_ok=True)
        (project / f"attributions/{name}.parquet").touch()
    command = [sys.executable, scripts / "results/compute.py", "--result", "count_explained", "--settings", "{}"]
    command += [f"--attributions={project / 'attributions'}", "--output", project / "explained.parquet"]
    subprocess.run(command, check=True, env=environment(PYTHONPATH=str(scripts)))
    assert pd.read_parquet(project / "explained.parquet")["files"].tolist() == [2]


def test_a_new_page_and_its_figure_are_modules_and_a_new_kind_an_entry(tmp_path):
    project = copy_of_project(tmp_path / "project", SMALLER | {"kind": "counting"})
    library = project / "workflow/scripts/evenlight"
    (library / "statistics/analyses/count_explained.py").write_text(RESULT)
    (library / "reports/pages/explained.py").write_text(PAGE)
    for folder in ("pages", "plots"):
        (library / f"reports/{folder}/explained.rst").write_text("How much is explained.")
    kinds = library / "core/kinds.py"
    kinds.write_text(kinds.read_text() + KIND)
    planned = {rule for rule, _ in planned_jobs(project)}
    assert planned >= {"count_explained", "tabulate_explained", "draw_explained", "tabulate_scores", "tabulate_models"}
    assert not planned & {"measure_disparity", "estimate_effects"}


def test_a_model_and_an_explainer_for_one_dataset_have_jobs_there_alone(project):
    study = SMALLER | {
        "datasets": TINY["datasets"] | {"other": DATASET},
        "models": SMALLER["models"] | {"second": TINY["models"]["ola_cea"] | {"datasets": ["other"]}},
        "explainers": SMALLER["explainers"] | {"lime": SMALLER["explainers"]["lime"] | {"datasets": ["demo"]}},
    }
    configure(project, study)
    planned = planned_jobs(project)
    # A dataset with other explainers has a rule of its own.
    assert {rule for rule, _ in planned if rule.endswith("_on_other")} == {"score_on_other"}
    grid, nowhere = all_jobs(study), {("model", "second"), ("dataset", "demo")}
    missing = {job for job in grid if nowhere <= job[1]} | chosen(grid, "attribute_lime", dataset="other")
    assert {(rule.removesuffix("_on_other"), run) for rule, run in planned} == grid - missing


def test_jobs_on_different_datasets_can_run_as_one_group(project):
    """As clusters ask for; Snakemake demands the same strings as resources of all jobs of a group."""
    study = SMALLER | {"datasets": TINY["datasets"] | {"other": DATASET}}
    sampled = study | {"explain": {"pairs": 8, "pairs_on": {"demo": 7}}}
    configure(project, sampled)
    grouped = [f"{rule}=models" for rule in ("train", "read_texts")]
    stdout = run_study(project, "--dry-run", "--groups", *grouped, "--group-components", "models=9")
    assert "Group job models" in stdout, stdout


def test_one_figure_needs_its_own_model_only(project):
    planned = planned_jobs(project, "results/tiny/figures/panels/demo/ola_cea.svg")
    expected = chosen(all_jobs(TINY), "train", "read_texts", "attribute_", model="ola_cea")
    expected |= chosen(all_jobs(TINY), "score", "draw_score_panels", model="ola_cea")
    assert planned == expected | chosen(all_jobs(TINY), "import_dataset")


def test_used_as_a_module(project, tmp_path):
    configure(tmp_path, TINY)
    use_as_module(tmp_path, project)
    assert planned_jobs(tmp_path) == all_jobs(TINY)


# Some of each kind; `make check` plans all of them, too.
SOME = ("demo", "answers_example", "audit_example", "cebab_cpu", "hatecheck_cpu")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem not in SOME))
        for path in sorted(PROJECT.glob("config/**/*.yaml"))
        if path.parent.name in ("config", "studies")
    ],
)
def test_shipped_configuration(project, path):
    study = yaml.safe_load(path.read_text(encoding="utf-8"))
    # What a command of the Makefile puts there.
    for source in [
        model["source"] for model in study.get("models", {}).values() if "results/" in model.get("source", "")
    ]:
        (project / source).mkdir(parents=True, exist_ok=True)
    configure(project, study)
    planned = planned_jobs(project)
    trained = [name for name, model in study.get("models", {}).items() if "training" in model]
    trainings = [job for job in planned if job[0] == "train"]
    assert len(trainings) == len(study["datasets"]) * len(trained) * len(study.get("seeds", []))


def test_a_table_of_ones_own_is_called_by_its_name(project):
    """Its ``label`` is the column of the classes, and no heading as that of an explainer or metric is.

    Nor are English pronouns looked for in texts of a language that nobody has named.
    """
    (project / "loans.csv").write_text("said,repaid,who\n", encoding="utf-8")
    attributes = {"gender": {"column": "who", "levels": ["male", "female"]}}
    own = {"reader": "table", "file": "loans.csv", "text": "said", "label": "repaid", "classes": ["no", "yes"]}
    configure(project, SMALLER | {"datasets": {"loans": own | {"attributes": attributes}}})
    stdout = run_study(project, "--dry-run", "--printshellcmds")
    assert '"datasets": {"loans": "loans"}' in stdout  # of the pages
    assert '"dataset": "loans"' in stdout  # of the figures
    assert not re.search(r'"datasets?": (\{"loans": )?"repaid"', stdout)
    assert "rule measure_quality" in stdout
    assert "rule measure_co_occurrence" not in stdout


def import_settings(project: Path, dataset: dict) -> str:
    """The settings with which a dataset is imported."""
    (project / "people.csv").write_text("said,kind,sex,origin\n", encoding="utf-8")
    configure(project, SMALLER | {"datasets": {"people": dataset}, "kind": "description", "statistics": {}})
    stdout = run_study(project, "--dry-run", "--printshellcmds", "results/tiny/datasets/people/items.parquet")
    return re.search(r"--settings '(\{.*?\})' ", stdout)[1]


def reversed_keys(value):
    """The same with the keys of all mappings from the last to the first."""
    return {key: reversed_keys(value[key]) for key in reversed(value)} if isinstance(value, dict) else value


def test_order_of_keys_counts_for_the_attributes_of_a_table_only(project):
    origin = {"column": "origin", "levels": ["b", "a"], "balanced": False}
    attributes = {"origin": origin, "gender": {"column": "sex", "levels": ["m", "f"], "balanced": False}}
    table = {"reader": "table", "file": "people.csv", "text": "said", "label": "kind", "classes": ["y", "x"]}
    settings = import_settings(project, table | {"attributes": attributes})
    assert list(json.loads(settings)["attributes"]) == ["origin", "gender"]
    other_order = {name: reversed_keys(entry) for name, entry in attributes.items()}
    assert import_settings(project, reversed_keys(table) | {"attributes": other_order}) == settings
    other_attributes = import_settings(project, table | {"attributes": reversed_keys(attributes)})
    assert list(json.loads(other_attributes)["attributes"]) == ["gender", "origin"]


@pytest.mark.parametrize(
    ("name", "runs", "datasets", "models", "disputed"),
    [pytest.param("disparity", 100, 4, 5, 6, marks=pytest.mark.slow), ("disparity_from_scratch", 20, 2, 2, 4)],
)
def test_published_grid(project, name, runs, datasets, models, disputed):
    """Five seeds of every model on every dataset, four families of explainers and five of metrics."""
    study = yaml.safe_load((PROJECT / "config" / "studies" / f"{name}.yaml").read_text(encoding="utf-8"))
    configure(project, study)
    jobs = Counter(rule for rule, _ in planned_jobs(project))
    families = ("gradient", "path", "lime", "partition_shap")
    of_a_run = ("train", "read_texts", *(f"attribute_{family}" for family in families))
    assert {rule: jobs[rule] for rule in of_a_run} == dict.fromkeys(of_a_run, runs)
    assert jobs["score"] == 5 * runs
    assert jobs["draw_score_panels"] == datasets * models
    # Of the metrics that have several definitions.
    assert jobs["draw_specifications"] == datasets * disputed
    assert (jobs["compare_published"], jobs["measure_disparity"]) == (1, 1)
