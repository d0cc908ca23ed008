"""What must be said first: which models have not been shown to have learnt anything."""

from collections.abc import Mapping

import pandas as pd

WHY = "Explanations of a model that has learnt nothing say nothing, so do not rely on what is found of it"


def describe_chance(
    balanced: pd.DataFrame, datasets: Mapping[str, str] | None = None, models: Mapping[str, str] | None = None
) -> list[str]:
    """A sentence or two on each model and dataset of which a run may be as right as guessing; none where all learnt.

    Args:
        balanced: what :func:`evenlight.statistics.analyses.model_quality.balanced_accuracy` gives.
        datasets, models: names to labels; what is not there is told by its name.

    >>> run = {"dataset": "texts", "model": "mine", "seed": 0, "value": 0.0, "low": 0.0, "high": 0.05, "chance": 0.5}
    >>> print(*describe_chance(pd.DataFrame([run])))
    mine on texts is worse than guessing: with every class counted alike it is right about 0.0% of the test texts \
(0.0% to 5.0%), and guessing about 50.0%. Its labels may stand for other classes than the dataset's (key classes). \
Explanations of a model that has learnt nothing say nothing, so do not rely on what is found of it.
    """
    datasets, models = datasets or {}, models or {}
    said = []
    guesses = guessing(balanced)
    for (dataset, model), runs in balanced.groupby(["dataset", "model"], sort=False):
        if (dataset, model) in guesses:
            name = f"{models.get(model, model)} on {datasets.get(dataset, dataset)}"
            said.append(f"{name} {_of_runs(runs[_may_guess(runs)], len(runs))} {WHY}.")
    return said


def guessing(balanced: pd.DataFrame) -> set[tuple[str, str]]:
    """Dataset and model of every run that may be as right as guessing."""
    return set(balanced.loc[_may_guess(balanced), ["dataset", "model"]].itertuples(index=False, name=None))


def _may_guess(balanced: pd.DataFrame) -> pd.Series:
    return balanced["low"] <= balanced["chance"]


def _of_runs(guessing: pd.DataFrame, runs: int) -> str:
    """What holds of the worst of the runs, and how many there are."""
    worst = guessing.loc[guessing["value"].idxmin()]
    right = f"{worst['value']:.1%} of the test texts ({worst['low']:.1%} to {worst['high']:.1%})"
    if worst["chance"] == 1:
        return (
            "cannot be told from guessing, since all test texts have one class. A model that always says this class is "
            f"right about all of them. This one is right about {right}."
        )
    below = worst["high"] < worst["chance"]
    several = ""
    if runs > 1:
        seeds = ", ".join(str(seed) for seed in guessing["seed"])
        several = f" in {len(guessing)} of {runs} runs (seed{'s' if len(guessing) > 1 else ''} {seeds}; here the worst)"
    return (
        f"{'is worse than' if below else 'is not shown to be better than'} guessing{several}: with every class counted "
        f"alike it is right about {right}, and guessing about {worst['chance']:.1%}."
        + (" Its labels may stand for other classes than the dataset's (key classes)." if below else "")
    )
