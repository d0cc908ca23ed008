"""Of verdicts: their families, plans of looks, and what is said of them before a run."""

from functools import cached_property
from itertools import chain
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from evenlight import configuration
from evenlight.core.contracts.results import INTERIM_ANALYSES
from evenlight.core.errors import InputError
from evenlight.statistics.analyses import interim_analyses
from evenlight.statistics.arrays.multiple_testing import Looks
from evenlight.statistics.comparisons import families, look_plans
from evenlight.statistics.comparisons.study import StudyScores
from evenlight.workflow.base import kept


class Verdicts:
    """Of verdicts: their families, plans of looks, and what is said of them before a run."""

    def higher_is_better(self):
        """Of each metric, whether higher scores are the better ones."""
        return {name: metric["better"] == "higher" for name, metric in self.metrics.items()}

    def judged(self):
        """What leads from scores to verdicts."""
        named = self.config["statistics"]["primary"]
        # By the columns of a cell; what names all says nothing.
        primary = {section[:-1]: names for section, names in named.items() if names}
        if self.config["kind"] == "strategies" and not primary:
            primary = {"factor": self.factors_compared()}
        judged = ("alpha", "adjustment", "smallest_effects", "as_often_bound", "confidence", "bootstrap_draws")
        families = {"primary": primary, "noise": configuration.no_hypotheses(self.config)}
        return self.of_statistics(*judged) | families | {"higher_is_better": self.higher_is_better()}

    @cached_property
    def planned_looks(self):
        """The plan of looks: how many pairs, or texts, each has."""
        return self.config["statistics"]["looks"]

    @cached_property
    def looks_made(self):
        """The record of those that were made."""
        return f"{self.folder}/tables/looks.parquet"

    def fixed(self, study):
        """What of a study was planned before the first look, and must not be changed by what it has shown."""
        how = {"pairs", "tokens_per_batch", "items_per_group"}
        judged = (
            "compare",
            "as_often_bound",
            "smallest_effects",
            "primary",
            "strata",
            "smallest_group",
        )
        return {
            **{
                name: configuration.without(study[name], "label")
                for name in ("explainers", "metrics", "models", "datasets")
            },
            **{name: study[name] for name in ("trainings", "seeds")},
            "explain": {key: value for key, value in study["explain"].items() if key not in how},
            **{key: study["statistics"][key] for key in (*judged, "strategies", "claims")},
        }

    def with_defaults(self, planned):
        """What :func:`fixed` gave in an earlier version, with the settings that are new since, at their defaults."""
        sections = {name: value for name, value in planned.items() if name in self.config}
        statistics = {name: value for name, value in planned.items() if name not in self.config}
        return self.fixed(configuration.completed_sections(sections | {"statistics": statistics}))

    @kept
    def looks(self):
        """The plan of looks, where there is one, and how the units of each look are found again."""
        if not self.planned_looks:
            return {"looks": None}
        if self.stored:
            said = "statistics.looks: a storage does not keep the record of looks; leave --default-storage-provider out"
            raise WorkflowError(said)
        plan = self.of_statistics("looks", "spending", "spending_shares", "plan")
        settings = look_plans.settings_as_written(
            Path(self.looks_made), plan["plan"], self.fixed(self.config), self.with_defaults
        )
        drawn_by = {
            dataset: self.sample(dataset)["factors"]
            for dataset in self.config["datasets"]
            if self.sample(dataset)["factors"]
        }
        return {"looks": plan | {"settings": settings}, "drawn_by": drawn_by}

    @cached_property
    def plan(self):
        """The plan of looks, of a study that has one."""
        return look_plans.Plan.of(look_plans.Planned(**self.looks()["looks"]), self.config["statistics"]["alpha"])

    def refuse_what_voids_the_plan(self):
        """Refuse a record of looks that is lost or edited, and another plan than it has, when the study is planned."""
        plan = self.plan
        try:
            record = look_plans.read_record(Path(self.looks_made), plan)
            look_plans.refuse_another_plan(record, plan, self.config["explain"]["pairs"])
        except InputError as error:
            raise WorkflowError(str(error)) from None

    @cached_property
    def analyses(self):
        """The record of interim analyses, of all studies that make verdicts."""
        return f"{self.folder}/tables/interim_analyses.parquet"

    def analysis_settings(self):
        """What an interim analysis is written down with, whatever makes its verdicts."""
        pairs = {dataset: self.sample(dataset)["pairs"] for dataset in self.config["datasets"]}
        plan = self.config["statistics"]["plan"] if self.planned_looks else ""
        return {"record": self.analyses, "plan": plan, "pairs": pairs} | self.of_statistics("alpha")

    def own_files_of(self, dataset):
        """The user's own files that a dataset is read from, those that are there, by name."""
        return {name: path for name in self.readers[dataset].named_files() if (path := Path(name)).is_file()}

    def filed_audit(self):
        """The audit of an earlier study that this one is compared with."""
        path = self.config["audit"]["baseline"]
        if Path(path).resolve().is_relative_to(Path(self.folder).resolve()):
            raise WorkflowError(
                f"audit.baseline: {path}: this study writes there; keep a copy elsewhere and name it, or give `study` "
                "another name"
            )
        if not (self.archived or Path(path).is_file()):
            raise WorkflowError(f"audit.baseline: {path}: no such file; name the audit.json of an earlier audit")
        return self.own_file(path)

    def tell_interim_analyses(self):
        """Say before the run where it may judge other texts than before without a plan; refuse a late plan."""
        statistics = self.config["statistics"]
        plan = statistics["plan"] if self.planned_looks else ""
        if self.stored:
            logger.warning("note: a storage keeps no record of interim analyses: levels of earlier ones are not told")
        try:
            record = look_plans.read_kept(Path(self.analyses), INTERIM_ANALYSES)
            if self.planned_looks:
                interim_analyses.refuse_late_plan(record, plan)
            named = {name: name for name in self.readers}
            if self.has_scores:
                # The table names its datasets itself.
                named = dict.fromkeys(record["dataset"], *self.readers)
            pairs = {name: self.sample(dataset)["pairs"] for name, dataset in named.items()}
            paths = {name: self.own_files_of(dataset) for name, dataset in named.items()} if len(record) else {}
            said = [] if self.stored else interim_analyses.describe_lost(Path(self.analyses))
            said += interim_analyses.foresee(record, plan=plan, level=statistics["alpha"], pairs=pairs, paths=paths)
        except InputError as error:
            raise WorkflowError(str(error)) from None
        for text in said:
            logger.warning(f"warning: {text}")

    def tell_too_few_pairs(self):
        """Say before the run where so few pairs are explained that no verdict can come of them."""
        judged = self.judged()
        sizes = families.sizes_of_families(StudyScores(**self.scores_compared()), judged["primary"], judged["noise"])
        if self.planned_looks:
            plan = self.plan
            increments = Looks(plan.planned, tuple(range(len(plan.planned))), plan.spending).increments(plan.alpha)
            said = families.too_few_planned(sizes, plan.planned, increments)
        else:
            drawn = {dataset: self.sample(dataset)["pairs"] for dataset in self.config["datasets"]}
            alone = {name: drawn.pop(name) for name, reader in self.readers.items() if not reader.has_pairs()}
            said = [
                *families.too_few_pairs(sizes, drawn, self.config["statistics"]["alpha"]),
                *families.too_few_texts(alone, {name: self.groups_compared(name) for name in alone if sizes}),
            ]
        for text in said:
            logger.warning(f"warning: {text}")

    def groups_compared(self, dataset):
        """How many groups of a dataset are compared: of the factor with the most."""
        compared = self.config["statistics"]["compare"].items()
        counts = [len({*chain(*sets)}) for factor, sets in compared if factor in self.factors_of(dataset)]
        return max(counts, default=0)

    def factors_compared(self):
        """What strategies are compared by on all texts: with the baseline, and by claims; subsets have factors too."""
        return ["strategy", *self.config["statistics"]["claims"]]

    def names_compared(self):
        """The names and labels of models and explainers in cells, where they are not those of the study.

        Of strategies the architectures that have several are the models of a cell, and the mean of several explainers
        is one more explainer.
        """
        if self.config["kind"] != "strategies":
            return {}
        explainers = {name: self.label("explainers", name) for name in self.config["explainers"]}
        if len(self.together()) > 1:
            explainers["all"] = "all methods together"
        compared = [name for name, models in self.config["statistics"]["strategies"].items() if len(models) > 1]
        return {"models": {name: name for name in compared}, "explainers": explainers}

    def effects_drawn(self):
        """Which factors are drawn, where there are more than a figure can show."""
        return {"factors": self.factors_compared()} if self.config["kind"] == "strategies" else {}
