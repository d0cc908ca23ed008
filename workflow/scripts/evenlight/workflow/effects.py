"""Of changes of concepts: their explainers, what these read, and their metrics."""

import hashlib
from functools import cached_property

import yaml
from snakemake.io import expand

from evenlight import configuration
from evenlight.core import kinds
from evenlight.workflow.naming import as_argument, as_json
from evenlight.workflow.patterns import CONCEPT_SCORE, COUNTERFACTUAL, PREDICTED_LEVELS, UNITS, WORD_ATTRIBUTION

# The words of concepts that the project wrote itself.
LEXICONS = {
    "restaurants": "resources/lexicons/restaurants.yaml",
    "causal_simulation": "resources/causal_simulation/english.yaml",
}


class Effects:
    """Of changes of concepts: their explainers, what these read, and their metrics."""

    @cached_property
    def change_explainers(self):
        """Explainers of changes of a concept."""
        return self.explainers_of(kinds.EFFECTS)

    def concepts_of(self, dataset):
        """The concepts of a dataset with their levels; not sorted, since levels are numbered in this order."""
        return self.readers[dataset].concept_levels()

    def concept_settings(self, wildcards):
        """The concepts of a dataset, and the attributes that all texts of a change share."""
        groups = list(self.readers[wildcards.dataset].groups())
        return as_argument({"concepts": self.concepts_of(wildcards.dataset), "groups": groups})

    @cached_property
    def predicting(self):
        """The model like which networks are trained that predict levels of concepts; None where words predict them."""
        return (
            None if self.config["explain"]["levels_by"] == configuration.WORDS else self.config["explain"]["levels_by"]
        )

    def predicting_settings(self, wildcards):
        """What a network that predicts the levels of a concept depends on."""
        return as_json(
            model=configuration.recipe(self.config, self.predicting, wildcards.dataset),
            concept=wildcards.concept,
            levels=self.concepts_of(wildcards.dataset)[wildcards.concept],
            seed=self.config["seeds"][0],
        )

    def predicted_levels(self, wildcards):
        """The levels that networks predict, of all concepts in their order; none where words predict them."""
        return expand(
            PREDICTED_LEVELS, concept=self.concepts_of(wildcards.dataset) if self.predicting else [], **wildcards
        )

    def labelling_settings(self, wildcards):
        """What predicted levels of concepts depend on."""
        return as_argument({"concepts": self.concepts_of(wildcards.dataset), "model": self.predicting})

    def attribution_of(self, settings):
        """Under which name the attributions lie that an explainer sums up; equal ones are computed once."""
        said = as_json(explainer=settings["explainer"], texts=settings["texts"])
        return f"{settings['explainer']['method']}_{hashlib.sha256(said.encode()).hexdigest()[:8]}"

    @cached_property
    def summing(self):
        """Explainers that sum up the attributions of another one."""
        return configuration.explainers_with(self.config, "sums_explainer")

    @cached_property
    def attributed(self):
        """What each set of such attributions is made with, by its name."""
        return {
            self.attribution_of(self.config["explainers"][name]): self.config["explainers"][name]
            for name in self.summing
        }

    def word_attribution_settings(self, wildcards):
        """What attributions to words depend on; the levels of concepts are numbered in their order."""
        settings = self.attributed[wildcards.attribution]
        return as_argument(
            {
                "explainer": settings["explainer"],
                "texts": settings["texts"],
                "concepts": self.concepts_of(wildcards.dataset),
                "seed": int(wildcards.seed),
                "precision": self.config["explain"]["precision"],
                "max_tokens": self.config["models"][wildcards.model]["max_tokens"],
            }
        )

    def word_attribution_versions(self, wildcards):
        """Versions of what attributes; the explainer is no entry of the study."""
        method = self.attributed[wildcards.attribution]["explainer"]["method"]
        return self.versions(
            "attribute_changes", "ask_model", models=[wildcards.model], methods={"explainers": [method]}
        )

    def word_attributions(self, wildcards):
        """The attributions that an explainer sums up, if it does."""
        if wildcards.explainer not in self.summing:
            return []
        return WORD_ATTRIBUTION.replace(
            "{attribution}", self.attribution_of(self.config["explainers"][wildcards.explainer])
        )

    def lexicon_of(self, wildcards):
        """The file with the words of the concepts, if an explainer asks for one."""
        settings = self.config["explainers"][wildcards.explainer]
        if settings.get("lexicon"):
            return [self.own_file(settings["lexicon"])]
        return [self.repository_file(LEXICONS[settings["words"]])] if settings.get("words") in LEXICONS else []

    def attributed_flags(self, wildcards, input):
        """The flags that name both."""
        named = {"attributions": input.attributions, "lexicon": input.lexicon}
        return [
            f"--{name}={path}"
            for name, paths in named.items()
            for path in ([paths] if isinstance(paths, str) else paths)
        ]

    @cached_property
    def forgetting(self):
        """Explainers that train networks of their own."""
        return configuration.explainers_with(self.config, "trains_network")

    def effect_estimate_settings(self, wildcards):
        """What the estimates of one explainer depend on; how networks were trained, their answers say."""
        explainer = configuration.without_labels(self.config["explainers"])[wildcards.explainer]
        explainer = {"method": explainer["method"]} if wildcards.explainer in self.forgetting else explainer
        return as_argument(
            {"explainer": explainer, "concepts": self.concepts_of(wildcards.dataset), "seed": int(wildcards.seed)}
        )

    def counterfactuals(self, wildcards):
        """The answers of the networks that have forgotten each concept, where an explainer asks for them."""
        concepts = self.concepts_of(wildcards.dataset) if wildcards.explainer in self.forgetting else []
        return expand(COUNTERFACTUAL, concept=concepts, **wildcards)

    def files_of_changes(self):
        """The changes, the scores of all estimates and the answers of networks that have forgotten, by the folder."""
        forgotten = [
            file
            for dataset in self.config["datasets"]
            for file in self.every(
                COUNTERFACTUAL, dataset=dataset, explainer=self.forgetting, concept=self.concepts_of(dataset)
            )
        ]
        return {
            "changes": self.every(UNITS["changes"], table=["changes", "labels"]),
            "scores": self.every(CONCEPT_SCORE, explainer=self.change_explainers),
            **({"counterfactuals": forgotten} if forgotten else {}),
        }

    def forgetting_settings(self, wildcards):
        """What a network that forgets a concept depends on, beside the model that it begins as."""
        explainer = dict(configuration.without_labels(self.config["explainers"])[wildcards.explainer])
        training = self.config["trainings"][explainer["training"] or self.config["models"][wildcards.model]["training"]]
        explainer["training"] = training | {"epochs": explainer.pop("epochs")}
        return as_argument(
            {
                "explainer": explainer,
                "concepts": self.concepts_of(wildcards.dataset),
                "concept": wildcards.concept,
                "seed": int(wildcards.seed),
                "max_tokens": self.config["models"][wildcards.model]["max_tokens"],
            }
        )

    def concept_metrics(self):
        """The metrics of the study, each with its settings."""
        return self.metric_settings(self.modalities[kinds.EFFECTS]["metrics"])

    def published_effects(self):
        """What CEBaB prints of each change (Tables 3d and 4, in stars), for the datasets that have its five classes."""
        published = yaml.safe_load((self.base / "resources/published/cebab.yaml").read_text(encoding="utf-8"))
        tables = [published[name] for name in ("effects_in_stars", "predicted_effects_in_stars")]
        changes = [("negative", "positive"), ("negative", "unknown"), ("positive", "unknown")]
        printed = {}
        for aspect in tables[0]:
            for (before, after), *values in zip(changes, *(table[aspect] for table in tables), strict=False):
                printed[f"{aspect}: {before} to {after}"] = values
                printed[f"{aspect}: {after} to {before}"] = [-value for value in values]
        five = [
            name
            for name, entry in self.config["datasets"].items()
            if entry["reader"] == "cebab" and entry["classes"] == "five"
        ]
        return dict.fromkeys(five, printed)
