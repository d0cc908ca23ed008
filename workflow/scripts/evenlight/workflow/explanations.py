"""Of explanations of texts and their scores: settings, versions and files."""

import os
from functools import cached_property
from pathlib import Path

from snakemake.io import expand
from snakemake.ioflags import update

from evenlight import configuration
from evenlight.core import kinds
from evenlight.workflow.naming import any_of, as_json
from evenlight.workflow.patterns import ATTRIBUTION_FILE, PLAN


class Explanations:
    """Of explanations of texts and their scores: settings, versions and files."""

    @cached_property
    def model_files(self):
        """The files of a model that has a network."""
        return [
            *(
                f"<results>/models/{{dataset}}/{{model}}/seed{{seed}}/{name}"
                for name in ("model.safetensors", "tokenizer.json")
            ),
            *self.beside_weights,
        ]

    @cached_property
    def explainers(self):
        """Explainers of texts; what explains changes of a concept has rules of its own (rules/effects.smk)."""
        return self.explainers_of(kinds.TOKENS)

    @cached_property
    def attributing_families(self):
        """Families with those of them that explain texts by scores of tokens."""
        return self.explainer_families(kinds.TOKENS)

    @cached_property
    def asking_families(self):
        """Those of the families that ask the model."""
        return [family for family in self.attributing_families if configuration.needs_model("explainers", family)]

    @cached_property
    def planned_models(self):
        """Models whose pace is measured; how fast a service answers is not for this machine to say."""
        return [name for name in self.config["models"] if name not in {*self.services, *self.answers_only}]

    @cached_property
    def scored_families(self):
        """Families of metrics that score them, with their metrics."""
        return self.metric_families(kinds.TOKENS)

    @cached_property
    def family_of(self):
        """The family of each explainer."""
        return {name: family for family, names in self.families_of_explainers.items() for name in names}

    @cached_property
    def made_elsewhere(self):
        """Explainers whose explanations are made elsewhere, and cannot be asked about another model."""
        return configuration.explainers_with(self.config, "external")

    @cached_property
    def randomised_explainers(self):
        """Those that can be asked again about a model with random layers."""
        return [name for name in self.explainers if name not in self.made_elsewhere]

    def randomised_datasets(self):
        """The datasets that have some of these."""
        return [name for name in self.runs.datasets if self.runs.explainers_of(name, self.randomised_explainers)]

    def datasets_of_several_explainers(self):
        """The datasets whose explainers can agree."""
        return [name for name in self.runs.datasets if len(self.runs.explainers_of(name, self.explainers)) > 1]

    def of_explainers(self, path, explainers):
        """The file of each of some explainers; the other wildcards stay."""
        return expand(path, explainer=explainers, allow_missing=True)

    def explanations_of(self, wildcards):
        """The attribution files of the explainers of a dataset; the other wildcards stay."""
        return self.of_explainers(ATTRIBUTION_FILE, self.runs.explainers_of(wildcards.dataset, self.explainers))

    def jobs_of(self, rule, explainers):
        """For each set of explainers that datasets have: the name of its rule, the set, a pattern of these datasets.

        Outputs are those of all explainers of a dataset, and Snakemake needs them written out: a rule for each set.
        """
        sets = enumerate(self.runs.sets_of(explainers).items())
        return [(f"{rule}_on_{on[0]}" if number else rule, list(names), any_of(on)) for number, (names, on) in sets]

    def taken_over(self, files):
        """Outputs that a job may find made and leave as they are. Of those in a storage it sees nothing, and makes them
        again.
        """
        return files if self.stored else update(files)

    def asked_model(self, section, family):
        """The files of the model, where the family asks it, as a function of the wildcards."""
        asks = configuration.needs_model(section, family)
        return lambda wildcards: (
            [*self.answering(wildcards), *self.beside_weights, *self.questions(wildcards)] if asks else []
        )

    def model_flag(self, wildcards, input):
        """The flag that names the model's folder, where the family asks it."""
        return [f"--model={Path(input.model[0]).parent}"] if input.model else []

    def asking_settings(self, section, family, model):
        """What the answers of a model depend on, where the family asks it."""
        if not configuration.needs_model(section, family):
            return {}
        return {
            "precision": self.config["explain"]["precision"],
            "max_tokens": self.config["models"][model]["max_tokens"],
        }

    def methods_of(self, family, wildcards):
        """The explainers of one family on a dataset; one that is read from a file with the file of this run."""
        names = self.runs.explainers_of(wildcards["dataset"], self.families_of_explainers[family])
        methods = configuration.without_labels({name: self.config["explainers"][name] for name in names})
        return {
            name: method | ({"file": method["file"].format(**wildcards)} if name in self.made_elsewhere else {})
            for name, method in methods.items()
        }

    def methods_on(self, wildcards, families):
        """The same of several families, those that explain the dataset."""
        found = {family: self.methods_of(family, wildcards) for family in families}
        return {family: methods for family, methods in found.items() if methods}

    def imported_files(self, family):
        """The files that the explainers of one family are read from, as a function of the wildcards."""
        return lambda wildcards: [
            self.own_file(method["file"])
            for name, method in self.methods_of(family, wildcards).items()
            if name in self.made_elsewhere
        ]

    def attribute_settings(self, family):
        """What the explainers of one family depend on, as a function of the wildcards."""
        return lambda wildcards: as_json(
            family=family,
            explainers=self.methods_of(family, wildcards),
            seed=int(wildcards.seed),
            **self.asking_settings("explainers", family, wildcards.model),
        )

    def of_first_seed(self, path, wildcards):
        """The files of a model's first run, whose pace stands for those of all."""
        return expand(path, seed=self.seeds_of(wildcards.model)[0], allow_missing=True)

    def plan_settings(self, wildcards):
        """What decides how many rows the explainers and the scores take, and of which network."""
        seeds = self.seeds_of(wildcards.model)
        seed = seeds[0]
        explainers = self.methods_on({**wildcards, "seed": seed}, self.asking_families)
        return as_json(
            explainers=explainers,
            metrics={
                family: self.metric_settings(self.families_of_metrics[family])
                for family in self.scored_families
                if configuration.needs_model("metrics", family)
            },
            explanations=len(self.runs.explainers_of(wildcards.dataset, self.explainers)),
            runs=len(seeds),
            seed=seed,
            precision=self.config["explain"]["precision"],
            max_tokens=self.config["models"][wildcards.model]["max_tokens"],
        )

    def to_be_planned(self):
        """The plans of models of which explanations are missing; what is there needs none."""
        explainers = [name for family in self.asking_families for name in self.attributing_families[family]]
        attribution_files = {
            PLAN.format(dataset=dataset, model=model): self.every(
                ATTRIBUTION_FILE.replace("<results>", str(self.folder)),
                dataset=dataset,
                model=model,
                explainer=explainers,
            )
            for dataset in self.config["datasets"]
            for model in self.planned_models
        }
        return [plan for plan, paths in attribution_files.items() if not all(Path(path).exists() for path in paths)]

    def asking_versions(self, section, family, model):
        """What asks a model, and what the model is, where the family asks it: stages and architectures."""
        asks = configuration.needs_model(section, family)
        return (["ask_model"], {"models": [model]}) if asks else ([], {})

    def attribute_versions(self, family):
        """Versions of what one family of explainers uses, as a function of the wildcards."""

        def used(wildcards):
            stages, models = self.asking_versions("explainers", family, wildcards.model)
            return self.versions("attribute", *stages, **models, explainers=list(self.methods_of(family, wildcards)))

        return used

    def score_settings(self, wildcards):
        """What the metrics of one family depend on."""
        return as_json(
            family=wildcards.family,
            metrics=self.metric_settings(self.families_of_metrics[wildcards.family]),
            **self.asking_settings("metrics", wildcards.family, wildcards.model),
        )

    def score_versions(self, wildcards):
        """Versions of what one family of metrics uses; of the explainers too, where it explains again."""
        stages, models = self.asking_versions("metrics", wildcards.family, wildcards.model)
        explainers = self.runs.explainers_of(wildcards.dataset, self.explainers)
        again = {"explainers": explainers} if configuration.explains_again(wildcards.family) else {}
        return self.versions("score", *stages, **models, **again, metrics=self.families_of_metrics[wildcards.family])

    def randomised_settings(self, wildcards):
        """What the scores of one explainer by random layers depend on."""
        return as_json(
            explainer=wildcards.explainer,
            method=self.methods_of(self.family_of[wildcards.explainer], wildcards)[wildcards.explainer],
            seed=int(wildcards.seed),
            precision=self.config["explain"]["precision"],
            max_tokens=self.config["models"][wildcards.model]["max_tokens"],
            **self.config["randomisation"],
        )

    def randomised_versions(self, wildcards):
        """Versions of what explains again by random layers."""
        return self.versions(
            "randomise_layers", "ask_model", models=[wildcards.model], explainers=[wildcards.explainer]
        )

    @cached_property
    def in_groups(self):
        """How much is done at once: flags and no params, since they change results by rounding only."""
        explain = self.config["explain"]
        return f"--tokens-per-batch {explain['tokens_per_batch']} --items-per-group {explain['items_per_group']}"

    @cached_property
    def looked_into(self):
        """Of what a plan of looks is made; what voids it is refused before anything is explained."""
        return ["<results>/tables/look_texts.parquet"] if self.planned_looks else []

    def threads_of_machine(self):
        """Threads that leave none for other jobs of a run on this machine."""
        return max(self.config["threads"], min(self.inside.cores, os.cpu_count() or 1))
