# Helpers of all rules: the completed configuration, the versions of what a rule uses, lists of files.
#
# Comes in: config. Goes out: config with all defaults filled in, and the functions below.

import atexit
import fcntl
import json
import os
import shlex
import sys
from collections import deque
from functools import cache
from itertools import groupby, product
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.io import get_flag_value, sourcecache_entry
from snakemake.logging import logger

BASE = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
SCRIPTS = BASE / "workflow" / "scripts"
sys.path.insert(0, str(SCRIPTS))

from evenlight import configuration, datasets
from evenlight.core import kinds, sources
from evenlight.core.errors import InputError, reworded, unless
from evenlight.corpus import annotation
from evenlight.datasets import released
from evenlight.jobs import gpus, interpreter, kept_records, own_files, provenance, warm_start
from evenlight.jobs.arguments import as_argument
from evenlight.reports import terminal
from evenlight.statistics.files import Runs


def problem_with_folder():
    """What to do where Snakemake was started in a folder in which it cannot work, else None."""
    memory = Path(".snakemake")
    if os.path.samefile(BASE / "workflow", os.curdir):
        return f"start Snakemake in the folder above, where config/ lies and results are written: cd {BASE}"
    if not os.access(memory if memory.is_dir() else os.curdir, os.W_OK):
        return f"{os.getcwd()} cannot be written to, where results would lie; copy it to a folder of your own, and start there"
    for name in ("results", "logs", "benchmarks"):
        if Path(name).exists() and not (Path(name).is_dir() and os.access(name, os.W_OK)):
            return f"{os.path.abspath(name)}: no folder that can be written to; give yourself the right to, or move it away"
    return None


if workflow.is_main_process and (problem := problem_with_folder()):
    raise WorkflowError(problem)


def studies(paths):
    """Those of the configuration files that hold a whole study, by their absolute paths."""
    whole = {"study", "datasets", "models"}
    paths = dict.fromkeys(map(os.path.abspath, paths))
    return [path for path in paths if whole <= configuration.written(Path(path)).keys()]


# Snakemake has read them, and of a key that stands in a file twice it has kept one without a word.
try:
    merged = studies(workflow.configfiles) if workflow.is_main_process else []
except InputError as error:
    raise WorkflowError(str(error))

# Files of the command line are merged into that of a Snakefile, key by key: right for a file of a few keys.
if len(merged) > 1:
    raise WorkflowError(
        f"{' and '.join(merged)} are studies, and Snakemake would merge them into one; name only one of them: where "
        "the Snakefile has a `configfile:`, leave out --configfile, and edit that file or write another name there"
    )

# Only who starts a run can trust code that came with an archive, and no file that came with it.
TRUSTS_ARCHIVES = str(workflow.config_settings.config.get("trust_parts")).lower() == "true"
if "trust_parts" in config and "trust_parts" not in workflow.config_settings.config:
    raise WorkflowError("trust_parts: found in a configuration file; allowed is --config trust_parts=true alone")
config.pop("trust_parts", None)

try:
    # Code of one's own lies beside the study that names it, or where all other paths begin.
    own_files.locate(config, [*(Path(path).parent for path in workflow.configfiles), Path()], TRUSTS_ARCHIVES)
    config |= configuration.complete(config)
except InputError as error:
    raise WorkflowError(str(error))

# The reader of each dataset, with its settings.
READERS = {name: datasets.Reader.parse(settings) for name, settings in config["datasets"].items()}
# Records of results that were copied here. Of those in a storage, and of an archive's, nothing is kept beside them.
STUDY = Path("results", config["study"])
# Whether a storage keeps the results, in place of folders that all jobs see. A job then has of them what its inputs name.
STORED = workflow.storage_settings.default_storage_provider is not None
if workflow.is_main_process and not STORED:
    try:
        kept_records.restore(STUDY)
    except InputError as error:
        raise WorkflowError(str(error))

# Whether the study was unpacked from an archive, see archive.smk. A module's rules are chosen by whoever uses it.
ARCHIVED = Path("results", config["study"], provenance.ARCHIVE).is_dir() and workflow.modifier.is_main_snakefile()

EXPLAINER_FAMILIES = configuration.explainer_families(config)
METRIC_FAMILIES = configuration.metric_families(config)
# What the explanations of the study are, and the explainers and metrics of each.
MODALITIES = configuration.entries_of_modalities(config)
METRICS = configuration.metric_annotations(config)
RUNS = Runs(
    datasets=list(config["datasets"]),
    models={name: configuration.seeds_of(config, name) for name in config["models"]},
    only=configuration.for_some_datasets(config),
)
# Jobs that run a model claim a GPU unless the configuration says `device: cpu`; `--resources gpu=1` lets one at a
# time have it, `gpu=4` four, each its own. Whether there is one is not asked here: on a cluster the jobs run elsewhere.
GPU = 0 if config["device"] == "cpu" else 1


pathvars:
    results=f"results/{config['study']}",
    logs=f"logs/{config['study']}",
    benchmarks=f"benchmarks/{config['study']}",


wildcard_constraints:
    dataset="|".join(config["datasets"]),
    model="|".join(config["models"]),
    seed=r"\d+",
    metric="|".join(config["metrics"]),
    family="[a-z0-9_]+",


# Downloads look here first. An environment variable and no parameter, since where a file was found must not
# rerun anything: its checksum is fixed.
if config["mirror"]:
    os.environ.setdefault(sources.MIRROR_VARIABLE, config["mirror"])


# Jobs call `python`. Those in environments of their own find it there.
PYTHON_PROBLEM = None if workflow.deployment_settings.deployment_method else interpreter.problem_with_python()


# A job of another run, or one that was sent to another machine, has no use for that run's server.
os.environ.pop(warm_start.SOCKET_VARIABLE, None)
# Nor for this machine's GPUs: whoever sent it there has given it its own.
if not workflow.is_main_process:
    os.environ.pop(gpus.DEVICES_VARIABLE, None)


def growing(amount):
    """Memory or time that a job asks for, more with each attempt: too little of either is what most often ends one."""
    return lambda wildcards, attempt: amount * attempt


def in_project(path):
    """A file of this repository, relative to where Snakemake was started."""
    return os.path.relpath(BASE / path)


def repository_file(path):
    """A file of this repository, as input of a rule.

    It must be there, but neither its date says anything, since a fresh clone is newer than all results, nor where it
    lies: Snakemake remembers ``path``. What it contains is said in ``params``; see ``versions`` and ``content_of``.
    """
    return ancient(sourcecache_entry(in_project(path), path))


def own_file(path):
    """A file that the configuration names, as input of a rule: also beside a storage, it is read where it lies.

    But for one of the study itself, and one that is not there: some rule makes it.
    """
    made = Path(path).is_relative_to(f"results/{config['study']}") or not Path(path).exists()
    if unsafe := set("<>").intersection(str(path)):
        # Snakemake's report writes commands, in which it stands, into a script of its page.
        raise WorkflowError(f"{path}: its name has {' and '.join(sorted(unsafe))}; rename the file or its folder")
    return sourcecache_entry(path, path) if STORED and not made else path


def content_of(paths):
    """What files contain, for ``params``; None for one that is not there yet."""
    return [sources.digest(path) if Path(path).is_file() else None for path in paths]


def script(name):
    """What runs a script, and the script, as input of its rule: ``python {input.script}``."""
    return [repository_file(f"workflow/scripts/{path}") for path in ("run.py", name)]


@cache
def _methods(section, names):
    """The readers, architectures, explainers or metrics that some entries are, each once."""
    key = configuration.REGISTRIES[section].key
    return sorted({config[section][name][key] for name in names})


def versions(*stages, results=(), methods=(), **entries):
    """The versions of what a job uses, as one string for ``params``; see configuration.versions_of.

    Args:
        stages, results: by their names.
        methods: by section, of explainers and others by their own names.
        entries: by section, of those by the names that the study gives them.
    """
    named = {section: _methods(section, tuple(names)) for section, names in entries.items()}
    return as_json(**configuration.versions_of(config, *stages, results=results, **named, **dict(methods)))


def rendered_by(stage, *patterns):
    """The version of what renders, with digests of its own modules and templates below reports/."""
    folder = SCRIPTS / "evenlight" / "reports"
    paths = sorted(path for pattern in patterns for path in folder.glob(pattern) if path.is_file())
    files = {path.relative_to(folder).as_posix(): path for path in paths}
    return as_json(**configuration.versions_of(config, stage, files=files))


def as_json(**settings):
    """The settings of a rule as one string. Keys are sorted, as none of them changes a result by its place.

    Snakemake compares the values of ``params`` without their names, so all of them must be in one.
    """
    return as_argument(settings, sort_keys=True)


def describe(name, about):
    """Say what a rule does whose name is made. It may be missing or renamed, where a module is used in part."""
    name = workflow.modifier.modify_rulename(name)
    if workflow.is_rule(name):
        workflow.get_rule(name).docstring = about


def seeds_of(model):
    """The seeds of a model's runs."""
    return RUNS.models[model]


def in_study(path):
    """The path of an input or an output as its rule has it, also where a storage keeps it (``--default-storage-provider``)."""
    stored = get_flag_value(path, "storage_object")
    return stored.query.removeprefix(workflow.storage_settings.default_storage_prefix).lstrip("/") if stored else path


def there(*wildcards):
    """The combinations of pairs (wildcard, value) that the study has, for expand()."""
    return [pairs for pairs in product(*wildcards) if RUNS.has(**dict(pairs))]


def every(paths, **values):
    """``paths`` for all runs of the study, or for those of a ``dataset`` or ``model``, and for all other ``values``."""
    paths = [paths] if isinstance(paths, str) else [in_study(path) for path in paths]
    datasets, models = (values.pop(name, config[f"{name}s"]) for name in ("dataset", "model"))
    of_models = [(name, seeds_of(name)) for name in ([models] if isinstance(models, str) else models)]
    files = (expand(paths, there, dataset=datasets, model=model, seed=seeds, **values) for model, seeds in of_models)
    # A path without a model would stand there once for each.
    return list(dict.fromkeys(file for of_model in files for file in of_model))


def factors_of(dataset):
    """The factors of a dataset, each with its levels."""
    return READERS[dataset].factors()


def explainers_of(modality):
    """The explainers whose explanations are of a modality."""
    return MODALITIES[modality]["explainers"] if modality in MODALITIES else []


def explainer_families(modality):
    """The families whose explanations are of a modality, each with its explainers."""
    return families_of(modality, "explainers", EXPLAINER_FAMILIES)


def metric_families(modality):
    """The families that score explanations of a modality, each with its metrics."""
    return families_of(modality, "metrics", METRIC_FAMILIES)


def families_of(modality, section, families):
    """Those of some families whose entries of a section are of a modality."""
    here = MODALITIES[modality][section] if modality in MODALITIES else ()
    return {family: names for family, names in families.items() if names[0] in here}


def comparisons_of(modality):
    """What is compared of the units that have explanations of a modality, none where none has: factor to pairs of levels."""
    return configuration.comparisons_of(config, modality) if modality in MODALITIES else {}


def gendered_datasets():
    """The datasets whose texts have English pronouns for their groups, which co-occurrence counts."""
    language = config["corpus"] and config["corpus"]["parser"]["language"]
    english = [name for name, reader in READERS.items() if reader.is_english(language)]
    return [name for name in english if set(factors_of(name).get("gender", [None])) <= set(annotation.GROUPS)]


# A killed run leaves Snakemake's own lock behind and has to be unlocked by hand. The kernel releases this one
# with the process, so profiles/default goes without Snakemake's and a killed run simply continues.
onstart:
    # A module whose rules are used in two statements is read twice.
    if workflow.is_main_process and "_run_lock" not in workflow.globals:
        lock = open(".snakemake/evenlight.lock", "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WorkflowError(f"another run is at work in {os.getcwd()}; wait for it or stop it")
        workflow.globals["_run_lock"] = lock
        # By a file in this folder `make progress` knows that a run is at work; none of them is Snakemake's, see `nolock`.
        at_work = Path(".snakemake", "locks", "evenlight")
        at_work.parent.mkdir(exist_ok=True)
        at_work.touch()
        atexit.register(at_work.unlink, missing_ok=True)
        if PYTHON_PROBLEM and not workflow.touch:
            raise WorkflowError(PYTHON_PROBLEM)
        if not STORED:
            making = [(str(path), job.rule.name) for job in workflow.dag.needrun_jobs() for path in job.output]
            kept_records.begin(STUDY, [each for each in making if Path(each[0]).is_relative_to(STUDY)])
        if GPU and workflow.local_exec and len(shared := gpus.devices()) > 1:
            os.environ[gpus.DEVICES_VARIABLE] = ",".join(shared)
        # Jobs in environments of their own have another Python. Those on other machines do not ask the server.
        if not workflow.touch and not workflow.deployment_settings.deployment_method:
            workflow.globals["_warm_start"] = warm_start.start()
        # By default Snakemake starts at most 100 jobs a second, and each time that it looks for jobs, it therefore looks
        # again a second later: after some hundred jobs this takes a whole core. Jobs on this machine need no limit.
        limit = workflow.scheduler.job_rate_limiter
        if workflow.local_exec and limit and (limit.max_jobs, limit.timespan) == (100, 1):
            workflow.scheduler.job_rate_limiter = None


def last_lines(jobs, beginning):
    """The last lines in a row that begin so in the log of each of these jobs, each line once."""
    logs = [Path(log) for group in jobs for job in getattr(group, "jobs", [group]) for log in job.log]
    lines = [log.read_text(encoding="utf-8", errors="replace").splitlines() for log in logs if log.is_file()]
    return list(dict.fromkeys(line for of_log in lines for line in last_block(of_log, beginning)))


def last_block(lines, beginning):
    """The last of them in a row that begin so."""
    blocks = (list(block) for is_one, block in groupby(lines, lambda line: line.startswith(beginning)) if is_one)
    return [line for block in deque(blocks, maxlen=1) for line in block]


def first_to_tell(what):
    """Whether nothing has told this yet: a module whose rules are used in two statements is read twice."""
    told = f"_told_{what}" in workflow.globals
    workflow.globals[f"_told_{what}"] = True
    return workflow.is_main_process and not told


def keep_records():
    """Keep beside the results what they were made of."""
    if not STORED:
        kept_records.keep(STUDY)


# Without the profile Snakemake shows no log, and with it the log of one job may stand far above those of others.
onerror:
    if first_to_tell("errors"):
        keep_records()
        for line in last_lines(workflow.scheduler.failed, "error:"):
            logger.error(line)


def outcome():
    """What a run has found and where to look: of the page that answers, where it was asked for."""
    results, kind = f"results/{config['study']}", config["kind"]
    answering = {"disparity": "effects", "description": "scores"}.get(kind, kind)
    pages = {"audit": f"{results}/audit.html", "study": f"{results}/tables/{answering}.html"}
    made = {in_study(path) for job in workflow.dag.jobs for path in job.output}
    lines = []
    if told := next((name for name in pages if pages[name] in made), None):
        lines += [*terminal.opening_of(Path(pages[told])), f"The {told} is done. Open {pages[told]} in a browser."]
    if (explorer := f"{results}/explorer.html") in made:
        lines.append(f"The explorer is done. Open {explorer} in a browser.")
    return lines


onsuccess:
    if first_to_tell("outcome"):
        keep_records()
        for line in outcome():
            logger.info(line)


# Not in jobs, which executors start with Snakemake again, and not in the workflow of someone who uses this one.
if workflow.is_main_process and workflow.modifier.is_main_snakefile():
    terminal.take_over(workflow.logger_manager, outcome)


# Snakemake obeys none of these of a module, but snakedeploy copies the profile into the folder of one.
if not workflow.modifier.is_main_snakefile():
    workflow._onstart = lambda log, ours=onstart, theirs=workflow._onstart: (ours(), theirs(log))
    workflow._onerror = lambda log, ours=onerror, theirs=workflow._onerror: (ours(), theirs(log))
    workflow._onsuccess = lambda log, ours=onsuccess, theirs=workflow._onsuccess: (ours(), theirs(log))
