"""Of studies of scores that were made elsewhere: the reader of their table, and what shows it."""

import json
from functools import cached_property

from snakemake.exceptions import WorkflowError

from evenlight.core import kinds
from evenlight.workflow.naming import as_argument


class Scores:
    """Of studies of scores that were made elsewhere: the reader of their table, and what shows it."""

    @cached_property
    def has_scores(self):
        """Whether the study is one of scores that were made elsewhere."""
        return self.config["kind"] == kinds.SCORES

    @cached_property
    def score_table(self):
        """The reader of the table."""
        [reader] = self.readers.values()
        return reader

    def planned_analyses(self):
        """The plan of interim analyses, where there is one, and what must not change after the first of them."""
        if not self.planned_looks:
            return None
        if self.stored:
            said = "statistics.looks: a storage does not keep the record of looks; leave --default-storage-provider out"
            raise WorkflowError(said)
        fixed = self.score_table.model_dump(exclude_defaults=True, exclude={"file", "show_texts", "swap_classes"})
        settings = json.dumps(fixed | self.of_statistics("as_often_bound"), sort_keys=True)
        return self.of_statistics("looks", "spending", "spending_shares", "plan") | {"settings": settings}

    def scores_told(self, *keys, **settings):
        """The settings of what shows scores: names and labels are those of its tables."""
        [name] = self.readers
        scored = {"dataset": name, "better": self.score_table.better}
        return as_argument({"scored": scored} | self.of_statistics(*keys) | settings)
