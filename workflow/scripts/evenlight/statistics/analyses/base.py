"""What every result of a study is: its settings, the tables that it reads and makes, and how they are computed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
from pydantic import model_validator

from evenlight.core.contracts.results import LOOKS
from evenlight.core.kinds import KINDS, MODALITIES, TOKENS
from evenlight.core.tables import Contract
from evenlight.settings import Entry
from evenlight.statistics.arrays.multiple_testing import ONE_LOOK, Looks
from evenlight.statistics.comparisons.files import Runs, notes_of_datasets
from evenlight.statistics.comparisons.look_plans import Plan, Planned, looks_of
from evenlight.statistics.comparisons.study import StudyScores, VerdictSettings


@dataclass(frozen=True)
class Inputs:
    """What a result reads.

    Attributes:
        folders: of what runs have made, by the names that the rule gives them.
        tables: those that the result ``reads``, in this order.
        notes: what is to be said of each of these tables.
    """

    folders: Mapping[str, Path]
    tables: Sequence[pd.DataFrame] = ()
    notes: Sequence[Sequence[str]] = ()

    def located(self, study: StudyScores) -> StudyScores:
        """The scores of a study with the folders in which they are."""
        units = {name: self.folders[of.units] for name, of in MODALITIES.items() if of.units in self.folders}
        return replace(
            study,
            folders={**self.folders, "units": next(iter(units.values()))},
            modalities={name: {**of, "units": units[name]} for name, of in study.modalities.items()},
        )


@dataclass(frozen=True)
class Computed:
    """What a result has made.

    Attributes:
        tables: in the order of the entry's ``tables``.
        notes: what is to be said of them on every page; the first table keeps it.
        said: lines for the log. Those that begin with ``warning:`` are shown where the run was started, too.
        about: what else the first table says of itself.
    """

    tables: Sequence[pd.DataFrame]
    notes: Sequence[str] = ()
    said: Sequence[str] = ()
    about: Mapping[str, Any] = field(default_factory=dict)


class Result(Entry):
    """A result of a study: one class has its settings, its tables and its computing, which the rule of its name runs.

    A job is given its settings side by side. Of a field whose class is a dataclass, such as :class:`Runs`, are those
    that the class has fields for.

    The first line of its documentation says what its rule is for. Class methods are asked by the rules, of the study
    that they make (:class:`evenlight.workflow.study.Study`).

    Attributes:
        tables: the contracts of the tables that it makes, in order, by the names of their files.
        reads: the same of those that it reads.
        of_kinds: the kinds of study that have it, all that explain.
        modality: what the explanations are that it is about, without which a study does not have it; None for all.
        folders: what of all runs it reads, by the names of the folders below <results>. Of ``units`` are those of items
            and units that are explained.
        resources: files of this repository that it reads, all in one folder, whose content counts.
        minutes: how long it may take; a result without this is small, and is not sent to other machines.
        keeps: whether it adds to its tables that are there.
        alone: whether a study that has it makes it though no page of tables and no other result reads it.
    """

    section: ClassVar[str] = "results"
    key: ClassVar[str] = "result"
    entries: ClassVar[dict[str, type["Result"]]] = {}
    tables: ClassVar[Mapping[str, Contract]]
    reads: ClassVar[Mapping[str, Contract]] = {}
    of_kinds: ClassVar[Collection[str]] = tuple(name for name, kind in KINDS.items() if kind.only)
    modality: ClassVar[str | None] = None
    folders: ClassVar[Sequence[str]] = ()
    resources: ClassVar[Sequence[str]] = ()
    minutes: ClassVar[int | None] = None
    keeps: ClassVar[bool] = False
    alone: ClassVar[bool] = False

    result: str

    @classmethod
    def about(cls) -> str:
        """What it is for, in a line."""
        return (cls.__doc__ or "").partition("\n")[0]

    @classmethod
    def is_made(cls, study) -> bool:
        """Whether a study has it."""
        return study.config["kind"] in cls.of_kinds and cls.modality in {None, *study.modalities}

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """Its settings in a study, in the configuration's order: each field that is named as a key of `statistics`.

        What is null, and need not be given, is left out, so that a new field computes nothing again.
        """
        given = study.of_statistics(*(name for name in cls.model_fields if name in study.config["statistics"]))
        fields_of = cls.model_fields
        return {name: value for name, value in given.items() if value is not None or fields_of[name].is_required()}

    @classmethod
    def files_of_runs(cls, study) -> dict[str, list[str]]:
        """The files of its ``folders`` that a study has."""
        return study.files_of_runs(*cls.folders, of=cls.modality)

    @classmethod
    def tables_read(cls, study) -> list[str]:
        """The tables that it reads in a study."""
        return list(cls.reads)

    @model_validator(mode="before")
    @classmethod
    def _in_parts(cls, settings: Any) -> Any:
        for name, of_class in cls.model_fields.items():
            if is_dataclass(of_class.annotation) and name not in settings:
                names = {each.name for each in fields(of_class.annotation)}
                part = {key: settings[key] for key in settings if key in names}
                settings = {key: settings[key] for key in settings if key not in names} | {name: part}
        return settings

    def compute(self, inputs: Inputs) -> Computed:
        """The tables of the result, and what is to be said of them."""
        raise NotImplementedError

    def notes_of_datasets(self) -> list[str]:
        """Which of its models and explainers are for some datasets only."""
        return []


class OfRuns(Result):
    """A result of what runs have made."""

    runs: Runs

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The runs; its explainers and comparisons, if it has such fields; and settings of the statistics."""
        of = cls.modality or TOKENS
        named = {"explainers": study.explainers_of(of), "comparisons": study.comparisons_of(of)}
        named = {name: value for name, value in named.items() if name in cls.model_fields}
        return cls.runs_asked(study) | named | super().asked(study)

    @classmethod
    def runs_asked(cls, study) -> dict[str, Any]:
        """What runs it is of."""
        return study.runs_of_study()

    def notes_of_datasets(self) -> list[str]:
        """Which of its models and explainers are for some datasets only."""
        sections = {"models", *type(self).model_fields}
        return notes_of_datasets({name: only for name, only in self.runs.only.items() if name in sections})


class OfModels(OfRuns):
    """A result of what models have made, which depends on no explainer."""

    @classmethod
    def runs_asked(cls, study) -> dict[str, Any]:
        """The same runs, without what is said of explainers."""
        return study.runs_of_models()


class OfScores(Result):
    """A result of scores, which compares them."""

    folders: ClassVar[Sequence[str]] = ("scores", "units", "predictions")

    study: StudyScores

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The scores, what is compared of them, and settings of the statistics."""
        return study.scores_compared(cls.modality) | super().asked(study)

    def notes_of_datasets(self) -> list[str]:
        """Which of its models and explainers are for some datasets only."""
        return notes_of_datasets(self.study.only)


class Judged(OfScores):
    """A result of scores that has verdicts: ``judging`` leads from scores to them."""

    judging: VerdictSettings

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """As of scores, and what verdicts are made by."""
        return super().asked(study) | study.judged()


class JudgedAtLooks(Judged):
    """A result whose verdicts hold over the looks that are planned, where there are ``looks``."""

    reads: ClassVar[Mapping[str, Contract]] = {"looks": LOOKS}

    looks: Planned | None = None

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """As of verdicts, and the plan of looks where there is one."""
        return super().asked(study) | study.looks()

    @classmethod
    def tables_read(cls, study) -> list[str]:
        """The record of looks, where they are planned."""
        return super().tables_read(study) if study.planned_looks else []

    def looks_made(self, inputs: Inputs) -> Looks:
        """The looks that were made, of which the first table that is read is the record; one where none are planned."""
        return looks_of(Plan.of(self.looks, self.judging.alpha), inputs.tables[0]) if self.looks else ONE_LOOK


def describe_left_out(explainers: Sequence[str]) -> list[str]:
    """What a table of explained tokens says where the study explains in words or by changes, too, by these explainers.

    >>> describe_left_out(["leace", "tcav"]), describe_left_out([])
    (["explanations of changes of a concept, or in words, are not in this table: 'leace', 'tcav'"], [])
    """
    listed = ", ".join(map(repr, explainers))
    return [f"explanations of changes of a concept, or in words, are not in this table: {listed}"] if listed else []
