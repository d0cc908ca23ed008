"""Of studies of scores that were made elsewhere: how their table is read and judged, and what shows it."""

import json
from functools import cached_property
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from evenlight import configuration
from evenlight.core.errors import InputError
from evenlight.jobs.arguments import as_argument
from evenlight.statistics import interim_analyses
from evenlight.workflow.naming import as_json


class Scores:
    """Of studies of scores that were made elsewhere: how their table is read and judged, and what shows it."""

    @cached_property
    def has_scores(self):
        """Whether the study is one of scores that were made elsewhere."""
        return configuration.has_scores(self.config)

    @cached_property
    def score_table(self):
        """The reader of the table."""
        return next(iter(self.readers.values()))

    def table_of_scores(self):
        """The table, as what a result reads of all runs."""
        [path] = self.score_table.named_files()
        return {"scores": ("<folder>/{folder}/{file}", [self.own_file(path)])}

    def table_settings(self, **settings):
        """What is made of the table depends on how it is read, and on further ``settings``."""
        # Not sorted: the order of columns is that of the cells.
        return as_argument({"table": self.score_table.model_dump()} | settings)

    def judging_settings(self):
        """What its verdicts depend on: levels and interim analyses."""
        level = self.of_statistics("alpha", "as_often_bound", "adjustment", "confidence")
        draws = {"draws": self.config["statistics"]["bootstrap_draws"]}
        return self.table_settings(**level, **draws, **self.planned_analyses())

    def planned_analyses(self):
        """The plan of interim analyses, where there is one, and what must not change after the first of them."""
        if not self.planned_looks:
            return {}
        if self.stored:
            said = "statistics.looks: a storage does not keep the record of looks; leave --default-storage-provider out"
            raise WorkflowError(said)
        fixed = self.score_table.model_dump(exclude_defaults=True, exclude={"file", "show_texts", "swap_classes"})
        settings = json.dumps(fixed | self.of_statistics("as_often_bound"), sort_keys=True)
        plan = self.of_statistics("looks", "spending", "spending_shares", "plan")
        return {"looks": plan | {"settings": settings}}

    def recorded_settings(self, record, **settings):
        """What is written down of analyses in the file ``record``."""
        [path] = self.score_table.named_files()
        return as_json(record=record, file=path, **self.of_statistics("alpha"), **settings)

    def tell_score_analyses(self):
        """Say before the run where it may judge other units than before without a plan; refuse a late plan."""
        if self.stored:
            logger.warning("note: a storage keeps no record of interim analyses: levels of earlier ones are not told")
        statistics = self.config["statistics"]
        plan = statistics["plan"] if self.planned_looks else ""
        try:
            record = interim_analyses.read_analyses(Path(self.analyses))
            if self.planned_looks:
                interim_analyses.refuse_late_plan(record, plan)
            # The table names its datasets itself.
            named = list(record["dataset"].unique())
            own = self.own_files_of(next(iter(self.readers)))
            said = [] if self.stored else interim_analyses.describe_lost(Path(self.analyses))
            said += interim_analyses.foresee(
                record,
                plan=plan,
                level=statistics["alpha"],
                pairs=dict.fromkeys(named),
                paths=dict.fromkeys(named, own),
            )
        except InputError as error:
            raise WorkflowError(str(error)) from None
        for text in said:
            logger.warning(f"warning: {text}")

    def scores_told(self, *keys, **settings):
        """The settings of what shows scores: names and labels are those of its tables."""
        [name] = self.readers
        scored = {"dataset": name, "better": self.score_table.better}
        return as_argument({"scored": scored} | self.of_statistics(*keys) | settings)
