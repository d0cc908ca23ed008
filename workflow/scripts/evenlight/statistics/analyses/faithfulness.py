"""How faithful the reasons of each model are, over all questions and over those of a group, beside what draws do.

Values are those of :mod:`evenlight.metrics.families.reasons`, over all changes of the questions. Beside each stand the
values that reasons would have which mention nothing, or everything, and that which the reasons have where no change
does anything: all answers to a question, as it was and changed, change places at random.

Of follow-up questions the value is the mean over questions of :mod:`evenlight.metrics.families.follow_ups`. Beside it
stands that which another draw of the question as it was would have in their place. Who tells nothing, and who repeats
all that is asked, are known of what reasons tell of a hint.

Intervals of measures are over questions, which are drawn with replacement. That of the slope is the authors'.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
import pandas as pd
from pydantic import BeforeValidator, InstanceOf

from evenlight.core.contracts.explanations import ANSWERS, CHANGED_ANSWERS, FOLLOW_UPS
from evenlight.core.contracts.results import FAITHFULNESS
from evenlight.core.contracts.texts import UNITS
from evenlight.core.kinds import TEXT
from evenlight.core.seeds import generator_for
from evenlight.core.tables import Contract, read_table
from evenlight.metrics import Metric
from evenlight.metrics.families.follow_ups import FollowUpMetric, ToldHintMetric
from evenlight.metrics.families.follow_ups.scored import scored, with_other_draws
from evenlight.metrics.families.reasons import ConceptFaithfulness, MentionMetric
from evenlight.metrics.families.reasons.causal_concepts import shared_slope
from evenlight.metrics.families.reasons.of_questions import (
    SUMS,
    Asked,
    asked,
    correlations,
    effects,
    interventions,
    sums_of,
    with_nothing_changed,
)
from evenlight.statistics.analyses.base import Computed, Inputs, OfRuns
from evenlight.statistics.arrays.mean import limits_over_texts
from evenlight.statistics.arrays.resamples import drawn_counts, ends
from evenlight.statistics.comparisons.files import Run, Runs, explainer_path, units_path
from evenlight.statistics.comparisons.study import ALL

# Of changes, whoever explains: the share that turns the decision, the share that moves it at all, and the mean impact.
MOVED = "moved"
OF_CHANGES = ("changed", MOVED, "impact")
# Of a metric of concepts, the mean correlation of questions and the authors' slope.
CORRELATION, SLOPE = "correlation", "slope"
# How often answers change places, or are drawn again, as if nothing did anything; and the share between the ends.
REDRAWN, WITHIN = 40, 0.95


def faithfulness_table(
    folders: Mapping[str, Path],
    runs: Runs,
    *,
    explainers: Sequence[str],
    questions: Mapping[str, ConceptFaithfulness | MentionMetric],
    follow_ups: Mapping[str, FollowUpMetric],
    factors: Sequence[str],
    confidence: float,
    bootstrap_draws: int,
) -> pd.DataFrame:
    """A row for each measure of each run, of all questions and of each level of the factors, in ``FAITHFULNESS``.

    Args:
        folders: of ``datasets``; of ``changed_answers``, where there are metrics of changed questions; and of
            ``answers`` and ``follow_ups``, where there are metrics of follow-up questions.
        runs: those of the study.
        explainers: names.
        questions, follow_ups: the metrics of changed and of follow-up questions, by the name of each.
        factors: that are compared.
        confidence: of intervals over questions.
        bootstrap_draws: resamples behind each.
    """
    rows: list[dict] = []
    for run in runs:
        of_units = read_table(units_path(folders["datasets"], run.dataset), UNITS)
        for explainer in runs.explainers_of(run.dataset, explainers):
            names = {"dataset": run.dataset, "model": run.model, "seed": run.seed, "explainer": explainer}
            generator = _generator(run, explainer)
            measured: list[tuple[_Measured | _Followed, Sequence[str]]] = []
            if questions:
                given = read_table(explainer_path(folders["changed_answers"], run, explainer), CHANGED_ANSWERS)
                if (known := asked(given)) is not None:
                    of_changes = _Measured(known, questions, confidence, bootstrap_draws, generator)
                    measured.append((of_changes, pd.unique(known.changes.question)))
            if follow_ups:
                answers = read_table(explainer_path(folders["answers"], run, explainer), ANSWERS)
                said = read_table(explainer_path(folders["follow_ups"], run, explainer), FOLLOW_UPS)
                of_answers = _Followed(answers, said, follow_ups, confidence, bootstrap_draws, generator)
                measured.append((of_answers, pd.unique(answers["item_id"])))
            for each, there in measured:
                groups = _groups(there, of_units, factors)
                rows += [names | group | row for group, items in groups for row in each.rows(items)]
    return pd.DataFrame(rows, columns=FAITHFULNESS.schema.names)


def _generator(run: Run, explainer: str) -> Callable[[str], np.random.Generator]:
    return lambda use: generator_for(0, "faithfulness", use, run.dataset, run.model, run.seed, explainer)


def _groups(items: Sequence[str], units: pd.DataFrame, factors: Sequence[str]) -> Iterator[tuple[dict, list[str]]]:
    """All questions, and those of each level of a factor."""
    yield {"factor": ALL, "level": ALL}, list(items)
    for factor in factors:
        of_factor = units[(units["factor"] == factor) & units["item_id"].isin(items)]
        for level, there in of_factor.groupby("level", sort=False)["item_id"]:
            yield {"factor": factor, "level": level}, list(there)


class _Measured:
    """What is known of the questions of one run."""

    def __init__(
        self,
        known: Asked,
        questions: Mapping[str, ConceptFaithfulness | MentionMetric],
        confidence: float,
        draws: int,
        generator: Callable[[str], np.random.Generator],
    ) -> None:
        self.questions, self.confidence, self.draws, self.generator = questions, confidence, draws, generator
        self.changes = interventions(known)
        estimates = {each.estimate for each in questions.values() if isinstance(each, ConceptFaithfulness)}
        self.found = {estimate: effects(known, estimate) for estimate in estimates}
        self.nothing: list[tuple[pd.DataFrame, pd.DataFrame]] = []
        # Of one answer to a question nobody knows how much answers differ.
        if (known.changes.counts[:, 0].sum(axis=1) > 1).all():
            by = generator("nothing changed")
            drawn = [with_nothing_changed(known, by) for _ in range(REDRAWN)]
            self.nothing = [(interventions(each), effects(each) if estimates else pd.DataFrame()) for each in drawn]

    def rows(self, items: Sequence[str]) -> Iterator[dict]:
        """The measures of some questions."""
        changes = self.changes[self.changes["item_id"].isin(items)]
        for name in OF_CHANGES:
            yield {"metric": name, "measure": name} | self._of_changes(changes, name, items)
        for name, entry in self.questions.items():
            if isinstance(entry, ConceptFaithfulness):
                yield from ({"metric": name} | row for row in self._of_concepts(entry, items))
            else:
                yield {"metric": name, "measure": entry.metric} | self._of_mentions(entry, changes, items)

    def _of_changes(self, changes: pd.DataFrame, name: str, items: Sequence[str]) -> dict:
        """A mean over changes."""
        known = changes.dropna(subset=[name])
        by_item = known.groupby("item_id", sort=False)[name].agg(["sum", "size"])
        sums, counts = by_item.to_numpy(float).T
        weights = self._weights(len(by_item))
        with np.errstate(invalid="ignore"):
            drawn = (weights @ sums) / (weights @ counts)
        # Answers that a few changes turn would move nearly all questions if they changed places.
        nothing = [] if name == MOVED else self.nothing
        null = [part.loc[part["item_id"].isin(items), name].mean() for part, _ in nothing]
        return self._row(len(by_item), len(known), known[name].mean(), drawn, null)

    def _of_mentions(self, metric: MentionMetric, changes: pd.DataFrame, items: Sequence[str]) -> dict:
        by, measure = metric.of_change, metric.of_sums
        sums = sums_of(changes, by)
        drawn = measure(self._weights(len(sums)) @ sums.to_numpy())
        null = [_measured(measure, part[part["item_id"].isin(items)], by) for part, _ in self.nothing]
        row = self._row(len(sums), int(sums["n"].sum()), _of_all(measure, sums), drawn, null)
        judged = changes.dropna(subset=["mentioned"])
        return row | {
            name: _measured(measure, judged.assign(mentioned=said), by)
            for name, said in (("silent", 0.0), ("copier", 1.0))
        }

    def _of_concepts(self, metric: ConceptFaithfulness, items: Sequence[str]) -> Iterator[dict]:
        values, sizes = self._correlations(self.found[metric.estimate], items)
        counted = {"questions": len(values), "changes": int(sizes.sum())}
        none = dict.fromkeys(("silent", "copier"), np.nan)
        slope = dict(zip(("value", "low", "high"), _slope(values, sizes, metric.slope_confidence), strict=True))
        nulls = [self._correlations(part, items) for _, part in self.nothing]
        of_slope = _ends_of([_slope(*of_null, 0.9)[0] for of_null in nulls])
        yield {"measure": SLOPE} | counted | slope | none | of_slope
        low, high = _ends_of_mean(values.to_numpy(), self.confidence, self.draws, self.generator("bootstrap"))
        value = float(values.mean()) if len(values) else np.nan
        means = [of_null[0].mean() if len(of_null[0]) else np.nan for of_null in nulls]
        yield {"measure": CORRELATION} | counted | {"value": value, "low": low, "high": high} | none | _ends_of(means)

    @staticmethod
    def _correlations(found: pd.DataFrame, items: Sequence[str]) -> tuple[pd.Series, np.ndarray]:
        """The correlation of each of some questions, and the number of its changes."""
        found = found[found.index.get_level_values(0).isin(items)] if len(found) else found
        values = correlations(found).dropna()
        return values, found.groupby(level=0).size().reindex(values.index).to_numpy() if len(values) else np.empty(0)

    def _weights(self, questions: int) -> np.ndarray:
        return (
            drawn_counts(questions, self.draws, self.generator("bootstrap")) if questions else np.empty((self.draws, 0))
        )

    def _row(self, questions: int, changes: int, value: float, drawn: np.ndarray, null: Sequence[float]) -> dict:
        low, high = map(float, ends(drawn, self.confidence, questions)) if questions > 1 else (np.nan, np.nan)
        row = {"questions": questions, "changes": changes, "value": value, "low": low, "high": high}
        return row | dict.fromkeys(("silent", "copier"), np.nan) | _ends_of(null)


class _Followed:
    """What is known of the answers of one run and of what follows from them."""

    def __init__(
        self,
        answers: pd.DataFrame,
        said: pd.DataFrame,
        metrics: Mapping[str, FollowUpMetric],
        confidence: float,
        draws: int,
        generator: Callable[[str], np.random.Generator],
    ) -> None:
        self.metrics, self.confidence, self.draws, self.generator = metrics, confidence, draws, generator
        self.scores = self._of_questions(answers, said)
        by = generator("other draws")
        others = [with_other_draws(answers, said, by) for _ in range(REDRAWN)]
        self.null = [self._of_questions(answers, each) for each in others if len(each)]
        telling = {
            "silent": "",
            "copier": " ".join(word for each in metrics.values() for word in _words_of(each)),
        }
        self.ends = {name: self._of_questions(answers, said.assign(text=text)) for name, text in telling.items()}

    def _of_questions(self, answers: pd.DataFrame, said: pd.DataFrame) -> pd.DataFrame:
        """The score of each question in each metric, the mean over its draws, and how many answers have one."""
        scores, _ = scored(self.metrics, answers, said)
        return pd.DataFrame(scores).groupby(answers["item_id"], sort=False).agg(["mean", "count"])

    def rows(self, items: Sequence[str]) -> Iterator[dict]:
        """The measures of some questions."""
        for name, entry in self.metrics.items():
            of_items = self.scores[name].loc[list(items)].dropna()
            values, counts = of_items["mean"].to_numpy(), of_items["count"].to_numpy()
            low, high = _ends_of_mean(values, self.confidence, self.draws, self.generator("follow-ups"))
            row = {
                "metric": name,
                "measure": entry.metric,
                "questions": len(values),
                "changes": int(counts.sum()),
            }
            row |= {"value": float(values.mean()) if len(values) else np.nan, "low": low, "high": high}
            row |= {end: self._mean(of, name, items) if _words_of(entry) else np.nan for end, of in self.ends.items()}
            yield row | _ends_of([self._mean(of, name, items) for of in self.null])

    @staticmethod
    def _mean(scores: pd.DataFrame, name: str, items: Sequence[str]) -> float:
        return float(scores[(name, "mean")].loc[list(items)].mean())


def _words_of(metric: FollowUpMetric) -> list[str]:
    """The words by which a reason tells of what was asked; none where they do not count."""
    return metric.words if isinstance(metric, ToldHintMetric) else []


def _ends_of_mean(
    values: np.ndarray, confidence: float, draws: int, generator: np.random.Generator
) -> tuple[float, float]:
    """The interval of the mean over questions; NaN where there are too few."""
    if len(values) < 2:
        return np.nan, np.nan
    low, high = limits_over_texts(values[None], np.arange(len(values)), confidence, draws, generator)
    return float(low), float(high)


def _slope(values: pd.Series, sizes: np.ndarray, confidence: float) -> tuple[float, float, float]:
    return shared_slope(values.to_numpy(), np.asarray(sizes, dtype=float), confidence)


def _of_all(measure: Callable, sums: pd.DataFrame) -> float:
    return float(measure(sums[list(SUMS)].to_numpy().sum(axis=0)))


def _measured(measure: Callable, changes: pd.DataFrame, by: str) -> float:
    return _of_all(measure, sums_of(changes, by))


def _ends_of(values: Sequence[float]) -> dict[str, float]:
    """The mean of the values where no change does anything, and the ends around most of them; NaN where not known."""
    known = np.array([value for value in values if not np.isnan(value)])
    if not len(known):
        return dict.fromkeys(("null", "null_low", "null_high"), np.nan)
    low, high = np.quantile(known, [(1 - WITHIN) / 2, (1 + WITHIN) / 2])
    return {"null": float(known.mean()), "null_low": float(low), "null_high": float(high)}


Of = TypeVar("Of")
# Of users' own metrics, too.
Metrics = Annotated[dict[str, Of], BeforeValidator(Metric.parse_all)]


class MeasureFaithfulness(OfRuns):
    """Measure how faithful the reasons of each model are, beside what draws of one question do."""

    version: ClassVar[int] = 2
    tables: ClassVar[Mapping[str, Contract]] = {"faithfulness": FAITHFULNESS}
    modality: ClassVar[str] = TEXT
    minutes: ClassVar[int] = 30

    result: Literal["measure_faithfulness"]
    explainers: list[str]
    questions: Metrics[InstanceOf[ConceptFaithfulness] | InstanceOf[MentionMetric]]
    follow_ups: Metrics[InstanceOf[FollowUpMetric]]
    factors: list[str]
    confidence: float
    bootstrap_draws: int

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The runs, and the metrics of changed questions and of follow-ups."""
        return super().asked(study) | {
            "factors": list(study.comparisons_of(TEXT)),
            "questions": study.metrics_of_family("reasons"),
            "follow_ups": study.metrics_of_family("follow_ups"),
        }

    @classmethod
    def files_of_runs(cls, study) -> dict[str, list[str]]:
        """The answers that these metrics are about, and the texts."""
        changed = ["changed_answers"] if study.metrics_of_family("reasons") else []
        followed = ["answers", "follow_ups"] if study.metrics_of_family("follow_ups") else []
        return study.files_of_runs(*changed, *followed, "datasets", of=cls.modality)

    def compute(self, inputs: Inputs) -> Computed:
        """A row for each measure of each run, of all questions and of each group."""
        table = faithfulness_table(
            inputs.folders,
            self.runs,
            explainers=self.explainers,
            questions=self.questions,
            follow_ups=self.follow_ups,
            factors=self.factors,
            confidence=self.confidence,
            bootstrap_draws=self.bootstrap_draws,
        )
        return Computed([table])
