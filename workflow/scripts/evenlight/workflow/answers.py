"""Of answers in words: where they come from, and what is made of them."""

from functools import cached_property
from pathlib import Path

from snakemake.io import expand

from evenlight import configuration
from evenlight.core import kinds, sources
from evenlight.datasets import released
from evenlight.workflow.naming import any_of, as_json, content_of
from evenlight.workflow.patterns import CHANGED_ANSWER, FOLLOW_UP, PREDICTIONS

# The family of metrics that are about questions of which a concept was changed.
QUESTION_FAMILY = "reasons"

# And of those about what follows from an answer.
FOLLOW_UP_FAMILY = "follow_ups"


class Answers:
    """Of answers in words: where they come from, and what is made of them."""

    @cached_property
    def explainers_in_words(self):
        """Explainers in words."""
        return self.explainers_of(kinds.TEXT)

    @cached_property
    def answering_families(self):
        """Families of explainers in words, each with a rule, by what it needs.

        `from_table` needs a table, `from_api` the network and perhaps a key, `local_generation` a model and perhaps a
        GPU.
        """
        return self.explainer_families(kinds.TEXT)

    @cached_property
    def answer_families(self):
        """Families of metrics that score answers, with their metrics."""
        return self.metric_families(kinds.TEXT)

    @cached_property
    def followed(self):
        """What follow-up questions are about."""
        return configuration.followed(self.config)

    def released_digests(self, wildcards):
        """What the files of a part of released answers must contain."""
        return [sources.source(name).sha256 for name in released.RELEASES[wildcards.release].parts[wildcards.part]]

    def released_tables(self, wildcards):
        """The tables that a release is read from, where they are made of an archive."""
        archive = sources.ARCHIVES.get(wildcards.release)
        return expand(f"results/sources/{wildcards.release}/{{table}}", table=archive.tables) if archive else []

    def released_content(self, wildcards):
        """The file of this repository that is needed to read released answers, if any."""
        path = released.RELEASES[wildcards.release].resources
        return [path] if path else []

    def released_resources(self, wildcards):
        """The same, as input of the rule."""
        return [self.repository_file(path) for path in self.released_content(wildcards)]

    def changed_answers(self, wildcards):
        """The answers to changed questions, where the metrics of a family are about these."""
        return CHANGED_ANSWER if wildcards.family == QUESTION_FAMILY else []

    def follow_ups(self, wildcards):
        """The answers to follow-up questions, where the metrics of a family are about these."""
        return FOLLOW_UP if wildcards.family == FOLLOW_UP_FAMILY else []

    def metrics_of_family(self, family):
        """The metrics of a family of answers, each with its settings."""
        return self.metric_settings(self.answer_families.get(family, []))

    def faithfulness_metrics(self):
        """The metrics of the page of faithfulness: of changed questions, and of follow-up questions."""
        return self.metrics_of_family(QUESTION_FAMILY) | self.metrics_of_family(FOLLOW_UP_FAMILY)

    def answerers(self, family):
        """A pattern of the explainers of a family, for its rule."""
        return any_of(self.answering_families.get(family, []))

    def answering_method(self, wildcards):
        """The settings of an explainer in words; of one that is read from a table, with the file of this run."""
        family = self.family_of[wildcards.explainer]
        return self.methods_of(family, wildcards)[wildcards.explainer]

    def without_follow_ups(self, method):
        """The settings of an explainer on which its answers depend: not those of the questions that follow."""
        return {name: value for name, value in method.items() if name != "follow_ups"}

    def recorded_table(self, wildcards):
        """The table that answers are read from: a file of one's own, or one that is fetched."""
        method = self.answering_method(wildcards)
        if method["sha256"]:
            return f"results/sources/{sources.addressed(method['file'], method['sha256'])}"
        return self.own_file(method["file"])

    def answer_settings(self, wildcards, **more):
        """What the answers of an explainer depend on, and what more they do in one family."""
        model = self.config["models"][wildcards.model]
        of_answers = {
            "explainer": wildcards.explainer,
            "family": self.family_of[wildcards.explainer],
            "settings": self.without_follow_ups(self.answering_method(wildcards)),
            "model": model.get("called") or wildcards.model,
            "seed": int(wildcards.seed),
        }
        return as_json(**of_answers | more)

    def follow_up_settings(self, wildcards):
        """What the answers to follow-up questions depend on beside that, those of services and of recorded ones."""
        more = {"name": wildcards.model, "chat": self.chat(wildcards)} if wildcards.model in self.chats else {}
        return self.answer_settings(wildcards, settings=self.answering_method(wildcards), abouts=self.followed, **more)

    def chat(self, wildcards):
        """What a language model behind an address answers by, without how it is asked and what it costs."""
        settings = self.chats[wildcards.model]
        return {
            name: value for name, value in settings.items() if name not in ("asking", "limits", "prices", "datasets")
        }

    def estimated_answers(self, wildcards):
        """What decides how many questions a language model behind an address is asked, and how many it may be."""
        methods = self.methods_of("from_api", wildcards) if "from_api" in self.answering_families else {}
        return as_json(
            name=wildcards.model,
            chat={
                name: value for name, value in self.chats[wildcards.model].items() if name not in ("asking", "datasets")
            },
            explainers=methods,
            follow_ups=self.followed,
            seed=self.seeds_of(wildcards.model)[0],
        )

    def generated_settings(self, wildcards, **more):
        """What the answers of an explainer depend on that a model of the study writes."""
        source = None
        if wildcards.model in self.answers_only:
            settings = configuration.checkpoint(self.config, wildcards.model, wildcards.dataset, int(wildcards.seed))
            source = {key: settings[key] for key in ("source", "revision")}
        return self.answer_settings(wildcards, precision=self.config["explain"]["precision"], checkpoint=source, **more)

    def generated_follow_up_settings(self, wildcards):
        """The same of the questions that follow from them."""
        return self.generated_settings(wildcards, settings=self.answering_method(wildcards), abouts=self.followed)

    def generated_versions(self, wildcards):
        """Versions of what writes answers."""
        return self.versions(
            "generate_answers", "ask_model", models=[wildcards.model], explainers=[wildcards.explainer]
        )

    def predictions_of_writer(self, wildcards):
        """The predictions of a model that predicts, whose explained texts it answers; none of one that answers only."""
        return [] if wildcards.model in self.answers_only else [PREDICTIONS]

    def writer_files(self, wildcards):
        """The files of a model that writes: as the study keeps it, or where it lies."""
        return self.checkpoint_files(wildcards) if wildcards.model in self.answers_only else self.model_files

    def writer_flags(self, wildcards, input):
        """The flags that name what a model has that the study keeps."""
        if not input.predictions:
            return []
        return [f"--model={Path(input.model[0]).parent}", f"--predictions={input.predictions[0]}"]

    def answer_metrics(self, wildcards):
        """What the metrics of one family depend on."""
        return as_json(
            metrics=self.metrics_of_family(wildcards.family),
            language=self.config["datasets"][wildcards.dataset].get("language"),
        )

    def answer_lexicons(self, wildcards):
        """The lexicons of one's own that the metrics of one family name."""
        names = self.answer_families[wildcards.family]
        return [
            self.own_file(self.config["metrics"][name]["file"])
            for name in names
            if self.config["metrics"][name].get("file")
        ]

    @cached_property
    def answer_words(self):
        """The words that come with the project, which a metric may read."""
        return content_of(sorted(self.base.glob("resources/lexicons/*")))
