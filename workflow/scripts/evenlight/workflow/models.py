"""Of models: what they are, how they are trained or loaded, and how they read the texts."""

from functools import cached_property

from snakemake.exceptions import WorkflowError

from evenlight import configuration
from evenlight.core import kinds, sources
from evenlight.workflow.base import kept
from evenlight.workflow.naming import as_json
from evenlight.workflow.patterns import QUESTIONS


class Models:
    """Of models: what they are, how they are trained or loaded, and how they read the texts."""

    @cached_property
    def checkpoint_flag(self):
        """How much is lost when a training is stopped: a flag and no param, since it changes no result."""
        return f"--checkpoint-minutes {self.config['checkpoint_minutes']}"

    @cached_property
    def trained_here(self):
        """Models that the study trains."""
        return [name for name in self.config["models"] if configuration.is_trained_here(self.config, name)]

    @cached_property
    def services(self):
        """Classifiers behind an address."""
        return configuration.services_of(self.config)

    @cached_property
    def chats(self):
        """Language models behind an address, which explainers in words ask."""
        return configuration.chats_of(self.config)

    @cached_property
    def answers_only(self):
        """Models without a network, of which only answers are known: where there is one, all are, and none predicts."""
        return configuration.answers_only(self.config)

    @cached_property
    def asking(self):
        """How services are asked: a resource and no param, since it changes no answer and reruns nothing."""
        return as_json(**{name: model["asking"] for name, model in {**self.services, **self.chats}.items()})

    @cached_property
    def beside_weights(self):
        """What a model is read with beside its weights; for a storage only, as other inputs rerun what is there."""
        return [
            f"<results>/models/{{dataset}}/{{model}}/seed{{seed}}/{name}"
            for name in ("config.json", "tokenizer_config.json", "manifest.json") * self.stored
        ]

    def answering(self, wildcards):
        """The files of a model that are there when it can be asked; the first lies in its folder whatever it is."""
        names = ["service.json"] if wildcards.model in self.services else ["model.safetensors"]
        return [f"<results>/models/{{dataset}}/{{model}}/seed{{seed}}/{name}" for name in [*names, "tokenizer.json"]]

    def questions(self, wildcards):
        """The estimate of what a service will be asked, which is made before it is asked anything."""
        # Not ancient: Snakemake forgets what has changed of a job whose ancient input is made again. It costs little,
        # since no question is asked twice.
        return [QUESTIONS] if wildcards.model in self.services else []

    def service(self, wildcards):
        """What a service answers by, without what only says how long texts may be and how it is asked."""
        settings = self.services[wildcards.model]
        return {
            name: value
            for name, value in settings.items()
            if name not in ("long_items", "max_tokens", "asking", "datasets")
        }

    def recipe(self, wildcards, **changes):
        """What a model is and how it is trained on one dataset, with changes of the training."""
        settings = configuration.recipe(self.config, wildcards.model, wildcards.dataset)
        return settings | {"training": settings["training"] | changes}

    def checkpoint(self, wildcards):
        """What a model that is trained already is, in one run; what becomes of long texts, the predictions say."""
        settings = configuration.checkpoint(self.config, wildcards.model, wildcards.dataset, int(wildcards.seed))
        return {name: value for name, value in settings.items() if name not in ("long_items", "overlap")}

    def pretrained_files(self, wildcards):
        """The named files of a pre-trained model or a tokenizer, whose change retrains."""
        return self.begun_with(wildcards.model)

    def begun_with(self, name):
        """The same of one of the models."""
        model = self.config["models"][name]
        tokenizer = model.get("tokenizer", {}).get("source")
        tokenizers = self.local_model_files(tokenizer, sources.tokenizer_files)
        return self.local_model_files(model.get("source")) + tokenizers

    def checkpoint_files(self, wildcards):
        """The files of a model that is trained already and named by a folder, whose change loads it again."""
        settings = self.checkpoint(wildcards)
        adapter = settings.get("adapter")
        return self.local_model_files(settings["source"]) + self.local_model_files(adapter, sources.adapter_files)

    def local_model_files(self, source, files=sources.transformers_files):
        """The files of a model, or of an adapter, in a folder; none of what is on the hub.

        What can only be a path, and is no folder, is itself the input: another rule makes it, or it is told as missing.
        """
        if source and sources.is_missing_folder(source):
            return [source]
        return [self.own_file(str(path)) for path in files(source)] if source else []

    @kept
    def sample(self, dataset):
        """Which test texts are explained: how many pairs, and by which factors they are drawn."""
        pairs = configuration.on_dataset(self.config["explain"], "pairs", dataset)["pairs"]
        factors = {part for factor in self.config["statistics"]["compare"] for part in factor.split("+")}
        drawn_by = [factor for factor in self.factors_of(dataset) if factor in factors]
        # What is compared decides what is drawn, but not where everything is explained, nor where all factors count.
        decides = pairs and len(drawn_by) < len(self.factors_of(dataset))
        return {"pairs": pairs, "factors": drawn_by if decides else []}

    def compared(self):
        """What must be there to be compared; a resource and no param, since it changes no result and reruns nothing.

        Of all datasets: jobs that run as a group must have the same strings as resources.
        """
        # A study may compare the changes of one dataset and the texts of another.
        everywhere = len(self.modalities) == 1 or configuration.compared_everywhere(self.config, kinds.TOKENS)
        needed = everywhere and ("compare" in self.kind.needs or self.kind.explained)
        return as_json(
            comparisons=self.comparisons_of(kinds.TOKENS) if needed else {},
            strata=self.config["statistics"]["strata"],
            smallest_group=self.config["statistics"]["smallest_group"],
            samples={dataset: self.sample(dataset) for dataset in self.config["datasets"]},
        )

    def reading_settings(self, wildcards):
        """What decides how the texts are read and which of them are explained."""
        return as_json(**self.reading(wildcards))

    def reading(self, wildcards):
        """The same as a mapping."""
        model = self.config["models"][wildcards.model]
        foil = configuration.on_dataset(self.config["explain"], "foil", wildcards.dataset)["foil"]
        keys = ("max_tokens", "long_items") + ("overlap",) * (model["long_items"] == "windows")
        return {
            "target": self.config["explain"]["target"],
            "foil": foil if configuration.contrasts(self.config) else None,
            **self.sample(wildcards.dataset),
            **{key: model[key] for key in keys},
        }

    def estimate_settings(self, wildcards):
        """What decides how many questions a service is asked."""
        asking = {
            "explainers": {
                family: methods
                for family, methods in self.methods_on(wildcards, self.families_of_explainers).items()
                if configuration.needs_model("explainers", family)
            },
            "metrics": {
                family: self.metric_settings(names)
                for family, names in self.families_of_metrics.items()
                if configuration.needs_model("metrics", family)
            },
        }
        asked = {name for methods in asking["explainers"].values() for name in methods}
        return as_json(
            reading=self.reading(wildcards),
            seed=self.seeds_of(wildcards.model)[0],
            # They ask nothing, but their scores are judged by asking.
            silent=[
                name
                for name in self.runs.explainers_of(wildcards.dataset, self.config["explainers"])
                if name not in asked
            ],
            **asking,
        )

    def refuse_services_in_storage(self):
        """Refuse a storage for results of which the answers of services would have to be part."""
        if (self.services or self.chats) and self.stored:
            raise WorkflowError(
                "answers of services are kept in a folder that all jobs see, and --default-storage-provider has none; "
                "leave it out"
            )
