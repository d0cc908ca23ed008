"""Of what is summed up and compared: files of the whole study, and settings."""

import shlex
from functools import cached_property
from pathlib import Path

from evenlight import configuration
from evenlight.core import kinds
from evenlight.workflow.base import kept
from evenlight.workflow.patterns import SCORES, UNITS


class Statistics:
    """Of what is summed up and compared: files of the whole study, and settings."""

    @cached_property
    def explained(self):
        """The folders of this study's items and units: texts, changes of a concept, or both."""
        return {kinds.MODALITIES[name].units: UNITS[kinds.MODALITIES[name].units] for name in self.modalities}

    @kept
    def every_score(self, of=None):
        """The score files of the whole study, or of explanations of one modality."""
        return [
            file
            for modality, names in self.modalities.items()
            if of in (None, modality)
            for file in self.every(SCORES, family=self.metric_families(modality), explainer=names["explainers"])
        ]

    @kept
    def every_unit(self, folder):
        """The items and units of all datasets that have explanations, in one of these folders."""
        return self.every(UNITS[folder], table=["items", "units"])

    def folders(self, **paths):
        """Flags that name folders below <results>, found from the input of the same name.

        A list of all files would be too long for a command; the scripts build their paths from the names in the
        settings. ``paths`` has the pattern of each.
        """

        def flags(wildcards, input):
            first = {name: Path(getattr(input, name)[0]) for name in paths}
            return shlex.join(f"--{name}={first[name].parents[paths[name].count('/') - 2]}" for name in paths)

        return flags

    def of_statistics(self, *keys):
        """Some settings of the statistics."""
        return {key: self.config["statistics"][key] for key in keys}

    def runs_of_study(self):
        """What all runs are, in the configuration's order, see :class:`Runs`."""
        return {name: value for name, value in vars(self.runs).items() if value}

    def runs_of_models(self):
        """The same for what depends on no explainer."""
        only = {section: of for section, of in self.runs.only.items() if section == "models"}
        return {name: value for name, value in {**vars(self.runs), "only": only}.items() if value}

    def scored(self, of=None):
        """The names of all scores, metrics with their families; which are of which modality, where there are several.

        ``of``: the modality of which these are; all without.
        """
        entries = self.modalities.get(of, {"explainers": [], "metrics": []}) if of else self.config
        families = {name: self.metrics[name]["family"] for name in entries["metrics"]}
        names = self.runs_of_study() | {"explainers": list(entries["explainers"]), "metrics": families}
        several = {} if of else configuration.scored_modalities(self.config)
        return names | ({"modalities": several} if several else {})

    def comparisons(self):
        """What is compared: factor to sets of levels."""
        return self.config["statistics"]["compare"]

    def scores_compared(self, of=None):
        """What is compared: scores, and levels of them.

        ``of``: the modality of the explanations; all without.
        """
        compared = {"comparisons": self.comparisons_of(of)} if of else {}
        return self.scored(of) | self.levels_compared() | compared

    def levels_compared(self):
        """What the levels of a cell are: those of texts, or strategies of models."""
        if self.config["kind"] == "strategies":
            return {"comparisons": {}, "together": self.together()} | self.of_statistics("strategies", "claims")
        return {"comparisons": self.comparisons()} | self.of_statistics("strata") | self.smallest_group()

    def smallest_group(self):
        """How many units a group must have, where the study says so: without it, nothing is computed again."""
        return {key: value for key, value in self.of_statistics("smallest_group").items() if value is not None}

    def together(self):
        """The explainers that ask the model and challenge no others, whose mean stands beside each of them."""
        explaining = [
            name for name in configuration.explaining_methods(self.config) if name not in self.proposed_methods()
        ]
        methods = {name: self.config["explainers"][name]["method"] for name in explaining}
        families = {name: configuration.family_of("explainers", method) for name, method in methods.items()}
        return [name for name, family in families.items() if configuration.needs_model("explainers", family)]

    def proposed_methods(self):
        """The explainers that are held against the others."""
        return self.config["statistics"]["proposed_methods"]

    def compared_levels(self):
        """The levels that stand in a comparison of two, in the configuration's order."""
        return list(dict.fromkeys(level for pairs in self.comparisons().values() for pair in pairs for level in pair))
