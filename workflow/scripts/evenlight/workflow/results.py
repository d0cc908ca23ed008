"""Of results: which files of all runs each of them reads."""

from functools import cached_property

from snakemake.ioflags import update

from evenlight.core import kinds
from evenlight.workflow.base import kept
from evenlight.workflow.patterns import PREDICTIONS, SCORES, TEXTS, UNITS


class Results:
    """Of results: which files of all runs each of them reads."""

    @kept
    def of_runs(self, *patterns):
        """What a result reads of all runs, for Result: patterns below <results>, whose first folder is the flag."""
        return {pattern.split("/")[1]: (pattern, self.files_of_runs(pattern)) for pattern in patterns}

    @kept
    def files_of_runs(self, pattern):
        """All files of a pattern that the study has; where it names explainers, of those that explain texts."""
        if pattern == SCORES:
            return self.every_score()
        if pattern in UNITS.values():
            return self.every(pattern, table=["items", "units"])
        return self.every(pattern, **({"explainer": self.explainers} if "{explainer}" in pattern else {}))

    @cached_property
    def scored_patterns(self):
        """What compares scores needs all of these: strata may follow from how the models read a text."""
        return (SCORES, *self.explained.values(), *[PREDICTIONS] * (not self.answers_only))

    def of_texts(self, *patterns):
        """The same of explanations of texts alone, and what else a result reads of all runs."""
        return {"scores": (SCORES, self.every_score(kinds.TOKENS)), **self.of_runs(TEXTS, PREDICTIONS, *patterns)}

    def written(self, result):
        """The files of a result's tables, which are deleted before the job only where it does not add to them."""
        paths = [f"<results>/tables/{table}.parquet" for table in result.tables]
        return [update(path) for path in paths] if result.keeps and not self.stored else paths

    def folders_of(self, result):
        """The flags that name the folders of what a result reads of all runs."""
        return self.folders(**{flag: pattern for flag, (pattern, _) in result.of_runs.items()})
