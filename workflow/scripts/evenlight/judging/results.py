"""The results of a study of scores that were made elsewhere: the table as it was read, verdicts, and their records.

All results of all studies are known once this module is imported.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import (
    EFFECT_COUNTS,
    EFFECTS,
    INTERIM_ANALYSES,
    JUDGED_SCORES,
    LOOKS,
    VERDICT_CONTROL,
)
from evenlight.core.errors import InputError
from evenlight.core.kinds import SCORES
from evenlight.core.sources import digest
from evenlight.core.tables import Contract
from evenlight.datasets.readers.scores import Scores
from evenlight.judging.arguments import named_as
from evenlight.statistics.analyses.base import Computed, Inputs
from evenlight.statistics.analyses.effects import EstimateEffects
from evenlight.statistics.analyses.interim_analyses import (
    COMPARISON,
    describe_repeated,
    of_present,
    with_analyses,
)
from evenlight.statistics.analyses.judged_texts import COUNTED
from evenlight.statistics.analyses.look_records import with_look
from evenlight.statistics.comparisons.look_plans import (
    Plan,
    Planned,
    looks_of,
    now_as_text,
    read_kept,
    read_record,
    record_digest,
    refuse_another_plan,
)
from evenlight.statistics.comparisons.study import ALL
from evenlight.statistics.results import Result as Result
from evenlight.texts.score_tables import NAMES, ScoreTable, pairs_compared, read_score_table


def _by(rule: str, **tables: Contract) -> dict[str, Contract]:
    """The contracts of tables that another rule makes in other studies."""
    return {name: replace(contract, rule=rule) for name, contract in tables.items()}


def judged_scores(table: ScoreTable) -> pd.DataFrame:
    """The scores of a table, rows of :data:`JUDGED_SCORES`: of several columns with scores one after the other."""
    # A code of −1, which strata may have, takes the last name: none.
    named = {role: np.array([*table.names[role], None], dtype=object)[codes] for role, codes in table.codes.items()}
    rows = {role: named.get(role, ALL) for role in NAMES}
    rows |= {"factor": table.columns.group, "level": named["group"], "unit_id": named["unit"]}
    rows |= {"cluster": named.get("cluster", named["unit"]), "repetition": named.get("repeat", "0")}
    rows["stratum"] = named.get("stratum")
    of_columns = [
        {**rows, "score": scores} | ({} if "metric" in named else {"metric": name})
        for name, scores in table.scores.items()
    ]
    parts = [pd.DataFrame(columns, index=range(len(table))) for columns in of_columns]
    return pd.concat(parts, ignore_index=True)[JUDGED_SCORES.schema.names]


class OfScoreTable(Result):
    """A result of a study whose scores were made elsewhere."""

    of_kinds: ClassVar[Collection[str]] = (SCORES,)


class OfTable(OfScoreTable):
    """A result of a table of scores, which ``table`` says how to read."""

    folders: ClassVar[Sequence[str]] = ("score_table",)

    table: Scores

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """How the table is read. Not sorted: the order of its columns is that of the cells."""
        return {"table": study.score_table.model_dump()} | super().asked(study)

    def path(self, inputs: Inputs) -> Path:
        """Where the table is."""
        return inputs.folders["score_table"] / Path(self.table.file).name

    def named_as_keys(self) -> AbstractContextManager[None]:
        """What is refused names keys of the configuration, and no arguments of Python."""
        return named_as({name: f"the key '{name}'" for name in Scores.model_fields})


class ReadScores(OfTable):
    """Read a table of scores, and refuse what is no score."""

    tables: ClassVar[Mapping[str, Contract]] = {"judged_scores": JUDGED_SCORES}
    minutes: ClassVar[int] = 30

    result: Literal["read_scores"]

    def compute(self, inputs: Inputs) -> Computed:
        """A row for each score, and what was guessed of columns."""
        path = self.path(inputs)
        with self.named_as_keys():
            table, guesses = read_score_table(path, self.table.columns())
            pairs_compared(table, self.table.compare)
        said = [f"guessed {guess}" for guess in guesses]
        return Computed([judged_scores(table)], table.notes, said, {"file": path.name, "sha256": digest(path)})


class JudgeScores(OfTable):
    """Which group has the better scores more often, in every cell of a table: what ``evenlight judge`` says of it.

    Attributes:
        looks: the interim analyses, where they are planned.
        alpha, as_often_bound, adjustment, confidence: as :func:`evenlight.judging.judge` has them.
        bootstrap_draws, verdict_permutations: what is ``draws`` and ``permutations`` there.
    """

    tables: ClassVar[Mapping[str, Contract]] = _by(
        "judge_scores", effects=EFFECTS, effect_counts=EFFECT_COUNTS, verdict_control=VERDICT_CONTROL
    )
    # An analysis is written down before its verdicts are known.
    reads: ClassVar[Mapping[str, Contract]] = {"looks": LOOKS}
    # Above that of effects, by what a table of scores calls repetitions and units.
    version: ClassVar[int] = EstimateEffects.version + 1
    minutes: ClassVar[int] = 120

    result: Literal["judge_scores"]
    looks: Planned | None = None
    alpha: float
    as_often_bound: float
    adjustment: str
    confidence: float
    bootstrap_draws: int
    verdict_permutations: int

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The table and the levels, and the plan of interim analyses where there is one."""
        return super().asked(study) | {"looks": study.planned_analyses()}

    @classmethod
    def tables_read(cls, study) -> list[str]:
        """The record of interim analyses, where they are planned."""
        return super().tables_read(study) if study.planned_looks else []

    def compute(self, inputs: Inputs) -> Computed:
        """A row per comparison with its verdict, and a row per set of comparisons."""
        from evenlight.judging import judge

        of_table = {name: getattr(self.table, name) for name in ("compare", "better", "margin", "primary")}
        level = {name: getattr(self, name) for name in ("alpha", "as_often_bound", "adjustment", "confidence")}
        level |= {"draws": self.bootstrap_draws, "permutations": self.verdict_permutations}
        planned = {"planned": list(self.looks.looks), "spending": self.looks.spending} if self.looks else {}
        with self.named_as_keys():
            found = judge(self.path(inputs), **self.table.columns(), **of_table, **level, **planned)
        about = {}
        if self.looks:
            # The record keeps the looks of other plans, too.
            made = looks_of(Plan.of(self.looks, self.alpha), inputs.tables[0])
            about = {"looks": {self.looks.plan: made.units}}
        return Computed([found.verdicts, found.counts, found.control], found.notes, str(found).splitlines(), about)


def first_units(scores: pd.DataFrame, units: int | None) -> pd.DataFrame:
    """The rows of the first so many units of each dataset, in the order of the rows; of all without a number."""
    if units is None:
        return scores
    number = scores.groupby("dataset", sort=False)["unit_id"].transform(lambda names: pd.factorize(names)[0])
    return scores[number < units]


def _digest(*columns: pd.Series) -> str:
    rows = sorted(set(zip(*columns, strict=True)))
    return hashlib.sha256("\n".join(map(json.dumps, rows)).encode()).hexdigest()


def judged_units(scores: pd.DataFrame, comparisons: pd.DataFrame) -> pd.DataFrame:
    """The units that each comparison judges, as :func:`evenlight.statistics.analyses.judged_texts.judged_texts` gives
    texts.

    Neither the order of units nor their scores change the digest, nor do new metrics or explainers.

    Args:
        scores: rows of :data:`JUDGED_SCORES`, those that are judged.
        comparisons: rows with the columns of ``COMPARISON``.
    """
    units = scores.drop_duplicates(["dataset", "model", "level", "unit_id"])
    rows = []
    for place in comparisons[COMPARISON].drop_duplicates().itertuples(index=False):
        levels = sorted([place.level_a, place.level_b])
        there = units[(units["dataset"] == place.dataset) & (units["model"] == place.model)]
        there = there[there["level"].isin(levels)]
        both = there["unit_id"].duplicated(keep=False)
        there = there[both] if both.sum() > 2 else there
        counts = [int((there["level"] == level).sum()) for level in levels]
        found = _digest(there["level"], there["unit_id"], there["cluster"])
        rows.append([place.dataset, place.model, place.factor, *levels, *counts, found])
    return pd.DataFrame(rows, columns=[*COMPARISON, *COUNTED])


class RecordScoreAnalyses(OfScoreTable):
    """Write down which units the verdicts have judged, and say where they were judged several times without a plan.

    Attributes:
        record: the file of the record, which need not be there.
        file: the table of scores.
        plan, alpha: as :func:`evenlight.statistics.analyses.interim_analyses.with_analyses` has them.
    """

    tables: ClassVar[Mapping[str, Contract]] = _by("record_score_analyses", interim_analyses=INTERIM_ANALYSES)
    reads: ClassVar[Mapping[str, Contract]] = {"judged_scores": JUDGED_SCORES, "effects": EFFECTS, "looks": LOOKS}
    folders: ClassVar[Sequence[str]] = ("score_table",)
    keeps: ClassVar[bool] = True

    result: Literal["record_score_analyses"]
    record: str
    file: str
    plan: str
    alpha: float

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """What an analysis is written down with."""
        plan = {} if study.planned_looks else {"plan": ""}
        return super().asked(study) | plan | {"record": study.analyses, "file": study.score_table.file}

    @classmethod
    def tables_read(cls, study) -> list[str]:
        """The record of looks only where they are planned."""
        return [name for name in super().tables_read(study) if name != "looks" or study.planned_looks]

    def compute(self, inputs: Inputs) -> Computed:
        """The record with the present analysis; without a new row where the same units were judged before."""
        scores, effects, *looks = inputs.tables
        units = int(looks[0].loc[looks[0]["plan"] == self.plan, "units"].max()) if looks else None
        judged = judged_units(first_units(scores, units), effects)
        files = json.dumps({self.file: digest(inputs.folders["score_table"] / Path(self.file).name)}, sort_keys=True)
        datasets = judged["dataset"].unique()
        record = with_analyses(
            read_kept(Path(self.record), INTERIM_ANALYSES),
            judged,
            plan=self.plan,
            level=self.alpha,
            pairs=dict.fromkeys(datasets),
            files=dict.fromkeys(datasets, files),
            made=now_as_text(),
        )
        present = describe_repeated(of_present(record, judged))
        about = {"digest": record_digest(record, INTERIM_ANALYSES), "present": present}
        return Computed([record], (), [f"warning: {text}" for text in present["warnings"]], about)


class RecordScoreLooks(OfScoreTable):
    """Write down the interim analyses that the table has units for, and refuse what would void the level of the plan.

    Attributes:
        looks: the plan.
        alpha: its level.
        record: the file of the record, which need not be there.
        file: the table of scores.
    """

    tables: ClassVar[Mapping[str, Contract]] = _by("record_score_looks", looks=LOOKS)
    reads: ClassVar[Mapping[str, Contract]] = {"judged_scores": JUDGED_SCORES}
    keeps: ClassVar[bool] = True

    result: Literal["record_score_looks"]
    looks: Planned
    alpha: float
    record: str
    file: str

    @classmethod
    def is_made(cls, study) -> bool:
        """Whether a study of scores plans interim analyses."""
        return bool(super().is_made(study) and study.planned_looks)

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The plan, and its record."""
        file = study.score_table.file
        return super().asked(study) | {"looks": study.planned_analyses(), "record": study.looks_made, "file": file}

    def compute(self, inputs: Inputs) -> Computed:
        """The record with a row for each interim analysis up to the present one."""
        [scores] = inputs.tables
        plan = Plan.of(self.looks, self.alpha)
        record = read_record(Path(self.record), plan)
        there = int(scores.groupby("dataset")["unit_id"].nunique().min())
        digests = {}
        for units in [number for number in plan.planned if number <= there]:
            first = first_units(scores, units)
            digests[units] = _digest(first["dataset"], first["level"], first["unit_id"], first["cluster"])
        self._refuse_other_units(record[record["plan"] == plan.name], digests, there)
        refuse_another_plan(record, plan, there)
        made = set(record.loc[record["plan"] == plan.name, "units"])
        for units in [number for number in digests if number not in made]:
            record = with_look(record, plan, units, digests, now_as_text())
        return Computed([record], (), [record.to_string()], {"digest": record_digest(record, LOOKS)})

    def _refuse_other_units(self, made: pd.DataFrame, digests: Mapping[int, str], there: int) -> None:
        """Refuse a table that has too few units, or whose first ones are others than when they were judged."""
        if not digests:
            raise InputError(
                f"{self.file}: has {there:,} units, and statistics.looks begins with {self.looks.looks[0]:,}; add units"
            )
        for look in made.itertuples():
            if digests.get(look.units) != look.texts:
                raise InputError(
                    f"{self.file}: its first {look.units:,} units are others than on {look.made}, when they were "
                    "judged; add new rows at the end, or begin a new plan with units that nobody has looked at: give "
                    "statistics.plan another name"
                )
