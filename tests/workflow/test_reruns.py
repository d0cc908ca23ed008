"""What an edit costs: a table of edits against the jobs that a dry run lists after them."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from running import (
    COSTS,
    SMALLER,
    TINY,
    Job,
    all_jobs,
    chosen,
    configuration,
    configure,
    contents,
    copy_of_project,
    edited,
    planned_jobs,
    results,
    run_study,
    snakemake,
)

from evenlight.jobs import kept_records

# The finished study with one seed and a second dataset, so that an edit of one has another to leave alone.
STUDY = edited(TINY, "datasets", "other", value=TINY["datasets"]["demo"] | {"words": "subject"}) | {"seeds": [0]}
EVERYTHING = all_jobs(STUDY)
LIBRARY = "workflow/scripts/evenlight"

# What follows from changed scores: what is computed of all of them together, and what shows them.
SUMMARY = ("summarise_disparity", "tabulate_disparity", "draw_disparity")
EFFECTS = (
    *("estimate_effects", "permute_verdicts", "tabulate_effects", "draw_effects"),
    *("estimate_texts_needed", "write_page"),
)
CONTROL = ("permute_groups", "draw_control")
COVARIATE_ADJUSTED = ("adjust_for_covariates", "tabulate_covariate_adjusted")
SCORES = ("summarise_scores", "tabulate_scores")
JUDGED = ("measure_disparity", "record_analyses")
FROM_TESTS = (*JUDGED, *SUMMARY, *EFFECTS, *CONTROL, *COVARIATE_ADJUSTED, *SCORES)
QUALITY = ("measure_quality", "tabulate_models")
BOXES = ("draw_score_panels",)
FROM_SCORES = (*FROM_TESTS, *BOXES, "count_texts")
FROM_PREDICTIONS = (*QUALITY, "classify_empty_texts", "describe_decisions")


@pytest.fixture(scope="module")
def finished_twice(finished, tmp_path_factory) -> Path:
    """The finished project with a second dataset, whose results are copies and which Snakemake takes for made."""
    other_seed = shutil.ignore_patterns("seed1*")
    project = Path(shutil.copytree(finished, tmp_path_factory.mktemp("finished_twice") / "project", ignore=other_seed))
    for path in [path for path in results(project).rglob("*") if path.stem == "demo"]:
        copy = path.with_name(path.name.replace("demo", "other"))
        shutil.copytree(path, copy) if path.is_dir() else shutil.copy2(path, copy)
    configure(project, STUDY)
    adopt(project)
    return project


def adopt(project: Path) -> None:
    """Have Snakemake take all results for made by the present configuration and code."""
    run_study(project, "--touch", "--forceall", cores=1)


def study(*keys: str, value: object) -> Callable[[Path], None]:
    """An edit of the configuration: another value under ``keys``."""
    return lambda project: configure(project, edited(configuration(project), *keys, value=value))


def text(path: str, old: str, new: str) -> Callable[[Path], None]:
    """An edit of one file: ``new`` in the place of ``old``, which must stand there once."""

    def edit(project: Path) -> None:
        before = (project / path).read_text(encoding="utf-8")
        assert before.count(old) == 1, f"{path}: {old!r} occurs {before.count(old)} times; correct the test"
        (project / path).write_text(before.replace(old, new), encoding="utf-8")

    return edit


def deleted(path: str) -> Callable[[Path], None]:
    """An edit that deletes one file of the results."""
    return lambda project: (results(project) / path).unlink()


def all_of(*edits: Callable[[Path], None]) -> Callable[[Path], None]:
    """Several edits at once."""

    def edit(project: Path) -> None:
        for each in edits:
            each(project)

    return edit


def one_more_line(path: str) -> Callable[[Path], None]:
    """An edit of one file that changes no number."""
    return lambda project: (project / path).write_text(f"{(project / path).read_text(encoding='utf-8')}\nEXTRA = 1\n")


def version(name: str) -> Callable[[Path], None]:
    """An edit that raises the version of a stage."""
    return text(f"{LIBRARY}/core/versions.py", f'    "{name}": 1,', f'    "{name}": 2,')


def class_version(path: str, name: str) -> Callable[[Path], None]:
    """An edit that raises the version of an explainer or of a metric."""
    title = f'    title: ClassVar[str] = "{name}"\n'
    return text(f"{LIBRARY}/{path}", title, f"{title}    version: ClassVar[int] = 2\n")


def result_version(path: str) -> Callable[[Path], None]:
    """An edit that raises the version of the one result of a module that has one."""
    stated = "    version: ClassVar[int] = "
    return text(f"{LIBRARY}/{path}", stated, f"{stated}10 * ")


def what_changes_speed_only(project: Path) -> None:
    """Other keys of the configuration that say how and where to compute, not what."""
    mirror = project / "mirror"
    mirror.mkdir()
    study_ = configuration(project) | {"device": "auto", "threads": 2, "mirror": str(mirror), "checkpoint_minutes": 1}
    configure(project, edited(study_, "explain", "tokens_per_batch", value=100))


def of(*rules: str, **wildcards: object) -> Callable[[Path], set[Job]]:
    """Jobs of the edited study; see :func:`running.chosen`."""
    return lambda project: chosen(all_jobs(configuration(project)), *rules, **wildcards)


def nothing(project: Path) -> set[Job]:
    """No job."""
    return set()


def both(*parts: Callable[[Path], set[Job]]) -> Callable[[Path], set[Job]]:
    """The jobs of all parts."""
    return lambda project: set().union(*(part(project) for part in parts))


# How a module begins.
DOCSTRING = '"""A text classifier as the rest of Evenlight sees it'
OF_A_MODEL = ("train", "read_texts", "attribute_", "score")

EDITS = {
    "nothing": (lambda project: None, nothing),
    # Results that are missing
    "figure deleted": (
        deleted("figures/panels/demo/ola_cea.svg"),
        of("draw_score_panels", dataset="demo", model="ola_cea"),
    ),
    "table deleted": (deleted("tables/models.html"), of("tabulate_models")),
    # The configuration
    "seed added": (
        study("seeds", value=[0, 1]),
        both(of(*OF_A_MODEL, seed=1), of(*FROM_SCORES, *FROM_PREDICTIONS, *COSTS)),
    ),
    "model added": (
        study("models", "another", value=TINY["models"]["ola_cea"]),
        both(
            of(*OF_A_MODEL, *BOXES, model="another"),
            of(*FROM_TESTS, "count_texts", *FROM_PREDICTIONS, *COSTS),
        ),
    ),
    "model for one dataset alone": (
        study("models", "ola_cea", "datasets", value=["demo"]),
        of(*FROM_TESTS, "count_texts", *FROM_PREDICTIONS, *COSTS),
    ),
    "explainer of a new family added": (
        study("explainers", "grad", value={"method": "saliency"}),
        both(of("attribute_gradient", "score"), of(*FROM_SCORES, *COSTS)),
    ),
    "parameter of an explainer changed": (
        study("explainers", "lime", "samples", value=31),
        both(of("attribute_lime", "score"), of(*FROM_SCORES, *COSTS)),
    ),
    "metric of a new column added": (
        study("metrics", "sparsity", value={"metric": "sparsity"}),
        both(
            of("score", family="complexity"),
            of("draw_score_panels", *FROM_TESTS),
        ),
    ),
    "parameter of a metric changed": (
        study("metrics", "comprehensiveness", "shares", value=[0.3]),
        both(
            of("score", family="faithfulness"),
            of("draw_score_panels", "count_texts", *FROM_TESTS),
        ),
    ),
    "learning rate of one model changed": (
        study("trainings", "one_layer", "learning_rate", value=0.02),
        both(
            of(*OF_A_MODEL, *BOXES, model="ola_cea"),
            of(*FROM_TESTS, "count_texts", *FROM_PREDICTIONS, *COSTS),
        ),
    ),
    "validation share of one dataset changed": (
        study("datasets", "demo", "validation_share", value=0.3),
        both(
            of(*OF_A_MODEL, "import_dataset", "measure_co_occurrence", *BOXES, dataset="demo"),
            of(*FROM_TESTS, "count_texts", *FROM_PREDICTIONS, *COSTS),
        ),
    ),
    "epochs on one dataset changed": (
        study("trainings", "one_layer", "epochs", value={"default": 2, "demo": 1}),
        both(
            of(*OF_A_MODEL, *BOXES, model="ola_cea", dataset="demo"),
            of(*FROM_TESTS, "count_texts", *FROM_PREDICTIONS, *COSTS),
        ),
    ),
    "fewer pairs of one dataset explained": (
        study("explain", "pairs_on", value={"demo": 7}),
        both(
            of("read_texts", "attribute_", "score", *BOXES, dataset="demo"),
            of(*FROM_TESTS, "count_texts", *FROM_PREDICTIONS, *COSTS),
        ),
    ),
    "label of an explainer changed": (
        study("explainers", "lime", "label", value="LIME"),
        both(
            of(*BOXES, "draw_disparity", "draw_effects", "tabulate_disparity", "tabulate_effects"),
            of("tabulate_scores", "write_page"),
        ),
    ),
    "levels compared the other way round": (
        study("statistics", "compare", value={"gender": [["female", "male"]]}),
        both(
            of(*JUDGED, *SUMMARY, *EFFECTS, *CONTROL, *COVARIATE_ADJUSTED),
            of("tabulate_scores", "count_texts", *QUALITY, *BOXES),
        ),
    ),
    "level of significance changed": (
        study("statistics", "alpha", value=0.01),
        # Of tests whose level is none of the study's, the page says how often texts were judged.
        of("record_analyses", *SUMMARY, *EFFECTS, *CONTROL, "tabulate_covariate_adjusted"),
    ),
    "smallest effect of interest named": (
        study("statistics", "smallest_effects", value={"gini": 0.001}),
        of(*EFFECTS),
    ),
    "groups permuted more often": (
        study("statistics", "control_draws", value=30),
        of(*CONTROL, *COVARIATE_ADJUSTED),
    ),
    "considerable effect changed": (study("statistics", "considerable_effect", value=0.5), of(*SUMMARY)),
    "verdicts of more permutations": (
        study("statistics", "verdict_permutations", value=3),
        of("permute_verdicts", "tabulate_effects", "write_page"),
    ),
    "coverage of the intervals changed": (
        study("statistics", "confidence", value=0.9),
        of(*EFFECTS, *COVARIATE_ADJUSTED),
    ),
    "figures in one format": (study("figures", value={"formats": ["svg"]}), of("write_page")),
    "speed changed": (what_changes_speed_only, nothing),
    "learning rate spelt otherwise": (
        study("trainings", "one_layer", "learning_rate", value="1e-2"),
        nothing,
    ),
    # The code: numbers that change have another version
    "code without another version": (
        all_of(
            text(f"{LIBRARY}/explainers/families/lime/paper.py", "ridge * np.eye", "2 * ridge * np.eye"),
            text(f"{LIBRARY}/engine/training.py", "1.0 if schedule", "0.5 if schedule"),
            text(f"{LIBRARY}/models/classifier.py", DOCSTRING, f"{DOCSTRING} now"),
            *(
                one_more_line(f"{LIBRARY}/{path}")
                for path in (
                    "jobs/archive.py",
                    "models/fast_layers.py",
                    "core/tables.py",
                    "explainers/families/gradient_shap.py",
                    "metrics/families/complexity.py",
                    "reports/style.py",
                    "statistics/analyses/summary.py",
                )
            ),
        ),
        nothing,
    ),
    "version of one explainer": (
        class_version("explainers/families/lime/__init__.py", "LIME"),
        both(of("attribute_lime", "score"), of(*FROM_SCORES, *COSTS)),
    ),
    "version of an explainer of other studies": (
        class_version("explainers/families/gradient_shap.py", "Gradient SHAP"),
        nothing,
    ),
    "version of one metric": (
        class_version("metrics/families/complexity.py", "Gini"),
        both(
            of("score", family="complexity"),
            of("draw_score_panels", *FROM_TESTS),
        ),
    ),
    "version of the training": (version("train"), both(of(*OF_A_MODEL), of(*FROM_SCORES, *FROM_PREDICTIONS, *COSTS))),
    "version of one result": (
        result_version("statistics/analyses/summary.py"),
        of("tabulate_disparity", *SUMMARY),
    ),
    "version of all pages": (version("tabulate"), of("tabulate_")),
    "code of one page and of one plot": (
        all_of(
            one_more_line(f"{LIBRARY}/reports/pages/scores.py"),
            one_more_line(f"{LIBRARY}/reports/plots/score_panels.py"),
        ),
        of("tabulate_scores", "draw_score_panels"),
    ),
    # What the project wrote itself
    "demo corpus touched": (lambda project: os.utime(project / "resources/demo/sentences.yaml"), nothing),
    "demo corpus changed": (
        text("resources/demo/sentences.yaml", "beneath the piano", "behind the piano"),
        lambda project: EVERYTHING,
    ),
}


@pytest.mark.parametrize(("edit", "expected"), EDITS.values(), ids=EDITS)
def test_edit(finished_twice, copy_of, edit, expected):
    project = copy_of(finished_twice)
    edit(project)
    assert planned_jobs(project) == expected(project)


def test_where_an_explainer_explains_concerns_no_model(finished_twice, copy_of):
    project = copy_of(finished_twice)
    study("explainers", "lime", "datasets", value=["demo"])(project)
    planned = {rule for rule, _ in planned_jobs(project)}
    assert {"measure_disparity", *COSTS} <= planned
    assert planned.isdisjoint({"train", "read_texts", *FROM_PREDICTIONS})
    assert not any(rule.startswith("attribute_") for rule in planned)


def test_redrawing_a_figure_is_one_job_without_torch(finished_smaller, copy_of, tmp_path):
    project = copy_of(finished_smaller)
    figure = results(project) / "figures" / "panels" / "demo" / "ola_cea.svg"
    before = figure.read_bytes()
    figure.unlink()
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise RuntimeError('torch is imported')\n")
    without_torch = {"PYTHONPATH": str(tmp_path)}

    assert planned_jobs(project, **without_torch) == chosen(all_jobs(SMALLER), "draw_score_panels")
    run_study(project, **without_torch)
    assert figure.read_bytes() == before

    # The stand-in does what it should: a job that needs torch fails.
    refused = snakemake(project, "--cores", "1", "--forcerun", "read_texts", **without_torch)
    assert refused.returncode != 0
    assert "torch is imported" in refused.stdout


# Files of several explainers from one job: those that nothing changed are left as they are.

RUN = Path("demo", "ola_cea", "seed0")
SCORES = {family: f"score/demo/ola_cea/seed0/{family}.log" for family in ("faithfulness", "complexity")}


def said(project: Path, log: str) -> str:
    """What a job wrote into its log."""
    return (project / "logs" / "tiny" / log).read_text(encoding="utf-8")


def left_alone(project: Path, log: str) -> set[str]:
    """The explainers whose files a job did not make again."""
    return set(re.findall(r"^(\w+): unchanged$", said(project, log), re.MULTILINE))


def per_explainer(project: Path) -> dict[str, bytes]:
    """The attribution files and scores."""
    return {
        f"{part}/{name}": content
        for part in ("attributions", "scores")
        for name, content in contents(results(project) / part).items()
    }


def test_a_new_explainer_computes_itself_alone(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    before = per_explainer(project)
    study("explainers", "ig", value={"method": "path_gradient", "steps": 3})(project)
    scored = [f"results/tiny/scores/{RUN}/{family}/ig.parquet" for family in SCORES]
    run_study(project, *scored)
    after = per_explainer(project)
    assert {name: after[name] for name in before} == before
    assert {Path(name).stem for name in after.keys() - before.keys()} == {"ig"}
    assert "with ig on cpu" in said(project, "attribute/demo/ola_cea/seed0/path.log")
    assert left_alone(project, "attribute/demo/ola_cea/seed0/path.log") == {"igxi"}
    for log in SCORES.values():
        assert left_alone(project, log) == {"igxi", "lime"}
        assert ": scoring ig\n" in said(project, log)
    assert planned_jobs(project, *scored) == set()


# Texts that change: rows of others are taken over, see tests/unit/jobs/test_kept_rows.py.

ATTRIBUTED = {family: f"attribute/demo/ola_cea/seed0/{family}.log" for family in ("path", "lime")}


def taken_over(project: Path, log: str) -> dict[str, tuple[int, int]]:
    """Of how many rows of each explainer a job took over how many."""
    found = re.findall(r"^(\w+): (\d+) of (\d+) rows are taken over$", said(project, log), re.MULTILINE)
    return {name: (int(taken), int(rows)) for name, taken, rows in found}


def test_rows_of_other_texts_are_taken_over(finished_smaller, copy_of):
    """Of eight pairs for ten. LIME, which has other settings now, explains all again."""
    project = copy_of(finished_smaller)
    for edit in (study("explain", "pairs", value=10), study("explainers", "lime", "samples", value=31)):
        edit(project)
    score_file = results(project) / "scores" / RUN / "faithfulness" / "igxi.parquet"
    run_study(project, str(score_file.relative_to(project)))
    found = taken_over(project, ATTRIBUTED["path"]) | taken_over(project, ATTRIBUTED["lime"])
    assert found == taken_over(project, SCORES["faithfulness"])
    assert found.keys() == {"igxi"}
    assert all(taken * 10 == rows * 8 for taken, rows in found.values())


def test_scores_depend_on_the_versions_of_what_they_use(finished_smaller, copy_of):
    """Those that ask no model not on the engine, and those that explain again on the explainers."""
    project = copy_of(finished_smaller)
    study("metrics", "worst", value={"metric": "worst_change"})(project)
    listed = snakemake(project, "--dry-run", "--printshellcmds", "--forceall")
    commands = [line for line in listed.stdout.splitlines() if "score.py" in line and "--versions" in line]
    used = [json.loads(re.search(r"--versions '(\{.*?\})' --", command)[1]) for command in commands]
    by_metric = {metric: versions for versions in used for metric in versions["metrics"]}
    asks = {"stages": {"ask_model": 1, "score": 1}, "models": {"one_layer_attention": 1}}
    assert by_metric == {
        "gini": {"stages": {"score": 1}, "metrics": {"gini": 1}},
        "aopc_comprehensiveness": asks | {"metrics": {"aopc_comprehensiveness": 1}},
        "worst_change": asks | {"metrics": {"worst_change": 1}, "explainers": {"integrated_gradients": 1, "lime": 1}},
    }


# A cache: results that somebody else computed, beside a fresh copy of the project.


@pytest.fixture
def cache(finished_smaller, tmp_path) -> Path:
    """A fresh copy of the project with downloaded results: Snakemake has no memory of how they were made."""
    project = copy_of_project(tmp_path / "project", SMALLER)
    shutil.copytree(finished_smaller / "results", project / "results")
    return project


def files_in_order(folder: Path) -> Iterator[Path]:
    """All files, as a download would bring them: by name."""
    return iter(sorted(path for path in folder.rglob("*") if path.is_file()))


def test_results_without_the_memory_of_snakemake_know_their_settings(cache):
    """Copied ones, and those whose .snakemake/ was deleted."""
    study("explainers", "lime", "samples", value=31)(cache)
    asked = both(of("attribute_lime", "score"), of(*FROM_SCORES, *COSTS))(cache)
    assert planned_jobs(cache) == asked
    shutil.rmtree(cache / ".snakemake")
    assert planned_jobs(cache) == asked


def test_cache_that_lost_its_dates_is_adopted(cache):
    """And the records that are kept beside the results, by which they are recognised."""
    (results(cache) / kept_records.KEPT).unlink()
    for second, path in enumerate(files_in_order(cache / "results")):
        os.utime(path, (1e9 + second, 1e9 + second))
    # Dates are all that Snakemake has to go by, and some inputs are now newer than what was made of them.
    assert chosen(planned_jobs(cache), "attribute_")
    before = {path: path.read_bytes() for path in files_in_order(cache / "results")}
    adopt(cache)
    assert planned_jobs(cache) == set()
    after = {path: path.read_bytes() for path in files_in_order(cache / "results")}
    assert after.pop(results(cache) / kept_records.KEPT)
    assert after == before
    # From now on Snakemake knows what the results were made with.
    study("trainings", "one_layer", "learning_rate", value=0.02)(cache)
    assert planned_jobs(cache) >= chosen(all_jobs(SMALLER), "train")


def test_results_that_lost_their_dates_are_recognised_by_content(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    for second, path in enumerate(files_in_order(project / "results")):
        os.utime(path, (1e9 + second, 1e9 + second))
    assert planned_jobs(project) == set()
