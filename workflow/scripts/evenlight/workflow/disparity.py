"""Of studies of disparity: what is compared and controlled."""

from functools import cached_property

from evenlight import configuration, datasets
from evenlight.core import kinds
from evenlight.workflow.base import kept


class Disparity:
    """Of studies of disparity: what is compared and controlled."""

    @cached_property
    def controlled(self):
        """What is controlled: of texts and changes, texts, as both have no labels that could be permuted together."""
        return kinds.TOKENS if self.explainers else None

    def compared_datasets(self, of=None):
        """The datasets that have both levels of a compared pair, of the units of one modality or of any."""
        pairs = [(factor, set(levels)) for factor, sets in self.comparisons().items() for levels in sets]
        compared_by = {
            name: [configuration.compared_by(modality, settings) for modality in ([of] if of else self.modalities)]
            for name, settings in self.config["datasets"].items()
        }
        return [
            dataset
            for dataset, of_modalities in compared_by.items()
            if any(
                pair <= set(datasets.levels_of(factors, factor)) for factors in of_modalities for factor, pair in pairs
            )
        ]

    def left_out(self):
        """The explainers of changes, or in words, that a table of tokens alone leaves out, where the study has both."""
        others = [
            name for modality in self.modalities if modality != kinds.TOKENS for name in self.explainers_of(modality)
        ]
        return others if self.explainers else []

    @kept
    def kinds_of_metrics(self):
        """The kinds of metric, and the names of the metrics that are definitions of each."""
        found = {}
        for name, metric in self.metrics.items():
            found.setdefault(metric["metric"], []).append(name)
        return found

    def disputed_metrics(self):
        """The kinds of metric that are configured in more than one definition, and the names of these."""
        return {kind: names for kind, names in self.kinds_of_metrics().items() if len(names) > 1}

    def specified(self):
        """What the study asks in several ways: kinds of metric with several definitions, and the names of these.

        All kinds where it has several explainers of one method.
        """
        methods = list(configuration.explaining_methods(self.config).values())
        return self.kinds_of_metrics() if len(set(methods)) < len(methods) else self.disputed_metrics()

    def specifications_drawn(self, wildcards):
        """The settings of one specification curve."""
        metrics = self.directions(self.specified()[wildcards.kind])
        names = {"on": wildcards.dataset, "dataset": self.label("datasets", wildcards.dataset)}
        return self.shown("explainers", "models", metrics=metrics, **names, **self.of_statistics("alpha"))
