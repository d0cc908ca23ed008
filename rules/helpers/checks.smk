# What rules/checks.smk asks: its settings, and which files it needs.

import time

from snakemake.exceptions import MissingInputException
from snakemake.iocontainers import Wildcards

DATASET_CHECK = "<results>/checks/{dataset}/dataset.json"
MODEL_CHECK = "<results>/checks/{dataset}/{model}/seed{seed}.json"
# A check is never taken for done: what it looks at lies outside of the workflow, which cannot know that it has changed.
ASKED_AT = time.time()
# A model that only answers has nothing to be looked at.
CHECKED_MODELS = [name for name in config["models"] if name not in ANSWERS_ONLY]
# As a module may have renamed it.
CHECK = workflow.modifier.modify_rulename("check")


def present_files(wildcards):
    """Those of the files of a dataset that are there, or else none is read."""
    return [own_file(path) for path in READERS[wildcards.dataset].named_files() if Path(path).exists()]


def made_flag(paths):
    """The flag that names those of the files that are not there yet, since some rule makes them."""
    made = [path for path in paths if is_made(path)]
    return ["--made", *made] if made else []


def files_of_run(wildcards):
    """The files that a model is made of, by their paths."""
    if wildcards.model in {*SERVICES, *ANSWERS_ONLY}:
        return []
    files = pretrained_files if wildcards.model in TRAINED_HERE else checkpoint_files
    return list(map(str, files(wildcards)))


def settings_of_run(wildcards):
    """What a model is, or becomes in its training."""
    if wildcards.model in SERVICES:
        return service(wildcards)
    return recipe(wildcards) if wildcards.model in TRAINED_HERE else checkpoint(wildcards)


def check_settings(wildcards):
    """What decides how a model is read and how it is explained."""
    return as_json(
        model=settings_of_run(wildcards),
        files=files_of_run(wildcards),
        reading=reading(wildcards),
        seed=int(wildcards.seed),
        precision=config["explain"]["precision"],
        asking=SERVICES[wildcards.model]["asking"] if wildcards.model in SERVICES else {},
        explainers=methods_on(wildcards, ATTRIBUTING_FAMILIES),
        metrics={
            family: configuration.without_labels({name: config["metrics"][name] for name in names})
            for family, names in SCORED_FAMILIES.items()
        },
    )


def imported_paths(wildcards):
    """The files that explanations are read from; those with an address are fetched."""
    methods = (method for family in EXPLAINER_FAMILIES for method in methods_of(family, wildcards).items())
    return [method["file"] for name, method in methods if name in MADE_ELSEWHERE and not method.get("sha256")]


def seeds_made(model):
    """The runs of a model that are made of other files: of one that is trained here, the first stands for all."""
    return seeds_of(model)[:1] if model in TRAINED_HERE else seeds_of(model)


def of_made_runs(path, model):
    """A path for each of these runs, on every dataset of the model."""
    return expand(path, there, dataset=RUNS.datasets, model=model, seed=seeds_made(model))


def told_settings():
    """Which findings there are, and what no check looks at."""
    why = {
        kinds.EFFECTS: "which are about changes of many texts",
        kinds.TEXT: "which are about answers that the study reads or asks for",
    }
    unchecked = []
    for modality, reason in why.items():
        names = [f"explainers.{name}" for name in explainers_of(modality)]
        names += [f"metrics.{name}" for family in metric_families(modality).values() for name in family]
        unchecked += [f"{', '.join(names)}, {reason}"] if names else []
    unchecked.append("statistics, which begin where scores are there")
    runs = {name: seeds_made(name) for name in CHECKED_MODELS}
    asked = {name: {key: chat[key] for key in ("address", "plain_http", "asking")} for name, chat in CHATS.items()}
    # Not sorted: what is told has the order of the configuration.
    return as_argument(runs_of_study() | {"models": runs, "chats": asked, "unchecked": unchecked})


def is_made(path):
    """Whether a file is not there yet, and some rule makes it, be it of who uses this workflow as a module.

    A storage has the study's own files under other names, and elsewhere: what is missing of them, Snakemake says.
    """
    is_kept = STORED and Path(path).is_relative_to(f"results/{config['study']}")
    return not Path(path).exists() and (is_kept or any(rule.is_producer(path) for rule in workflow.rules))


def tables_and_models():
    """What the results of a study stand for: each file of a table and of a model, with the key that names it."""
    for name, reader in READERS.items():
        yield from ((f"datasets.{name}", path) for path in reader.named_files())
    for run in wildcards_of_runs():
        yield from ((f"models.{run.model}", path) for path in files_of_run(run))


def other_files():
    """The other files that a configuration names: a job may need one, and all others none."""
    yield from ((key, path) for key, paths in CORPUS_FILES.items() for path in paths)
    lexicons = {name: settings.get("lexicon") for name, settings in config["explainers"].items()}
    yield from ((f"explainers.{name}.lexicon", path) for name, path in lexicons.items() if path)
    of_answers = {name: config["metrics"][name] for names in metric_families(kinds.TEXT).values() for name in names}
    named = {name: settings.get("file") for name, settings in of_answers.items()}
    yield from ((f"metrics.{name}.file", path) for name, path in named.items() if path)
    for run in wildcards_of_runs():
        yield from (("explainers", path) for path in imported_paths(run))


def wildcards_of_runs():
    """The wildcards of every run of a model on a dataset."""
    return [Wildcards(fromdict=vars(run)) for run in RUNS]


def refused_files(named):
    """An error that tells those of the files that are not there, and that no rule makes; None where all are there.

    Snakemake knows neither what a missing file is nor like names. In a module only it knows, when all rules are read,
    which files others make.
    """
    problems = [
        f"{key}: {sources.missing(path)}"
        for key, path in dict.fromkeys(named)
        if not Path(path).exists() and not is_made(path)
    ]
    return WorkflowError("\n".join(problems)) if problems else None


def refused_before():
    """The same before a run, where a table or a model is not there.

    Snakemake misses none whose results are there, and those of a mistyped table would be taken for its own. Nothing is
    asked of an archived study, nor for the target `check`, which tells them itself.
    """
    asks = not ARCHIVED and set(workflow.dag_settings.targets) != {CHECK}
    return refused_within() if asks and refused_files(tables_and_models()) else None


def refused_within():
    """The same of all files, where Snakemake misses one."""
    return refused_files([*tables_and_models(), *other_files()])


workflow.execute = unless(reworded(workflow.execute, MissingInputException, refused_within), refused_before)
