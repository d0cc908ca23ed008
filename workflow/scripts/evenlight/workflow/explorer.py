"""Of the explorer: what it shows of a study."""

from functools import cached_property

from evenlight.core import kinds
from evenlight.reports.entries import COMPARED
from evenlight.workflow.patterns import ANSWER, ATTRIBUTION_FILE, PREDICTIONS

# What of texts it shows beside their words: patterns by the flag that names their folder.
SPOKEN = {
    kinds.TOKENS: {"attributions": ATTRIBUTION_FILE, "predictions": PREDICTIONS},
    kinds.TEXT: {"answers": ANSWER},
}


class Explorer:
    """Of the explorer: what it shows of a study."""

    def shown_texts(self, files, of=kinds.TOKENS):
        """Some files or flags, where the page shows texts that are explained in this modality.

        None where it shows no texts, nor where a dataset keeps its own to itself.
        """
        allowed = self.config["explorer"]["texts"] and len(self.datasets_shown()) == len(self.config["datasets"])
        return files if allowed and self.explainers_of(of) else type(files)()

    def told_effects(self):
        """The tables of verdicts, their counts and the record of interim analyses, where these are of models.

        Those of regimes are about architectures.
        """
        told = "effects" in self.pages and self.config["kind"] != "regimes"
        return (
            [f"<results>/tables/{table}.parquet" for table in ("effects", "effect_counts", "interim_analyses")]
            if told
            else []
        )

    @cached_property
    def first_explored(self):
        """What explanations a page shows one by one: those that the kind asks about, else the first."""
        return self.kind.explained or next(iter(self.modalities))

    @cached_property
    def explored(self):
        """All modalities of these units."""
        return [
            name
            for name in self.modalities
            if kinds.MODALITIES[name].units == kinds.MODALITIES[self.first_explored].units
        ]

    def spoken(self):
        """Those of this study, each with its modality."""
        return {
            flag: (path, of) for of in self.explored for flag, path in self.shown_texts(SPOKEN.get(of, {}), of).items()
        }

    def whole_study(self, of, **more):
        """The settings of a page of the whole study: names and labels of its scores, what is compared, and ``more``.

        ``of``: the modalities that it shows.
        """
        names = self.scored()
        families = {name: names["metrics"][name] for name in self.entries_of(of)["metrics"]}
        settings = {"seeds": names["models"], "families": families}
        settings |= {"only": names["only"]} if "only" in names else {}
        # Those that have the same units are compared by the same.
        settings |= {"comparisons": self.comparisons_of(of[0])}
        settings |= {"study": self.config["study"], "target": self.config["explain"]["target"]}
        return self.shown(*COMPARED, of=of, **settings, **more)

    def explorer_settings(self):
        """Beside those, the formats of its figures and what the verdicts say."""
        return self.whole_study(
            of=self.explored,
            modalities={name: self.modalities[name] for name in self.explored},
            formats=self.config["figures"]["formats"],
            **self.of_statistics("alpha", "as_often_bound"),
        )
