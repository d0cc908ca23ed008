"""Snakemake in temporary copies of the project: start it, list what it would do, read what it made."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import yaml

PROJECT = Path(__file__).parents[2]
# What a run needs; results, environments and tests stay behind.
PARTS = ("Snakefile", "rules", "workflow", "config", "resources", "envs", "profiles")
CONFIGURATION = "study.yaml"

# One job of a dry run: its rule and its wildcards.
Job = tuple[str, frozenset[tuple[str, str]]]

# The whole grid in small: one dataset, two models, two seeds, four families of explainers, three of metrics.
TINY = {
    "study": "tiny",
    "seeds": [0, 1],
    "device": "cpu",
    "datasets": {"demo": {"reader": "demo", "classes": "binary", "words": "all", "validation_share": 0.2}},
    "models": {
        "ola_cea": {
            "architecture": "one_layer_attention",
            "hidden_size": 8,
            "tokenizer": {"vocabulary_size": 300},
            "training": {"learning_rate": 0.01, "batch_size": 16, "epochs": 2},
        },
        "small_bert": {
            "architecture": "bert",
            "layers": 1,
            "heads": 2,
            "hidden_size": 8,
            "tokenizer": {"vocabulary_size": 300},
            "training": {"learning_rate": 0.01, "batch_size": 16, "epochs": 2},
        },
    },
    "explainers": {
        "igxi": {"method": "integrated_gradients", "steps": 3},
        "lime": {"method": "lime", "samples": 30},
        "shap": {"method": "partition_shap", "evaluations": 20},
        "uniform_random": {"method": "uniform_random"},
    },
    "explain": {"pairs": 8},
    "metrics": {
        "comprehensiveness": {"metric": "aopc_comprehensiveness", "shares": [0.2, 0.5]},
        "gini": {"metric": "gini"},
        "mass_accuracy": {"metric": "mass_accuracy"},
    },
    "statistics": {"groups": [["male", "female"]]},
}


def smaller(study: dict) -> dict:
    """The study with one model, one seed and two explainers: for tests that must run it more than once."""
    return study | {
        "seeds": study["seeds"][:1],
        "models": {name: study["models"][name] for name in ("ola_cea",)},
        "explainers": {name: study["explainers"][name] for name in ("igxi", "lime")},
        "metrics": {name: study["metrics"][name] for name in ("comprehensiveness", "gini")},
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


def environment(**more: str) -> dict[str, str]:
    """The environment of a run: ``python`` and ``snakemake`` are those that run the tests."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("EVENLIGHT_", "SNAKEMAKE_"))}
    return inherited | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"} | more


def start(project: Path, *arguments: str, **variables: str) -> subprocess.Popen:
    """Start Snakemake in ``project``, in a process group of its own, with everything it says in one stream."""
    return subprocess.Popen(
        ["snakemake", "--configfile", CONFIGURATION, *arguments],
        cwd=project,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def snakemake(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    """Run Snakemake in ``project`` to its end; ``stdout`` has everything that it said."""
    process = start(project, *arguments, **variables)
    said, _ = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, said)


def run_study(project: Path, *arguments: str, cores: int = 2, **variables: str) -> str:
    """Run the whole study, which must succeed; what Snakemake said."""
    done = snakemake(project, "--cores", str(cores), *arguments, **variables)
    assert done.returncode == 0, done.stdout
    return done.stdout


def planned_jobs(project: Path, *arguments: str, **variables: str) -> set[Job]:
    """The jobs that a dry run lists, without the target rules ``all``, ``tables`` and ``figures``."""
    done = snakemake(project, "--dry-run", *arguments, **variables)
    assert done.returncode == 0, done.stdout
    listed = re.findall(r"^(?:local)?rule (\w+):\n((?: +.*\n)*)", done.stdout, re.MULTILINE)
    total = re.search(r"^total +(\d+)$", done.stdout, re.MULTILINE)
    # Else the form of the listing has changed, and no test that uses it would mean anything.
    assert len(listed) == (int(total[1]) if total else 0), done.stdout
    assert total or "Nothing to be done" in done.stdout, done.stdout
    return {job(rule, _wildcards(about)) for rule, about in listed if rule not in ("all", "tables", "figures")}


def job(rule: str, wildcards: dict[str, str]) -> Job:
    """One job as :func:`planned_jobs` lists it."""
    return rule, frozenset(wildcards.items())


def _wildcards(about: str) -> dict[str, str]:
    line = re.search(r"^ +wildcards: (.*)$", about, re.MULTILINE)
    return dict(part.split("=", 1) for part in line[1].split(", ")) if line else {}


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


def results(project: Path) -> Path:
    """The results of the configured study."""
    study = yaml.safe_load((project / CONFIGURATION).read_text(encoding="utf-8"))
    return project / "results" / study["study"]


def contents(folder: Path, pattern: str = "**/*") -> dict[str, bytes]:
    """Every file below ``folder`` that fits ``pattern``, by its path there."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.glob(pattern) if path.is_file()}


def logs(project: Path) -> str:
    """What all jobs said."""
    return "".join(path.read_text(errors="replace") for path in sorted((project / "logs").rglob("*.log")))
