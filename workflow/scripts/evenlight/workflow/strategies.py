"""Of studies of strategies: how models were trained."""

import csv

from snakemake.io import expand

from evenlight.workflow.base import kept
from evenlight.workflow.naming import as_json
from evenlight.workflow.patterns import ATTRIBUTION_FILE, PREDICTIONS


class Strategies:
    """Of studies of strategies: how models were trained."""

    def strategies_shown(self, **settings):
        """The settings of what shows strategies."""
        return self.shown(
            "datasets",
            "metrics",
            explainers=self.names_compared()["explainers"],
            strategies=self.config["statistics"]["strategies"],
            **settings,
        )

    def correctness_metrics(self):
        """The metrics that hold explanations against the ground truth."""
        return [name for name, metric in self.metrics.items() if metric["family"] == "correctness"]

    def published_values(self):
        """What GECOBench prints of models, for each dataset of its reader."""
        with open(self.base / "resources/published/gecobench.csv", encoding="utf-8", newline="") as file:
            rows = [row | {"mean": float(row["mean"]), "sd": float(row["sd"])} for row in csv.DictReader(file)]
        return {
            name: [row for row in rows if (row["classes"], row["words"]) == (dataset["classes"], dataset["words"])]
            for name, dataset in self.config["datasets"].items()
            if dataset["reader"] == "geco"
        }

    @kept
    def masked_models(self):
        """The models of strategies that are, or began as, what may be a masked language model."""
        return [
            model
            for model in self.models_in_strategies()
            if self.config["models"][model]["architecture"] in ("pretrained", "prompted")
        ]

    def masked_settings(self, wildcards):
        """What the scores of masked words depend on; a prompted model has the head itself."""
        model = self.config["models"][wildcards.model]
        is_trained = model["architecture"] == "pretrained"
        source = {key: model[key] if is_trained else None for key in ("source", "revision")}
        return as_json(**source, max_tokens=model["max_tokens"])

    def masked_source(self, wildcards):
        """The files of the masked language model that a trained one began as, where a folder names it."""
        model = self.config["models"][wildcards.model]
        return self.local_model_files(model["source"]) if model["architecture"] == "pretrained" else []

    def models_in_strategies(self):
        """The models of all strategies, with what they are called and their first seed."""
        return {
            model: (f"{architecture} {strategy}", self.seeds_of(model)[0])
            for architecture, models in self.config["statistics"]["strategies"].items()
            for strategy, model in models.items()
        }

    def first_attribution_files(self, wildcards):
        """The explanations of every strategy under its first seed, on one dataset."""
        files = [
            expand(ATTRIBUTION_FILE, dataset=wildcards.dataset, model=model, seed=seed, explainer=self.explainers)
            for model, (_, seed) in self.models_in_strategies().items()
        ]
        return [file for of_model in files for file in of_model]

    def first_predictions(self, wildcards):
        """How the models of every strategy read one dataset under their first seed."""
        models = self.models_in_strategies().items()
        return [
            expand(PREDICTIONS, dataset=wildcards.dataset, model=model, seed=seed)[0] for model, (_, seed) in models
        ]
