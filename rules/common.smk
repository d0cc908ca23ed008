# Helpers of all rules: the completed configuration, the digest of the code that a rule runs, lists of files.
#
# Comes in: config. Goes out: config with all defaults filled in, and the functions below.

import fcntl
import json
import os
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

BASE = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
SCRIPTS = BASE / "workflow" / "scripts"
sys.path.insert(0, str(SCRIPTS))

from evenlight import annotation, configuration, datasets, sources
from evenlight.code_digest import code_digest
from evenlight.errors import InputError

try:
    config |= configuration.complete(config)
except InputError as error:
    raise WorkflowError(str(error))

EXPLAINER_FAMILIES = configuration.explainer_families(config)
METRIC_FAMILIES = configuration.metric_families(config)
METRICS = configuration.metric_annotations(config)
# Jobs that run a model claim a GPU unless the configuration says `device: cpu`; `--resources gpu=1` lets one at a
# time have it. Whether there is one is not asked here: on a cluster the jobs run elsewhere.
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
    family="[a-z_]+",


# Downloads look here first. An environment variable and no parameter, since where a file was found must not
# rerun anything: its checksum is fixed.
if config["mirror"]:
    os.environ.setdefault(sources.MIRROR_VARIABLE, config["mirror"])


def in_project(path):
    """A file of this repository, relative to where Snakemake was started."""
    return os.path.relpath(BASE / path)


def script(name):
    """What runs a script, and the script, as input of its rule: ``python {input.script}``.

    Both must be there, but their dates say nothing; see ``code_of``.
    """
    return [ancient(in_project(f"workflow/scripts/{path}")) for path in ("run.py", name)]


def code_of(name, *also):
    """Digest of the code that a script runs, for ``params``: changed code reruns the rule, a comment does not.

    ``also`` names modules that the script imports under a computed name.
    """
    try:
        return code_digest(SCRIPTS / name, also=also, root=SCRIPTS)
    except InputError as error:
        raise WorkflowError(str(error))


def as_json(**settings):
    """The settings of a rule as one string.

    Snakemake compares the values of ``params`` without their names, so all of them must be in one.
    """
    return json.dumps(settings, sort_keys=True)


def every(path, **values):
    """``path`` for all datasets, models and seeds of the study, or for those that ``values`` give."""
    named = dict(dataset=config["datasets"], model=config["models"], seed=config["seeds"])
    return expand(path, **{**named, **values})


def groups_of(dataset):
    """The groups of a dataset."""
    settings = config["datasets"][dataset]
    return set(datasets.reader_for(settings).groups(settings))


def datasets_with(groups):
    """The datasets that have none but these groups."""
    return [dataset for dataset in config["datasets"] if groups_of(dataset) <= set(groups)]


def compared_datasets():
    """The datasets that have both groups of a compared pair."""
    pairs = [set(groups) for groups in config["statistics"]["groups"] if len(groups) == 2]
    return [dataset for dataset in config["datasets"] if any(pair <= groups_of(dataset) for pair in pairs)]


# Corpus ----------------------------------------------------------------------------------------------

CORPUS = config["corpus"]


def project_file(path):
    """A file that the configuration names: from where Snakemake was started, else of this repository.

    As with scripts, the date of a file of the repository says nothing; see ``content_of``.
    """
    return path if Path(path).exists() or not (BASE / path).exists() else ancient(in_project(path))


def project_files(section, key):
    """The files that a key of the corpus names, if any."""
    named = CORPUS[section][key] or []
    paths = [named] if isinstance(named, str) else named
    for path in paths:
        if Path(path).resolve().is_relative_to(Path(f"results/{config['study']}/corpus").resolve()):
            raise WorkflowError(
                f"corpus.{section}.{key}: {path} is made by the workflow, which would write over it; copy it elsewhere"
            )
    return [ancient(project_file(path)) for path in paths]


def content_of(paths):
    """What files contain, for ``params``; None for one that is not there yet."""
    return [sources.digest(path) if Path(path).is_file() else None for path in paths]


def lexicon(name):
    """A list of words of this repository."""
    return ancient(in_project(f"resources/lexicons/{name}"))


def lexicon_of_people():
    """The list of nouns that mean people."""
    return project_files("filter", "lexicon") or [lexicon("person_nouns.txt")]


def served_pages():
    """The index of the stored pages that stand in for the sites, if any."""
    folder = CORPUS["fetch"]["serve"]
    return [ancient(project_file(f"{folder}/index.jsonl"))] if folder else []


def pages_folder():
    """Where pages are kept: those of the sites apart from any that stand in for them."""
    return f"pages_{content_of(served_pages())[0][:12]}" if served_pages() else "pages"


def parser_files():
    """The files of a pipeline that the configuration names by its folder, whose change parses again."""
    folder = Path(CORPUS["parser"]["pipeline"])
    return (
        [] if TREEBANK else sorted(str(path) for pattern in ("meta.json", "*/model") for path in folder.glob(pattern))
    )


def scrape_settings(*keys):
    """Some settings of the scrape."""
    return as_json(**{key: CORPUS["scrape"][key] for key in keys})


def corpus_results():
    """What the configuration asks for of the corpus."""
    if not CORPUS:
        return []
    reviewed = ["agreement.csv", "resolved.parquet"] if CORPUS["annotation"]["files"] else []
    names = ["doubtful.csv", "filter.csv", "review.html", "label_studio/tasks.json", *reviewed]
    return [f"<results>/corpus/{name}" for name in names]


# Flags and no params, since how a site is asked changes no result.
FETCH = ""
# What the study's own parser is trained on, if it has one.
TREEBANK = []
if CORPUS:
    grammar = CORPUS["parser"]["grammar"]
    TREEBANK = ["<results>/corpus/treebank.conllu"] if grammar else project_files("parser", "treebank")
    asked = CORPUS["fetch"] | {"serve": str(Path(served_pages()[0]).parent) if CORPUS["fetch"]["serve"] else None}
    FETCH = shlex.join(f"--{key}={value}" for key, value in asked.items() if value is not None)


# Datasets --------------------------------------------------------------------------------------------


def source_files(wildcards):
    """The downloaded files of a dataset."""
    settings = config["datasets"][wildcards.dataset]
    return expand("results/sources/{name}", name=datasets.reader_for(settings).sources(settings))


def own_files(wildcards):
    """The files that a dataset's settings name: the user's own, or what another rule makes."""
    settings = config["datasets"][wildcards.dataset]
    return datasets.reader_for(settings).files(settings)


def source_digest(wildcards):
    """What the file must be, so that another pinned version is fetched again."""
    if wildcards.name not in sources.SOURCES:
        raise WorkflowError(f"results/sources/{wildcards.name}: no known source; evenlight/sources.py lists them")
    return sources.SOURCES[wildcards.name].sha256


def resource_files(wildcards):
    """The files of this repository that a dataset is read from.

    As with scripts, their dates say nothing, since a fresh clone is newer than all results; see ``resource_digests``.
    """
    return [ancient(in_project(path)) for path in datasets.reader_for(config["datasets"][wildcards.dataset]).resources]


def resource_digests(wildcards):
    """What the files of ``resource_files`` contain, for ``params``."""
    return content_of(resource_files(wildcards))


def named_sources(wildcards, input):
    """Flags that say which source each file is."""
    return [f"--source={path.removeprefix('results/sources/')}={path}" for path in input.sources]


def import_code(wildcards):
    """Digest of the import and of the dataset's reader."""
    return code_of("datasets/import_dataset.py", datasets.reader_for(config["datasets"][wildcards.dataset]).module)


# Statistics ------------------------------------------------------------------------------------------


COMPARED = ("datasets", "models", "explainers", "metrics")


def compared_settings(*keys, parts=COMPARED):
    """What computed tables depend on: the names in ``parts``, the groups, and ``keys`` of the statistics; no labels."""
    return as_json(
        **{part: list(config[part]) for part in parts},
        seeds=config["seeds"],
        statistics={key: config["statistics"][key] for key in ("groups", *keys)},
    )


def study_settings():
    """Names, labels and directions of everything in the study, in the configuration's order, and the levels."""
    return as_json(
        order={part: list(config[part]) for part in COMPARED},
        datasets={name: {} for name in config["datasets"]},
        models={name: {} for name in config["models"]},
        explainers={name: {"label": entry["label"]} for name, entry in config["explainers"].items()},
        metrics=METRICS,
        seeds=config["seeds"],
        statistics=config["statistics"],
    )


def disputed_metrics():
    """The metrics that are configured in more than one definition."""
    kinds = [metric["metric"] for metric in METRICS.values()]
    return [name for name, metric in METRICS.items() if kinds.count(metric["metric"]) > 1]


def optional_tables():
    """The tables that only some studies have."""
    asked = {
        "compare_many_groups": any(len(groups) > 2 for groups in config["statistics"]["groups"]),
        "tabulate_definitions": disputed_metrics(),
        "compare_published": config["statistics"]["published"],
    }
    return [getattr(rules, rule).output for rule, wanted in asked.items() if wanted]


# Figures ---------------------------------------------------------------------------------------------


def in_formats(path, **about):
    """One figure in every configured format; the first of them goes into the report."""
    first, *others = config["figures"]["formats"]
    return [report(f"{path}.{first}", **about), *(f"{path}.{form}" for form in others)]


def family_of(metric):
    """The family whose table of scores has the metric."""
    return METRICS[metric]["family"]


def figure_settings(wildcards, metrics):
    """What one figure of scores depends on: the names and labels that stand in it."""
    return as_json(
        datasets=[wildcards.dataset],
        models=[wildcards.model],
        explainers={name: {"label": entry["label"]} for name, entry in config["explainers"].items()},
        metrics={name: METRICS[name] for name in metrics},
        order={"explainers": list(config["explainers"]), "metrics": list(metrics)},
        seeds=config["seeds"],
        statistics={"groups": config["statistics"]["groups"]},
    )


# A killed run leaves Snakemake's own lock behind and has to be unlocked by hand. The kernel releases this one
# with the process, so profiles/default goes without Snakemake's and a killed run simply continues.
onstart:
    if workflow.is_main_process:
        lock = open(".snakemake/evenlight.lock", "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WorkflowError(f"another run is at work in {os.getcwd()}; wait for it or stop it")
        workflow.globals["_run_lock"] = lock
