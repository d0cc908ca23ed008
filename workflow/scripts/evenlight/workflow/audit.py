"""Of audits: which tables they read, and what they may show."""

from functools import cached_property

from evenlight import configuration
from evenlight.core import kinds
from evenlight.jobs.arguments import as_argument
from evenlight.workflow.naming import as_json
from evenlight.workflow.patterns import COMPARED, SCORES, TEXTS

# What an audit of answers reads, the verdicts first.
AUDITED_OF_ANSWERS = (
    "effects",
    "effect_counts",
    "disparity",
    "verdict_control",
    "interim_analyses",
    "audited_questions",
    "texts_needed",
    "draws",
    "answered",
    "decided",
    "decisions",
)

# What every audit shows beside the verdicts.
AUDITED = ("interim_analyses", "audited_texts", "audited_groups", "different_texts", "texts_needed", "without_words")
# Beside those, what an audit of attributions shows of decisions.
DECIDED = "decision_rates"

# The pages that an audit names as its evidence, where the study has them.
EVIDENCE = (
    "disparity",
    "effects",
    "control",
    "covariate_adjusted",
    "models",
    "costs",
    "beyond_random",
    "reliance",
    "looks",
)

# The pages of tables that only some studies have, with the tables that the audit reads.
SOMETIMES = {
    "beyond_random": ["beyond_random"],
    "reliance": ["pair_invariance", "group_reliance", "words_by_group"],
}


class Audit:
    """Of audits: which tables they read, and what they may show."""

    @cached_property
    def audit_of_answers(self):
        """Beside the audit of attributions, that of answers has a name of its own; each names the page of the other."""
        return "audit_answers" if self.explainers else "audit"

    @cached_property
    def beside_attributions(self):
        """The page beside the audit of attributions."""
        return f"{self.audit_of_answers}.html" if kinds.TEXT in self.modalities else None

    @cached_property
    def beside_answers(self):
        """The page beside the audit of answers."""
        return "audit.html" if self.explainers else None

    @cached_property
    def first_explainers(self):
        """Of each dataset one that explains it."""
        return list(dict.fromkeys(names[0] for names in self.runs.sets_of(self.explainers)))

    def audited_pages(self):
        """Those of them that this study has."""
        return [page for page in SOMETIMES if page in self.tables]

    def audited_tables(self):
        """The tables that the audit reads, of these pages and of its own."""
        always = [
            "effects",
            "effect_counts",
            "disparity",
            "verdict_control",
            "models",
            "balanced_accuracy",
            "costs",
            *AUDITED,
            DECIDED,
        ]
        return (
            always
            + [table for page in self.audited_pages() for table in SOMETIMES[page]]
            + self.shown_texts(["examples"])
        )

    def counted_texts(self, families, explainers, of):
        """What the texts of an audit are counted by: the scores of one family, whose texts are those of all."""
        family = next(iter(families))
        names = {"family": family, "explainers": explainers, "comparisons": self.comparisons_of(of)}
        return {
            "settings": as_argument(self.runs_of_study() | names),
            "of_runs": {
                "scores": (SCORES, self.every(SCORES, family=family, explainer=explainers)),
                **self.of_runs(TEXTS),
            },
            "minutes": 30,
        }

    def texts_needed(self):
        """What estimates how many texts, or questions with answers, would decide what is open."""
        return {
            "about": "How many texts would decide each question that is open.",
            "tables": ["texts_needed"],
            "settings": as_json(**self.of_statistics("as_often_bound", "power")),
            "reads": ["effects"],
        }

    def hidden_tokens(self):
        """In which ways the metrics hide words."""
        return sorted(
            {metric["hidden_token"] for metric in self.config["metrics"].values() if "hidden_token" in metric}
        )

    def answer_audit_settings(self):
        """Names, labels, what each metric measures, whether words may be told, and probabilities."""
        names = self.scored(kinds.TEXT)["metrics"]
        return self.shown(
            *COMPARED,
            of=kinds.TEXT,
            study=self.config["study"],
            kinds={name: self.config["metrics"][name]["metric"] for name in names},
            texts=bool(self.shown_texts([True], kinds.TEXT)),
            faithfulness=bool(self.faithfulness_metrics()),
            beside=self.beside_answers,
            frame=self.config["audit"],
            **self.of_statistics("alpha", "as_often_bound", "power"),
        )

    def audit_settings(self):
        """As the explorer's, without figures; with which power something is found, and which words may be told."""
        reliance = {"random": configuration.random_explainers(self.config), "words": self.config["explorer"]["texts"]}
        return self.whole_study(
            of=[kinds.TOKENS],
            pages=self.audited_pages(),
            beside=self.beside_attributions,
            frame=self.config["audit"],
            reliance=reliance | self.of_statistics("confidence"),
            **self.of_statistics("alpha", "as_often_bound", "power"),
        )
