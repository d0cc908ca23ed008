"""Every kind of figure of a study, drawn of made-up numbers with names of one's choice."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from pkgutil import iter_modules

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evenlight.reports import plots
from evenlight.reports.plots.agreement import MEASURES, draw_agreement
from evenlight.reports.plots.associations import draw_associations
from evenlight.reports.plots.attribution_differences import draw_attribution_differences
from evenlight.reports.plots.concept_grid import draw_concept_grid
from evenlight.reports.plots.control import LOOKS, draw_control
from evenlight.reports.plots.disparity import draw_disparity
from evenlight.reports.plots.effects import draw_effects
from evenlight.reports.plots.masked_words import LABELS, draw_masked_words
from evenlight.reports.plots.randomisation import ORDERS, draw_randomisation
from evenlight.reports.plots.roc import draw_roc
from evenlight.reports.plots.score_panels import draw_score_panels
from evenlight.reports.plots.sentence import draw_sentence
from evenlight.reports.plots.specifications import EFFECTS, draw_specifications
from evenlight.reports.plots.strategies import SUBSETS, draw_strategies
from evenlight.reports.plots.verdicts import draw_verdicts
from evenlight.statistics.comparisons.study import ALL, AS_OFTEN, UNDECIDABLE, UNDECIDED, MetricLabel

SEEDS = (0, 1)


@dataclass(frozen=True)
class Names:
    """What stands in the figures of a study: labels by names; groups, the first is compared with the others."""

    datasets: dict[str, str]
    models: dict[str, str]
    explainers: dict[str, str]
    metrics: dict[str, MetricLabel]
    groups: list[str]
    title: str

    @property
    def pairs(self) -> list[dict[str, str]]:
        """The comparisons, as the columns of a table have them."""
        return [{"factor": "gender", "level_a": self.groups[0], "level_b": other} for other in self.groups[1:]]

    @property
    def strategies(self) -> dict[str, dict[str, str]]:
        """Two ways to train of each model, which are models themselves."""
        return {label: {"all": f"{name}_all", "frozen": f"{name}_frozen"} for name, label in self.models.items()}

    @property
    def in_strategies(self) -> list[str]:
        """The models of all strategies."""
        return [model for strategies in self.strategies.values() for model in strategies.values()]

    def cells(self) -> Iterator[dict[str, str]]:
        """The place of every cell of the first dataset."""
        for pair, model, explainer, metric in product(self.pairs, self.models, self.explainers, self.metrics):
            yield pair | {
                "dataset": next(iter(self.datasets)),
                "model": model,
                "explainer": explainer,
                "metric": metric,
            }


# What a function is given and gives that makes a figure.
MAKES = {"names": Names, "return": Figure}


def random_numbers() -> np.random.Generator:
    """The same in every figure."""
    return np.random.default_rng(0)


def agreement(names: Names) -> Figure:
    """Every two explainers agree somehow."""
    random = random_numbers()
    rows = [
        {
            "model": model, "measure": measure, "explainer_a": one, "explainer_b": other, "factor": None,
            "mean": random.uniform(-1, 1), "significant_seeds": 2 * (number % 2), "seeds": 2,
        }
        for model, measure in product(names.models, MEASURES)
        for number, (one, other) in enumerate(combinations(names.explainers, 2))
    ]  # fmt: skip
    return draw_agreement(pd.DataFrame(rows), names.models, names.explainers, names.title)


def associations(names: Names) -> Figure:
    """A class for each group."""
    random = random_numbers()
    rows = [
        {"class": group, "word": f"{group[:12]} {n}", "correlation": random.normal(0, 0.2), "marked": n, "unmarked": 9}
        for group in names.groups
        for n in range(20)
    ]
    return draw_associations(pd.DataFrame(rows), names.title)


def attribution_differences(names: Names) -> Figure:
    """Tests of every model and seed."""
    random = random_numbers()
    rows = [
        pair | {"model": model, "seed": seed, "explainer": explainer, "p_holm": 10 ** random.uniform(-9, 0)}
        for pair, model, seed, explainer in product(names.pairs, names.in_strategies, SEEDS, names.explainers)
    ]
    return draw_attribution_differences(
        pd.DataFrame(rows), names.explainers, names.strategies, alpha=0.05, title=names.title
    )


def _concept_errors(names: Names) -> pd.DataFrame:
    random = random_numbers()
    rows = []
    for dataset, model, explainer, metric in product(names.datasets, names.models, names.explainers, names.metrics):
        mean, half = random.uniform(0.2, 1), random.uniform(0, 0.2)
        place = {"dataset": dataset, "model": model, "explainer": explainer, "metric": metric}
        rows.append(place | {"concept": ALL, "change": ALL, "mean": mean, "low": mean - half, "high": mean + half})
    return pd.DataFrame(rows)


def concept_grid(names: Names) -> Figure:
    """All models and datasets."""
    return draw_concept_grid(
        _concept_errors(names), names.datasets, names.models, names.explainers, names.metrics, names.title
    )


def control(names: Names) -> Figure:
    """All tests on every dataset."""
    random = random_numbers()
    rows = [
        {
            "dataset": dataset, "model": ALL, "test": test, "cells": 40, "null_low": 0.01, "null_high": 0.12,
            "null_rate": 0.05, "real_rate": random.uniform(0, 1), "alpha": 0.05,
        }
        for dataset, test in product(names.datasets, LOOKS)
    ]  # fmt: skip
    return draw_control(pd.DataFrame(rows), names.datasets, names.title)


def _summary(names: Names) -> pd.DataFrame:
    """Effects of which the largest lie beyond any axis."""
    random = random_numbers()
    rows = [
        cell | {"mean_d": d, "mean_delta": np.tanh(d), "significant_seeds": int(abs(d) > 1), "seeds": 1}
        for cell in names.cells()
        for d in [1.7 * random.normal()]
    ]
    return pd.DataFrame(rows).assign(considerable=lambda table: table["mean_d"].abs() > 0.2)


def disparity(names: Names) -> Figure:
    """Every cell."""
    return draw_disparity(_summary(names), names.models, names.explainers, names.metrics, 0.2, names.title)


def _verdicts(names: Names) -> pd.DataFrame:
    """Every cell, with every verdict in turn; those of the last explainer have no pairs."""
    random = random_numbers()
    rows = []
    for number, cell in enumerate(names.cells()):
        side = [1, -1, 0, 0, 0][number % 5]
        named = {1: cell["level_a"], -1: cell["level_b"]}
        others = [AS_OFTEN, UNDECIDED, UNDECIDABLE]
        verdict = f"{named[side]} more often" if side else others[number % 5 - 2]
        wins, losses, ties = random.integers(0, 30, size=3)
        benefit = (wins - losses) / (wins + losses + ties)
        counts = {"wins": wins, "losses": losses, "ties": ties}
        if cell["explainer"] == list(names.explainers)[-1]:
            counts = dict.fromkeys(counts, np.nan)
        low, high = np.clip([benefit - 0.3, benefit + 0.3], -1, 1)
        ends = {"net_benefit": benefit, "net_benefit_low": low, "net_benefit_high": high}
        share = {"share": (1 + benefit) / 2}
        rows.append(cell | {"verdict": verdict, "side": side, "apart": number % 7 == 0} | counts | ends | share)
    return pd.DataFrame(rows)


def effects(names: Names) -> Figure:
    """Every cell, with every verdict in turn."""
    return draw_effects(_verdicts(names), names.models, names.explainers, names.metrics, 0.95, names.title)


def verdicts(names: Names) -> Figure:
    """The same as bars of a table of scores."""
    return draw_verdicts(_verdicts(names), names.metrics, names.title)


def masked_words(names: Names) -> Figure:
    """Every group in every strategy; an interval has no end."""
    random = random_numbers()
    rows = [
        {"model": model, "score": score, "level_a": group, "level_b": None, "value": value, "low": value - 1}
        | {"high": value + 2 if number else np.inf}
        for number, (model, score, group) in enumerate(product(names.in_strategies, LABELS, names.groups))
        for value in [random.uniform(20, 30)]
    ]
    return draw_masked_words(pd.DataFrame(rows), names.strategies, names.title)


def randomisation(names: Names) -> Figure:
    """Six layers in both orders."""
    layers = [*(f"bert.encoder.layer.{n}" for n in range(5, 0, -1)), "embeddings.word_embeddings"]
    random = random_numbers()
    rows = [
        {
            "order": order, "model": model, "explainer": explainer, "stage": stage, "layer": layer,
            "rank_correlation_absolute": random.uniform(-0.4, 1),
        }
        for order, model, explainer in product(ORDERS, names.models, names.explainers)
        for stage, layer in enumerate(layers)
    ]  # fmt: skip
    return draw_randomisation(pd.DataFrame(rows), names.models, names.explainers, names.title)


def _strategies(names: Names, view: str) -> Figure:
    random = random_numbers()
    metric = next(iter(names.metrics))
    rows = []
    for subset, architecture, explainer in product(SUBSETS, names.strategies, names.explainers):
        for strategy in names.strategies[architecture]:
            value = random.uniform(0.2, 1)
            place = {"subset": subset, "architecture": architecture, "strategy": strategy, "explainer": explainer}
            ends = {"mean": value, "low": value - 0.1, "high": value + 0.1}
            ratio = {"ratio": 2 * value, "ratio_low": 2 * value - 0.2, "ratio_high": 2 * value + 0.2}
            rows.append(place | ends | ratio | {"metric": metric, "expected": 0.3})
    return draw_strategies(
        pd.DataFrame(rows), names.strategies, names.explainers, names.metrics, metric, view, title=names.title
    )


def strategies(names: Names) -> Figure:
    """Means."""
    return _strategies(names, "by_strategy")


def strategies_relative(names: Names) -> Figure:
    """Relative to the first strategy."""
    return _strategies(names, "relative")


def roc(names: Names) -> Figure:
    """A class for each group."""
    steps = np.linspace(0, 1, 20)
    rows = [
        {
            "model": model, "class": group, "seed": seed, "auc": 0.8,
            "false_positives": steps, "true_positives": np.sqrt(steps),
        }
        for model, group, seed in product(names.in_strategies, names.groups, SEEDS)
    ]  # fmt: skip
    return draw_roc(pd.DataFrame(rows), names.strategies, names.title)


def _scores(names: Names) -> pd.DataFrame:
    """Scores of every group; those of the last explainer are undefined."""
    random = random_numbers()
    rows = [
        {"explainer": explainer, "group": group, "metric": metric, "score": random.uniform(-1e4, 1e4)}
        for explainer, group, metric in product(names.explainers, names.groups, names.metrics)
        for _ in range(6)
    ]
    table = pd.DataFrame(rows)
    table.loc[table["explainer"] == list(names.explainers)[-1], "score"] = np.nan
    return table


def score_panels(names: Names) -> Figure:
    """All metrics."""
    return draw_score_panels(_scores(names), names.metrics, names.explainers, names.groups, names.title)


def sentence(names: Names) -> Figure:
    """A sentence of twelve words."""
    words = [f"word{n}" for n in range(11)] + ["incomprehensibilities"]
    shares = {
        (explainer, f"{architecture} {strategy}"): np.full(len(words), 1 / len(words))
        for explainer in names.explainers.values()
        for architecture, of_architecture in names.strategies.items()
        for strategy in of_architecture
    }
    return draw_sentence(words, [n % 3 == 0 for n in range(len(words))], shares, names.title)


def specifications(names: Names) -> Figure:
    """Every choice of model, explainer, metric, seed and effect."""
    random = random_numbers()
    choices = list(product(names.models, names.explainers, names.metrics, SEEDS, EFFECTS))
    rows, curves = [], []
    for pair in names.pairs:
        estimates = np.sort(random.normal(0, 0.3, len(choices)))
        for rank, (number, estimate) in enumerate(zip(random.permutation(len(choices)), estimates, strict=True)):
            model, explainer, metric, seed, effect = choices[number]
            chosen = {"model": model, "explainer": explainer, "metric": metric, "seed": seed, "effect": effect}
            numbers = {"estimate": estimate, "p": np.exp(-15 * abs(estimate)), "null_low": -0.2, "null_high": 0.2}
            rows.append(pair | chosen | numbers | {"rank": rank})
        a, b = int((estimates > 0).sum()), int((estimates < 0).sum())
        significant = int((np.sign(a - b) * estimates > 0.2).sum())
        counts = {"specifications": len(choices), "a_better": a, "b_better": b, "significant": significant}
        joint = {"median": np.median(estimates), "p_median": 0.4, "null_significant": 1.5, "p_significant": 0.2}
        curves.append(pair | counts | joint | {"method": ALL, "mean_z": 0.5, "p_mean_z": 0.3})
    return draw_specifications(
        pd.DataFrame(rows), pd.DataFrame(curves), names.explainers, names.models, names.metrics, 0.05, names.title
    )


# By the module that draws them, with whose name theirs begin; what has several views, once for each.
_MADE = {name: make for name, make in list(globals().items()) if getattr(make, "__annotations__", {}) == MAKES}
FIGURES: dict[str, list[Callable[[Names], Figure]]] = {
    module.name: [make for name, make in _MADE.items() if f"{name}_".startswith(f"{module.name}_")]
    for module in iter_modules(plots.__path__)
}
