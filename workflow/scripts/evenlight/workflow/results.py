"""Of results: which of them a study has, and what each of them reads."""

from functools import cached_property
from pathlib import Path

from snakemake.ioflags import update

from evenlight.core import kinds
from evenlight.judging.results import Result
from evenlight.workflow.base import kept
from evenlight.workflow.naming import as_argument
from evenlight.workflow.patterns import BASELINE, OF_RUNS, SCORE_TABLE, UNITS


class Results:
    """Of results: which of them a study has, and what each of them reads."""

    @cached_property
    def results(self):
        """The results of the study, by the names of their rules: classes of ``Result``."""
        return {name: result for name, result in Result.entries.items() if result.is_made(self)}

    @cached_property
    def table_of(self):
        """The names of all tables of results, by those of their contracts."""
        return {contract.name: table for result in Result.entries.values() for table, contract in result.tables.items()}

    def names_of(self, contracts):
        """The names of the tables that some contracts are of."""
        return [self.table_of[contract.name] for contract in contracts]

    def files_of_runs(self, *folders, of=None, **values):
        """The files of all runs in some folders below <results>, by the folder; see Result.folders.

        ``of``: the modality of the explanations; of scores all without, else tokens. ``values``: of wildcards, where
        not all are meant.
        """
        found = {}
        for folder in folders:
            if folder in SCORE_TABLE:
                found[folder] = [self.own_file(self.score_table.file)]
            elif folder in BASELINE:
                found[folder] = [self.filed_audit()]
            elif folder == "units":
                found |= {name: self.every_unit(name) for name in self.explained}
            elif folder in UNITS:
                found[folder] = self.every_unit(folder)
            elif folder == "scores" and not values:
                found[folder] = self.every_score(of)
            elif folder != "predictions" or not self.answers_only:
                explainers = {"explainer": self.explainers_of(of or kinds.TOKENS)}
                wildcards = explainers if "{explainer}" in OF_RUNS[folder] else {}
                found[folder] = self.every(OF_RUNS[folder], **wildcards | values)
        return found

    @kept
    def read(self, result):
        """What a result reads beside tables, by the flag that names its folder."""
        resources = [self.repository_file(path) for path in result.resources]
        return result.files_of_runs(self) | ({Path(result.resources[0]).parent.name: resources} if resources else {})

    def folders_read(self, result):
        """The flags that name these folders."""
        patterns = OF_RUNS | SCORE_TABLE | BASELINE | {Path(path).parent.name: path for path in result.resources}
        return self.folders(**{flag: patterns[flag] for flag in self.read(result)})

    def written(self, result):
        """The files of a result's tables, which are deleted before the job only where it does not add to them."""
        paths = self.paths(result.tables)
        return [update(path) for path in paths] if result.keeps and not self.stored else paths

    def paths(self, tables, form="parquet"):
        """Where tables of results lie."""
        return [f"<results>/tables/{table}.{form}" for table in tables]

    def csv_shown(self):
        """The tables as CSV that the target `tables` makes: those of pages, and those that stand alone."""
        of_pages = [table for page in self.tabulated for table in self.tables_of(page)]
        alone = [table for result in self.results.values() if result.alone for table in result.tables]
        return self.paths(dict.fromkeys(of_pages + alone), "csv")

    def settings_of(self, result):
        """The settings of a result. Not sorted: the order of the configuration is that of the tables."""
        return as_argument(result.asked(self))
