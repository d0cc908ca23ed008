"""Of every study: its completed configuration, versions of what a job uses, and lists of files."""

import os
from collections.abc import Callable
from functools import cached_property, wraps
from itertools import product
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.io import ancient, expand

from evenlight import configuration, datasets
from evenlight.core import kinds
from evenlight.core.errors import InputError
from evenlight.corpus import annotation
from evenlight.jobs import kept_records, own_files, provenance
from evenlight.judging.results import Result
from evenlight.statistics.comparisons.files import Runs
from evenlight.workflow.inside import Inside
from evenlight.workflow.naming import as_json


def kept(method: Callable) -> Callable:
    """A method whose answer is kept with its object, by the arguments."""

    @wraps(method)
    def answer(self, *arguments):
        answers = self.__dict__.setdefault("_kept", {})
        key = (method.__name__, arguments)
        if key not in answers:
            answers[key] = method(self, *arguments)
        return answers[key]

    return answer


class Run(dict):
    """The wildcards of a run of a model, as Snakemake gives them: by name, and as attributes."""

    __getattr__ = dict.__getitem__


def problem_with_folder(base: Path) -> str | None:
    """What to do where Snakemake was started in a folder in which it cannot work, else None."""
    memory = Path(".snakemake")
    if os.path.samefile(base / "workflow", os.curdir):
        return f"start Snakemake in the folder above, where config/ lies and results are written: cd {base}"
    if not os.access(memory if memory.is_dir() else os.curdir, os.W_OK):
        return (
            f"{os.getcwd()} cannot be written to, where results would lie; "
            "copy it to a folder of your own, and start there"
        )
    for name in ("results", "logs", "benchmarks"):
        if Path(name).exists() and not (Path(name).is_dir() and os.access(name, os.W_OK)):
            path = os.path.abspath(name)
            return f"{path}: no folder that can be written to; give yourself the right to, or move it away"
    return None


def refuse_several_studies(paths: list[str]) -> None:
    """Refuse files that hold a whole study each, which Snakemake has merged key by key.

    Of a key that stands in a file twice it has kept one without a word; that is refused, too.
    """
    whole = {"study", "datasets", "models"}
    paths = dict.fromkeys(map(os.path.abspath, paths))
    merged = [path for path in paths if whole <= configuration.written(Path(path)).keys()]
    if len(merged) > 1:
        raise InputError(
            f"{' and '.join(merged)} are studies, and Snakemake would merge them into one; name only one of them: "
            "where the Snakefile has a `configfile:`, leave out --configfile, and edit that file or write another name "
            "there"
        )


def completed(config: dict, inside: Inside) -> dict:
    """The configuration with all defaults filled in, after what cannot be right is refused."""
    if inside.starts:
        refuse_several_studies(inside.configuration_files)
    # Only who starts a run can trust code that came with an archive, and no file that came with it.
    trusts = inside.command_line.get("trust_parts")
    if "trust_parts" in config and trusts is None:
        raise InputError("trust_parts: found in a configuration file; allowed is --config trust_parts=true alone")
    config.pop("trust_parts", None)
    # Code of one's own lies beside the study that names it, or where all other paths begin.
    folders = [*(Path(path).parent for path in inside.configuration_files), Path()]
    own_files.locate(config, folders, str(trusts).lower() == "true")
    return configuration.complete(config)


class Base:
    """A study that is read: what its configuration asks for, and where Snakemake finds it.

    Attributes:
        config: the configuration with all defaults filled in.
        inside: Snakemake's workflow.
        base: the folder of this workflow.
    """

    def __init__(self, config: dict, inside: Inside, base: Path):
        self.config, self.inside, self.base = config, inside, base
        # Records of results that were copied here. Of those in a storage, and of an archive's, nothing is kept beside.
        if inside.starts and not self.stored:
            kept_records.restore(self.folder)

    @cached_property
    def folder(self):
        """Where the results of the study lie."""
        return Path("results", self.config["study"])

    @cached_property
    def kind(self):
        """What the study asks."""
        return kinds.KINDS[self.config["kind"]]

    @cached_property
    def is_comparing(self):
        """Whether two levels of something are compared, cell by cell, which not every kind needs."""
        return bool(self.kind.category and (self.kind.needs or self.comparisons()))

    @cached_property
    def readers(self):
        """The reader of each dataset, with its settings."""
        return {name: datasets.Reader.parse(settings) for name, settings in self.config["datasets"].items()}

    @cached_property
    def stored(self):
        """Whether a storage keeps the results, in place of folders that all jobs see."""
        return self.inside.is_stored

    @cached_property
    def archived(self):
        """Whether the study was unpacked from an archive. A module's rules are chosen by whoever uses it."""
        return (self.folder / provenance.ARCHIVE).is_dir() and self.inside.is_whole

    @cached_property
    def families_of_explainers(self):
        """Families with the names of their explainers."""
        return configuration.explainer_families(self.config)

    @cached_property
    def families_of_metrics(self):
        """Families with the names of their metrics."""
        return configuration.metric_families(self.config)

    @cached_property
    def modalities(self):
        """What the explanations of the study are, and the explainers and metrics of each."""
        return configuration.entries_of_modalities(self.config)

    @cached_property
    def metrics(self):
        """What is known of each metric: its family, label and direction."""
        return configuration.metric_annotations(self.config)

    def metric_settings(self, names):
        """The settings of some metrics, without what changes none of their jobs."""
        return configuration.without_labels({name: self.config["metrics"][name] for name in names})

    @cached_property
    def runs(self):
        """The runs of models: on which datasets, with which seeds."""
        return Runs(
            datasets=list(self.config["datasets"]),
            models={name: configuration.seeds_of(self.config, name) for name in self.config["models"]},
            only=configuration.for_some_datasets(self.config),
        )

    @cached_property
    def gpu(self):
        """Jobs that run a model claim a GPU unless the configuration says `device: cpu`.

        `--resources gpu=1` lets one at a time have it, `gpu=4` four, each its own. Whether there is one is not asked
        here: on a cluster the jobs run elsewhere.
        """
        return 0 if self.config["device"] == "cpu" else 1

    def in_project(self, path):
        """A file of this repository, relative to where Snakemake was started."""
        return os.path.relpath(self.base / path)

    def repository_file(self, path):
        """A file of this repository, as input of a rule.

        It must be there, but neither its date says anything, since a fresh clone is newer than all results, nor where
        it lies: Snakemake remembers ``path``. What it contains is said in ``params``: ``versions``, ``content_of``.
        """
        return ancient(self.inside.kept_as(self.in_project(path), path))

    def own_file(self, path):
        """A file that the configuration names, as input of a rule: also beside a storage, it is read where it lies.

        But for one of the study itself, and one that is not there: some rule makes it.
        """
        made = Path(path).is_relative_to(self.folder) or not Path(path).exists()
        if unsafe := set("<>").intersection(str(path)):
            # Snakemake's report writes commands, in which it stands, into a script of its page.
            raise WorkflowError(f"{path}: its name has {' and '.join(sorted(unsafe))}; rename the file or its folder")
        return self.inside.kept_as(path, path) if self.stored and not made else path

    def script(self, name):
        """What runs a script, and the script, as input of its rule: ``python {input.script}``."""
        return [self.repository_file(f"workflow/scripts/{path}") for path in ("run.py", name)]

    @kept
    def _methods(self, section, names):
        """The readers, architectures, explainers or metrics that some entries are, each once."""
        key = configuration.REGISTRIES[section].key
        return sorted({self.config[section][name][key] for name in names})

    def versions(self, *stages, results=(), methods=(), **entries):
        """The versions of what a job uses, as one string for ``params``; see configuration.versions_of.

        Args:
            stages, results: by their names.
            methods: by section, of explainers and others by their own names.
            entries: by section, of those by the names that the study gives them.
        """
        named = {section: self._methods(section, tuple(names)) for section, names in entries.items()}
        of_results = {name: Result.entries[name].version for name in results}
        return as_json(**configuration.versions_of(self.config, *stages, results=of_results, **named, **dict(methods)))

    def rendered_by(self, stage, *patterns):
        """The version of what renders, with digests of its own modules and templates below reports/."""
        folder = self.base / "workflow" / "scripts" / "evenlight" / "reports"
        paths = sorted(path for pattern in patterns for path in folder.glob(pattern) if path.is_file())
        files = {path.relative_to(folder).as_posix(): path for path in paths}
        return as_json(**configuration.versions_of(self.config, stage, files=files))

    def seeds_of(self, model):
        """The seeds of a model's runs."""
        return self.runs.models[model]

    def there(self, *wildcards):
        """The combinations of pairs (wildcard, value) that the study has, for expand()."""
        return [pairs for pairs in product(*wildcards) if self.runs.has(**dict(pairs))]

    def of_run(self, path):
        """An input of a job, by the wildcards; a model or an explainer that is not for the dataset is refused."""

        def found(wildcards):
            self.runs.require(**wildcards)
            return path

        return found

    def every(self, paths, **values):
        """``paths`` for all runs of the study, or of a ``dataset`` or ``model``, and for all other ``values``."""
        paths = [paths] if isinstance(paths, str) else [self.in_study(path) for path in paths]
        datasets, models = (values.pop(name, self.config[f"{name}s"]) for name in ("dataset", "model"))
        of_models = [(name, self.seeds_of(name)) for name in ([models] if isinstance(models, str) else models)]
        # Of no model is what no model has a part in.
        of_models = of_models or [("", [])]
        files = (
            expand(paths, self.there, dataset=datasets, model=model, seed=seeds, **values) for model, seeds in of_models
        )
        # A path without a model would stand there once for each.
        return list(dict.fromkeys(file for of_model in files for file in of_model))

    def factors_of(self, dataset):
        """The factors of a dataset, each with its levels."""
        return self.readers[dataset].factors()

    def explainers_of(self, modality):
        """The explainers whose explanations are of a modality."""
        return self.modalities[modality]["explainers"] if modality in self.modalities else []

    def explainer_families(self, modality):
        """The families whose explanations are of a modality, each with its explainers."""
        return self.families_of(modality, "explainers", self.families_of_explainers)

    def metric_families(self, modality):
        """The families that score explanations of a modality, each with its metrics."""
        return self.families_of(modality, "metrics", self.families_of_metrics)

    def families_of(self, modality, section, families):
        """Those of some families whose entries of a section are of a modality."""
        here = self.modalities[modality][section] if modality in self.modalities else ()
        return {family: names for family, names in families.items() if names[0] in here}

    def comparisons_of(self, modality):
        """What is compared of units with explanations of a modality, if any: factor to sets of levels."""
        return configuration.comparisons_of(self.config, modality) if modality in self.modalities else {}

    def gendered_datasets(self):
        """The datasets whose texts have English pronouns for their groups, which co-occurrence counts."""
        language = self.config["corpus"] and self.config["corpus"]["parser"]["language"]
        english = [name for name, reader in self.readers.items() if reader.is_english(language)]
        return [name for name in english if set(self.factors_of(name).get("gender", [None])) <= set(annotation.GROUPS)]

    def first_time(self, what):
        """Whether the process that starts the run does this for the first time."""
        return self.inside.first_time(what, self.config["study"])

    def in_study(self, path):
        """The path of an input or an output as its rule has it, also where a storage keeps it."""
        return self.inside.in_study(path)
