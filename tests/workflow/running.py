"""Snakemake in temporary copies of the project: start it, list what it would do, read what it made."""

import copy
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import warm_snakemake
import yaml

PROJECT = Path(__file__).parents[2]
# What a run needs; results, environments and tests stay behind.
PARTS = ("Snakefile", "rules", "workflow", "config", "resources", "envs", "profiles")
CONFIGURATION = "study.yaml"
SAID = "said.txt"
COLLECTING = ("all", "tables", "figures", "page", "audit", "study", "corpus")

# One job: its rule and its wildcards.
Job = tuple[str, frozenset[tuple[str, str]]]

# The whole grid in small: one dataset, two models, two seeds, three families of explainers, three of metrics.
TINY = {
    "study": "tiny",
    "seeds": [0, 1],
    "device": "cpu",
    "datasets": {"demo": {"reader": "demo", "classes": "binary", "words": "all", "validation_share": 0.2}},
    "trainings": {
        "one_layer": {"learning_rate": 0.01, "batch_size": 16, "epochs": 2},
        "small": {"learning_rate": 0.01, "batch_size": 16, "epochs": 2},
    },
    "models": {
        "ola_cea": {
            "architecture": "one_layer_attention",
            "hidden_size": 8,
            "tokenizer": {"vocabulary_size": 300},
            "training": "one_layer",
        },
        "small_bert": {
            "architecture": "bert",
            "layers": 1,
            "heads": 2,
            "hidden_size": 8,
            "tokenizer": {"vocabulary_size": 300},
            "training": "small",
        },
    },
    "explainers": {
        "igxi": {"method": "integrated_gradients", "steps": 3},
        "lime": {"method": "lime", "samples": 30},
        "shap": {"method": "partition_shap", "evaluations": 20},
    },
    "explain": {"pairs": 8},
    "metrics": {
        "comprehensiveness": {"metric": "aopc_comprehensiveness", "shares": [0.2, 0.5]},
        "gini": {"metric": "gini"},
        "mass_accuracy": {"metric": "mass_accuracy"},
    },
    "statistics": {"compare": {"gender": [["male", "female"]]}, "verdict_permutations": 2},
}


# A part of the same study, for tests that must run it more than once.
SMALLER = TINY | {
    "seeds": TINY["seeds"][:1],
    "models": {name: TINY["models"][name] for name in ("ola_cea",)},
    "explainers": {name: TINY["explainers"][name] for name in ("igxi", "lime")},
    "metrics": {name: TINY["metrics"][name] for name in ("comprehensiveness", "gini")},
    "figures": {"formats": ["svg"]},
}

# What the schema says of the methods and metrics that the tests use, written down a second time on purpose.
FAMILY = {
    "integrated_gradients": "path",
    "path_gradient": "path",
    "lime": "lime",
    "partition_shap": "partition_shap",
    "saliency": "gradient",
    "imported": "imported",
    "extractive": "extractive",
    "aopc_comprehensiveness": "faithfulness",
    "gini": "complexity",
    "sparsity": "complexity",
    "mass_accuracy": "correctness",
}


def copy_of_project(folder: Path, study: dict | None = None) -> Path:
    """A copy of the working tree in ``folder``, without results, and with ``study`` as its configuration."""
    folder.mkdir(parents=True)
    for part in PARTS:
        if (PROJECT / part).is_dir():
            shutil.copytree(PROJECT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(PROJECT / part, folder / part)
    if study is not None:
        configure(folder, study)
    return folder


def configure(project: Path, study: dict) -> None:
    """Make ``study`` the configuration of ``project``."""
    (project / CONFIGURATION).write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")


def use_as_module(folder: Path, project: Path = PROJECT, before: str = "", after: str = "") -> None:
    """Have ``folder`` use the workflow of ``project`` as a module, between other statements."""
    module = f"module evenlight:\n    snakefile: {str(project / 'workflow/Snakefile')!r}\n    config: config\n"
    (folder / "Snakefile").write_text(f"{module}\n{before}use rule * from evenlight\n{after}", encoding="utf-8")


def configuration(project: Path) -> dict:
    """The configuration of ``project``."""
    return yaml.safe_load((project / CONFIGURATION).read_text(encoding="utf-8"))


def environment(**more: str) -> dict[str, str]:
    """The environment of a run: ``python`` and ``snakemake`` are those that run the tests, and nothing is mirrored."""
    dropped = ("EVENLIGHT_", "SNAKEMAKE_", "PYTHONPATH")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return inherited | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"} | more


def command(*arguments: str) -> list[str]:
    """The command line of a run."""
    return ["snakemake", "--configfile", CONFIGURATION, *arguments]


def snakemake(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    """Run Snakemake in ``project`` to its end; ``stdout`` has everything that it said."""
    return warm_snakemake.run(command(*arguments)[1:], project, environment(**variables))


def start(project: Path, *arguments: str, **variables: str) -> warm_snakemake.Run:
    """Start Snakemake in ``project``, as the leader of a process group that has all its jobs, if none starts warm.

    What it says goes to the file ``SAID``.
    """
    (project / SAID).write_text("")
    return warm_snakemake.start(command(*arguments)[1:], project, environment(**variables), project / SAID)


def run_study(project: Path, *arguments: str, cores: int = 2, **variables: str) -> str:
    """Run the whole study, or what is asked for, which must succeed; what was said."""
    done = snakemake(project, "--cores", str(cores), *arguments, **variables)
    assert done.returncode == 0, done.stdout
    return done.stdout


def planned_jobs(project: Path, *arguments: str, **variables: str) -> set[Job]:
    """The jobs that a dry run lists, without the rules that only collect files."""
    return listed_jobs(run_study(project, "--dry-run", *arguments, **variables))


def listed_jobs(said: str) -> set[Job]:
    """The jobs that are listed in what a dry run has said."""
    listed = re.findall(r"^(?:local)?rule (\w+):\n((?: +.*\n)*)", said, re.MULTILINE)
    total = re.search(r"^total +(\d+)$", said, re.MULTILINE)
    # Else the form of the listing has changed, and no test that uses it would mean anything.
    assert total or "Nothing to be done" in said, said
    assert len(listed) == (int(total[1]) if total else 0), said
    jobs = [(rule, _wildcards(about)) for rule, about in listed]
    return {(rule, wildcards) for rule, wildcards in jobs if rule not in COLLECTING}


def _wildcards(about: str) -> frozenset[tuple[str, str]]:
    line = re.search(r"^ +wildcards: (.*)$", about, re.MULTILINE)
    return frozenset(tuple(part.split("=", 1)) for part in line[1].split(", ")) if line else frozenset()


COSTS = ("summarise_costs",)
# Jobs without wildcards: in every study, and where groups are compared.
RULES_OF_EVERY_KIND = ("summarise_scores", "measure_quality", "tabulate_scores", "tabulate_models", *COSTS)
RULES_OF_DISPARITY = (
    "measure_disparity",
    "summarise_disparity",
    "estimate_effects",
    "record_analyses",
    "permute_verdicts",
    "permute_groups",
    "adjust_for_covariates",
    "tabulate_disparity",
    "tabulate_effects",
    "tabulate_covariate_adjusted",
    "write_page",
    "count_texts",
    "describe_decisions",
    "classify_empty_texts",
    "estimate_texts_needed",
    "draw_control",
)


def all_jobs(study: dict) -> set[Job]:
    """The jobs of a whole study, as its configuration asks for them."""
    explainers = sorted({FAMILY[entry["method"]] for entry in study["explainers"].values()})
    metrics = sorted({FAMILY[entry["metric"]] for entry in study["metrics"].values()})
    comparing = study.get("kind", "disparity") == "disparity"
    jobs = [(rule, {}) for rule in RULES_OF_EVERY_KIND + RULES_OF_DISPARITY * comparing]
    for dataset in study["datasets"]:
        of = {"dataset": dataset}
        jobs += [(rule, of) for rule in ("import_dataset", "measure_co_occurrence")]
        jobs += [(rule, of) for rule in ("draw_disparity", "draw_effects") * comparing]
    for dataset, model in product(study["datasets"], study["models"]):
        of = {"dataset": dataset, "model": model}
        jobs += [("draw_score_panels", of)]
        for seed in study["seeds"]:
            run = of | {"seed": str(seed)}
            jobs += [(rule, run) for rule in ("train", "read_texts", *(f"attribute_{family}" for family in explainers))]
            jobs += [("score", run | {"family": family}) for family in metrics]
    return {(rule, frozenset(wildcards.items())) for rule, wildcards in jobs}


def chosen(jobs: Iterable[Job], *rules: str, **wildcards: object) -> set[Job]:
    """The jobs of the named rules (a name that ends in ``_`` stands for all that begin so) with these wildcards."""
    wanted = {(name, str(value)) for name, value in wildcards.items()}
    found = {
        (rule, own)
        for rule, own in jobs
        if wanted <= own and any(rule == name or (name.endswith("_") and rule.startswith(name)) for name in rules)
    }
    # Else a misspelt rule would choose nothing, and a comparison with nothing would hold.
    assert found, f"no job of {rules} with {wildcards}"
    return found


def edited(study: dict, *keys: str, value: object) -> dict:
    """A copy of the study with another value under the keys, which follow each other into the depth."""
    study = copy.deepcopy(study)
    place = study
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    return study


def results(project: Path) -> Path:
    """The results of the configured study."""
    return project / "results" / configuration(project)["study"]


def assert_same_results(project: Path, undisturbed: Path) -> None:
    """Tables and figures must be the same byte for byte, but for times."""
    for part in ("tables", "figures"):
        found, expected = contents(results(project) / part), contents(results(undisturbed) / part)
        # Killed jobs leave temporary files behind, whose names begin with a dot.
        found = {name: content for name, content in found.items() if not Path(name).name.startswith(".")}
        found, expected = without_times(found), without_times(expected)
        assert found.keys() == expected.keys()
        assert [name for name in expected if found[name] != expected[name]] == []


def without_times(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files that are the same in two runs: not what explanations cost, and when verdicts were made."""
    timed = {"costs", "interim_analyses"}
    return {name: content for name, content in files.items() if not timed & {Path(name).stem, name.split("/")[0]}}


# What a study has only where its configuration asks for it.
OPTIONAL_CAPTIONS = (
    "agreement",
    "associations",
    "attribution_differences",
    "concept_grid",
    "concepts",
    "faithfulness",
    "masked_words",
    "predictions",
    "proposed_methods",
    "published",
    "randomisation",
    "roc",
    "sentence",
    "specifications",
    "verdicts",
    "strategies",
)


def assert_reported(report: Path, categories: Iterable[str], captions: Path, without: Collection[str] = ()) -> None:
    """The report has the categories, and every caption of the folder but those named in ``without``."""
    text = html.unescape(report.read_text(encoding="utf-8"))
    assert [category for category in categories if f'"{category}"' not in text] == []
    words = re.sub(r"(\\n|\s)+", " ", text)
    paths = sorted(path for path in captions.rglob("*.rst") if path.stem not in without)
    assert paths
    for path in paths:
        # Up to the first name that is filled in, or the first sign that HTML writes in another way.
        beginning = re.split(r"[{'–×:]", path.read_text(encoding="utf-8"))[0].split()
        assert len(beginning) > 3
        assert " ".join(beginning) in words, path


def metadata(path: Path) -> dict:
    """What a table says of how it was made."""
    return json.loads(pq.read_schema(path).metadata[b"evenlight"])


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder``, by its path there."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
