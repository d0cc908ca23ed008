"""Of the page of a study: which files it is made of, and what it may show."""

from functools import cached_property

from evenlight import configuration
from evenlight.core import kinds
from evenlight.reports.entries import COMPARED
from evenlight.workflow.patterns import ANSWER, ATTRIBUTION_FILE, MANIFEST, PREDICTIONS, SCORES, UNITS

# What of texts it shows beside their words: patterns by the flag that names their folder.
SPOKEN = {
    kinds.TOKENS: {"attributions": ATTRIBUTION_FILE, "predictions": PREDICTIONS},
    kinds.TEXT: {"answers": ANSWER},
}
# The tables that it tells of, where groups are compared, by what their explanations are.
TOLD = {
    kinds.TOKENS: (
        "texts_needed",
        "audited_texts",
        "audited_groups",
        "different_texts",
        "decision_rates",
        "without_words",
        "costs",
    ),
    kinds.SCORES: ("texts_needed", "judged_scores"),
    kinds.TEXT: ("texts_needed", "audited_questions", "draws", "answered", "decided", "decisions"),
}
# Those that only some studies have.
SOMETIMES = ("beyond_random", "pair_invariance", "group_reliance", "audit_changes")
# The pages of tables that it names beside its own, where the study has them.
BESIDE = ("disparity", "covariate_adjusted", "effects")


class StudyPage:
    """Of the page of a study: which files it is made of, and what it may show."""

    @cached_property
    def tells_verdicts(self):
        """Whether there are verdicts that are about models; those of strategies are about architectures."""
        return "effects" in self.pages and self.config["kind"] != "strategies"

    def shown_texts(self, files, of=kinds.TOKENS):
        """Some files or flags, where the page shows texts that are explained in this modality.

        None where it shows no texts, nor where a dataset keeps its own to itself.
        """
        allowed = self.config["page"]["texts"] and len(self.datasets_shown()) == len(self.config["datasets"])
        return files if allowed and self.explainers_of(of) else type(files)()

    @cached_property
    def first_explored(self):
        """What explanations a page shows one by one: those that the kind asks about, else the first."""
        return self.kind.explained or next(iter(self.modalities), None)

    @cached_property
    def explored(self):
        """All modalities of these units; what stands in their place, where scores were made elsewhere."""
        if self.has_scores:
            return [kinds.SCORES]
        return [
            name
            for name in self.modalities
            if kinds.MODALITIES[name].units == kinds.MODALITIES[self.first_explored].units
        ]

    def patterns_explored(self):
        """The patterns of scores and their units, by the flag that names their folder; of a table of scores none."""
        if self.has_scores:
            return {}
        return {"scores": SCORES, "datasets": UNITS[kinds.MODALITIES[self.first_explored].units]}

    def files_explored(self):
        """The files of these."""
        if self.has_scores:
            return {}
        scores = [file for of in self.explored for file in self.every_score(of)]
        return {"scores": scores, "datasets": self.every_unit(kinds.MODALITIES[self.first_explored].units)}

    def spoken(self):
        """What of texts it shows beside their words: the pattern and the modality, by the flag that names their
        folder."""
        return {
            flag: (path, of) for of in self.explored for flag, path in self.shown_texts(SPOKEN.get(of, {}), of).items()
        }

    @cached_property
    def told_tables(self):
        """The tables that the page tells of, the verdicts first."""
        if not self.tells_verdicts:
            return []
        always = [*self.tables_of("effects"), "interim_analyses"]
        if self.config["kind"] not in ("disparity", kinds.SCORES):
            return always
        of_modalities = [table for of in self.explored for table in TOLD.get(of, ())]
        made = {table for result in self.results.values() for table in result.tables}
        return list(dict.fromkeys([*always, *of_modalities, *(table for table in SOMETIMES if table in made)]))

    def read_tables(self):
        """These, and the tests, whose notes it has."""
        tested = self.told_tables and "disparity" in self.pages
        return [*self.told_tables, *["disparity"] * bool(tested)]

    def told_models(self):
        """The pattern of what the models are, by the flag that names their folder, where the page says it."""
        return {"models": MANIFEST} if "audited_texts" in self.told_tables else {}

    def audit_files(self):
        """The words of the page for programs, and for a model card."""
        return [f"<results>/audit.{form}" for form in ("json", "md")] if self.tells_verdicts else []

    def pages_beside(self):
        """The pages of tables that it names."""
        return [page for page in BESIDE if page in self.pages] if self.tells_verdicts else []

    def files_beside(self):
        """The files that the page names, and that are not made with it."""
        return self.paths(self.told_tables, "csv") + self.paths(self.pages_beside(), "html")

    def page_settings(self):
        """Names and labels of its scores, what is compared and how it was judged, and what the page may show."""
        told = {
            "study": self.config["study"],
            "tables": self.told_tables,
            "pages": self.pages_beside(),
            **self.of_statistics("alpha", "as_often_bound", "confidence", "power"),
        }
        if self.has_scores:
            return self.scores_told(**told)
        of, names = self.explored, self.scored()
        families = {name: names["metrics"][name] for name in self.entries_of(of)["metrics"]}
        settings = {"only": names["only"]} if "only" in names else {}
        return self.shown(
            *COMPARED,
            of=of,
            seeds=names["models"],
            families=families,
            # Those that have the same units are compared by the same.
            comparisons=self.comparisons_of(of[0]),
            target=self.config["explain"]["target"],
            modalities={name: self.modalities[name] for name in of},
            kinds={name: self.config["metrics"][name]["metric"] for name in families if name in self.config["metrics"]},
            formats=self.config["figures"]["formats"],
            random=configuration.random_explainers(self.config),
            faithfulness=bool(self.faithfulness_metrics()),
            frame=self.config["audit"] if self.tells_verdicts and self.config["kind"] == "disparity" else None,
            **told,
            **settings,
        )
