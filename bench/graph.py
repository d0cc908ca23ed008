"""How much processor time a dry run takes beside a bare workflow with the same rules, wildcards and jobs.

``python bench/graph.py --configfile config/studies/disparity.yaml --jobs 1 20000``

The bare workflow is written from the graph of the real one: the same jobs with the same inputs, each rule with its
files, log, benchmark and constraints as plain patterns (a look-up where inputs follow from no pattern), and without
params, resources, reports or imports. Both are started in turn, and every number is the least of some repetitions, as
other work on the machine only adds.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parents[1]


def enlarged(study: dict, wanted: int, jobs: list) -> dict:
    """The study with so many seeds that it has at least ``wanted`` jobs; ``jobs`` are those that it has."""
    of_seeds = sum("seed" in job.wildcards_dict for job in jobs)
    more = -(-(wanted - len(jobs)) * len(study["seeds"]) // of_seeds)
    return study | {"seeds": list(range(len(study["seeds"]) + max(0, more)))}


def graph_of(configuration: Path, folder: Path) -> list:
    """The jobs of a study, as Snakemake's objects."""
    from snakemake.api import ConfigSettings, OutputSettings, ResourceSettings, SnakemakeApi
    from snakemake.settings.types import Quietness

    quiet = OutputSettings(quiet={Quietness.ALL}, dryrun=True)
    with (
        open(os.devnull, "w") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
        SnakemakeApi(quiet) as api,
    ):
        workflow = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[configuration]),
            snakefile=REPOSITORY / "Snakefile",
            workdir=folder,
        )
        workflow.dag().execute_workflow(executor="dryrun")
        return list(workflow._workflow.dag.jobs)


def pattern_of(path: str, wildcards: dict[str, str]) -> str:
    """A path with a job's wildcards in place of their values, wherever they are a part of the path by themselves."""
    parts = path.split("/")
    for name, value in wildcards.items():
        for index, part in enumerate(parts):
            stem, dot, suffix = part.partition(".")
            if stem == value:
                parts[index] = f"{{{name}}}{dot}{suffix}"
            elif name == "seed" and stem == f"seed{value}":
                parts[index] = f"seed{{seed}}{dot}{suffix}"
    return "/".join(parts)


def bare_rule(rule: object, jobs: list, made: set[str]) -> tuple[str, set[str]]:
    """A rule in plain patterns, with a look-up where inputs follow from none; and the inputs that nothing makes."""
    # The patterns of each job's inputs, and a number for each such list.
    inputs = [tuple(pattern_of(path, job.wildcards_dict) for path in map(str, job.input)) for job in jobs]
    numbers = {patterns: number for number, patterns in enumerate(dict.fromkeys(inputs))}
    sources = {str(path) for job in jobs for path in job.input} - made
    files = {"output": list(map(str, rule.output)), "log": list(map(str, rule.log))}
    lines = [f"rule {rule.name}:"]
    if len(numbers) == 1 and inputs[0]:
        files["input"] = list(inputs[0])
    elif len(numbers) > 1:
        which = {
            tuple(job.wildcards_dict.values()): numbers[patterns] for job, patterns in zip(jobs, inputs, strict=True)
        }
        lines.insert(0, f"INPUTS_OF_{rule.name}, WHICH_OF_{rule.name} = {list(numbers)!r}, {which!r}\n")
        lines.append(f"    input: lambda wildcards: INPUTS_OF_{rule.name}[WHICH_OF_{rule.name}[tuple(wildcards)]]")
    lines += [f"    {name}: {', '.join(map(repr, paths))}" for name, paths in files.items() if paths]
    if rule.benchmark:
        lines.append(f"    benchmark: {str(rule.benchmark)!r}")
    if rule.wildcard_names:
        used = {name: limit for name, limit in rule.wildcard_constraints.items() if name in rule.wildcard_names}
        lines.append(f"    wildcard_constraints: {', '.join(f'{name}={limit!r}' for name, limit in used.items())}")
    lines.append("    shell: 'true'" if rule.output else "")
    return "\n".join(lines) + "\n", sources


def write_bare_workflow(jobs: list, folder: Path) -> None:
    """A Snakefile with the same rules and jobs, and empty files where the real one finds files."""
    rules = defaultdict(list)
    for job in jobs:
        rules[job.rule.name].append(job)
    made = {str(path) for job in jobs for path in job.output}
    blocks, targets = [], set()
    for same in rules.values():
        if not same[0].rule.output:  # it only collects
            targets |= set(map(str, same[0].input))
            continue
        block, sources = bare_rule(same[0].rule, same, made)
        blocks.append(block)
        for path in sources:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).touch()
    text = f"rule all:\n    default_target: True\n    input: {sorted(targets)!r}\n"
    (folder / "Snakefile").write_text("\n".join([text, *blocks]), encoding="utf-8")


def dry_run(folder: Path, *arguments: str) -> tuple[float, int]:
    """Processor time of a dry run in seconds, and the number of its jobs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--dry-run", *arguments], cwd=folder, text=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    total = next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("total "))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, int(total)


def measured(study: dict, folder: Path, repetitions: int) -> list:
    """Print the jobs and processor times of one study and of its bare workflow; its jobs."""
    configuration = folder / "study.yaml"
    configuration.write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    bare, real = folder / "bare", folder / "real"
    bare.mkdir()
    real.mkdir()
    jobs = graph_of(configuration, real)
    write_bare_workflow(jobs, bare)
    times = {"real": [], "bare": []}
    counts = {}
    for _ in range(repetitions):
        for name, arguments in {
            "real": ["--snakefile", str(REPOSITORY / "Snakefile"), "--configfile", str(configuration)],
            "bare": [],
        }.items():
            seconds, counts[name] = dry_run(folder / name, *arguments)
            times[name].append(seconds)
    seconds = {name: min(repeated) for name, repeated in times.items()}
    print(
        f"{counts['real']:,} ({counts['bare']:,})  {seconds['real']:.1f} s  {seconds['bare']:.1f} s  "
        f"{seconds['real'] / seconds['bare']:.2f}",
        flush=True,
    )
    return jobs


def main(arguments: argparse.Namespace) -> None:
    """Measure the study with its own seeds, and with as many as each number of jobs needs."""
    study = yaml.safe_load(arguments.configfile.read_text(encoding="utf-8"))
    jobs = []
    print("jobs (bare)  this workflow  bare workflow  ratio")
    for wanted in [0, *arguments.jobs]:
        with tempfile.TemporaryDirectory() as folder:
            sized = enlarged(study, wanted, jobs) if wanted else study
            graph = measured(sized, Path(folder), arguments.repetitions)
        jobs = jobs or graph


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", type=Path, required=True)
    parser.add_argument("--jobs", type=int, nargs="*", default=[], help="further sizes, reached by more seeds")
    parser.add_argument("--repetitions", type=int, default=3)
    main(parser.parse_args())
