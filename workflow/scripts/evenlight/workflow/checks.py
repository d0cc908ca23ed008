"""Of what is looked at before anything long runs: files, models, and who makes what is missing."""

from functools import cached_property
from pathlib import Path

from snakemake.exceptions import MissingInputException, WorkflowError
from snakemake.io import expand

from evenlight.core import kinds, sources
from evenlight.core.errors import reworded, unless
from evenlight.workflow.base import Run
from evenlight.workflow.naming import as_argument, as_json


class Checks:
    """Of what is looked at before anything long runs: files, models, and who makes what is missing."""

    @cached_property
    def checked_models(self):
        """A model that only answers has nothing to be looked at."""
        return [name for name in self.config["models"] if name not in self.answers_only]

    def present_files(self, wildcards):
        """Those of the files of a dataset that are there, or else none is read."""
        return [self.own_file(path) for path in self.readers[wildcards.dataset].named_files() if Path(path).exists()]

    def made_flag(self, paths):
        """The flag that names those of the files that are not there yet, since some rule makes them."""
        made = [path for path in paths if self.is_made(path)]
        return ["--made", *made] if made else []

    def files_of_run(self, wildcards):
        """The files that a model is made of, by their paths."""
        if wildcards.model in {*self.services, *self.answers_only}:
            return []
        files = self.pretrained_files if wildcards.model in self.trained_here else self.checkpoint_files
        return list(map(str, files(wildcards)))

    def settings_of_run(self, wildcards):
        """What a model is, or becomes in its training."""
        if wildcards.model in self.services:
            return self.service(wildcards)
        return self.recipe(wildcards) if wildcards.model in self.trained_here else self.checkpoint(wildcards)

    def check_settings(self, wildcards):
        """What decides how a model is read and how it is explained."""
        return as_json(
            model=self.settings_of_run(wildcards),
            files=self.files_of_run(wildcards),
            reading=self.reading(wildcards),
            seed=int(wildcards.seed),
            precision=self.config["explain"]["precision"],
            asking=self.services[wildcards.model]["asking"] if wildcards.model in self.services else {},
            explainers=self.methods_on(wildcards, self.attributing_families),
            metrics={family: self.metric_settings(names) for family, names in self.scored_families.items()},
        )

    def imported_paths(self, wildcards):
        """The files that explanations are read from; those with an address are fetched."""
        methods = (
            method for family in self.families_of_explainers for method in self.methods_of(family, wildcards).items()
        )
        return [method["file"] for name, method in methods if name in self.made_elsewhere and not method.get("sha256")]

    def seeds_made(self, model):
        """The runs of a model that are made of other files: of one that is trained here, the first stands for all."""
        return self.seeds_of(model)[:1] if model in self.trained_here else self.seeds_of(model)

    def of_made_runs(self, path, model):
        """A path for each of these runs, on every dataset of the model."""
        return expand(path, self.there, dataset=self.runs.datasets, model=model, seed=self.seeds_made(model))

    def told_settings(self):
        """Which findings there are, and what no check looks at."""
        why = {
            kinds.EFFECTS: "which are about changes of many texts",
            kinds.TEXT: "which are about answers that the study reads or asks for",
        }
        unchecked = []
        for modality, reason in why.items():
            names = [f"explainers.{name}" for name in self.explainers_of(modality)]
            names += [f"metrics.{name}" for family in self.metric_families(modality).values() for name in family]
            unchecked += [f"{', '.join(names)}, {reason}"] if names else []
        unchecked.append("statistics, which begin where scores are there")
        runs = {name: self.seeds_made(name) for name in self.checked_models}
        asked = {
            name: {key: chat[key] for key in ("address", "plain_http", "asking")} for name, chat in self.chats.items()
        }
        # Not sorted: what is told has the order of the configuration.
        return as_argument(self.runs_of_study() | {"models": runs, "chats": asked, "unchecked": unchecked})

    def is_made(self, path):
        """Whether a file is not there yet, and some rule makes it, be it of who uses this workflow as a module.

        A storage has the study's own files under other names, and elsewhere: what is missing of them, Snakemake says.
        """
        is_kept = self.stored and Path(path).is_relative_to(self.folder)
        return not Path(path).exists() and (is_kept or self.inside.is_producer(path))

    def tables_and_models(self):
        """What the results of a study stand for: each file of a table and of a model, with the key that names it."""
        for name, reader in self.readers.items():
            yield from ((f"datasets.{name}", path) for path in reader.named_files())
        for run in self.wildcards_of_runs():
            yield from ((f"models.{run.model}", path) for path in self.files_of_run(run))

    def other_files(self):
        """The other files that a configuration names: a job may need one, and all others none."""
        yield from ((key, path) for key, paths in self.corpus_files.items() for path in paths)
        lexicons = {name: settings.get("lexicon") for name, settings in self.config["explainers"].items()}
        yield from ((f"explainers.{name}.lexicon", path) for name, path in lexicons.items() if path)
        of_answers = {
            name: self.config["metrics"][name] for names in self.metric_families(kinds.TEXT).values() for name in names
        }
        named = {name: settings.get("file") for name, settings in of_answers.items()}
        yield from ((f"metrics.{name}.file", path) for name, path in named.items() if path)
        for run in self.wildcards_of_runs():
            yield from (("explainers", path) for path in self.imported_paths(run))

    def wildcards_of_runs(self):
        """The wildcards of every run of a model on a dataset."""
        return [Run(vars(run)) for run in self.runs]

    def refused_files(self, named):
        """An error that tells those of the files that are not there, and that no rule makes; None where all are there.

        Snakemake knows neither what a missing file is nor like names. In a module only it knows, when all rules are
        read, which files others make.
        """
        problems = [
            f"{key}: {sources.missing(path)}"
            for key, path in dict.fromkeys(named)
            if not Path(path).exists() and not self.is_made(path)
        ]
        return WorkflowError("\n".join(problems)) if problems else None

    def refused_before(self):
        """The same before a run, where a table or a model is not there.

        Snakemake misses none whose results are there, and those of a mistyped table would be taken for its own. Nothing
        is asked of an archived study, nor for the target `check`, which tells them itself.
        """
        asks = not self.archived and self.inside.targets != {self.inside.renamed("check")}
        return self.refused_within() if asks and self.refused_files(self.tables_and_models()) else None

    def refused_within(self):
        """The same of all files, where Snakemake misses one."""
        return self.refused_files([*self.tables_and_models(), *self.other_files()])

    def refuse_missing_files(self):
        """Let Snakemake refuse files that are missing in words that name the key, before a run and in it."""
        self.inside.before_run(
            lambda execute: unless(reworded(execute, MissingInputException, self.refused_within), self.refused_before)
        )
