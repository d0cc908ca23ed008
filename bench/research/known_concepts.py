"""Which explainers by concepts recover the effects that are known, and do verdicts on them find what is there?

Reads the study `config/studies/known_concepts.yaml` and writes a page (Markdown): errors of the estimates in each
world, mean effects of single concepts beside the estimated ones, and how many claims of a disparity between the genders
there are.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from report import machine, markdown

from evenlight import configuration
from evenlight.core.contracts.explanations import CHANGE_EFFECTS, CHANGES
from evenlight.core.contracts.results import CONCEPT_EFFECTS, CONCEPT_ERRORS, EFFECTS, VERDICT_CONTROL
from evenlight.core.tables import read_table, replacing
from evenlight.jobs import command_line
from evenlight.statistics.verdicts import is_disparity

ALL, GENDER = "all", "gender"
SHOWN = ("cosine", "l2", "order_faithfulness")

PAGE = """# Known effects of concepts

```
make known-concepts
```

runs `config/studies/known_concepts.yaml` and writes this page with `bench/research/known_concepts.py`. Made on
{machine}.

In [worlds with known causes](../causal_world.md) the effect of every concept on a model is known from real
counterfactuals. Which [explainers](../concepts.md) recover it, from how many texts, and which does a confounder
mislead? Worlds have their number of training texts in their names; what else is other in them is said in the study.
The [glossary](../glossary.md) says what words mean.

## Errors

Means over all changes and seeds: cosine (1 is what no direction has), L2, and order faithfulness (0.5 is chance).

{errors}

## Effects of single concepts

Mean change of the probability of the second class where a concept changes from its first value to its second: what
happens (*true*), and what is estimated. `care` causes the class in every world, `dress` and `hobby` never; in a
confounded world `dress` is associated with `care`, and `hobby` with the gender, which is no concept.

{effects}

## Disparities between the genders

Claims that estimates are worse for texts on men or on women, by explainer and metric: across retraining, and for these
trained models only (in brackets, besides). In plain worlds each of the former would be wrong.

{claims}

With the labels of the genders permuted {permutations} times, {wrong} of {cells} verdicts claim a disparity across
retraining, and {wrong_of_models} one for these trained models.
"""


def error_table(errors: pd.DataFrame, labels: dict[str, str]) -> pd.DataFrame:
    """A row for each world and explainer, from rows of ``CONCEPT_ERRORS``."""
    whole = errors[(errors["concept"] == ALL) & (errors["change"] == ALL) & errors["metric"].isin(SHOWN)]
    table = whole.pivot_table(index=["dataset", "explainer"], columns="metric", values="mean", sort=False)
    table = table.reset_index().round(3)
    return table.assign(explainer=table["explainer"].map(labels)).rename(columns={"dataset": "world"})


def mean_estimates(folder: Path, effects: pd.DataFrame, config: dict) -> Iterator[dict]:
    """For each world the mean effects from a concept's first value to its second: a true row, and one by explainer."""
    concepts = {name: world["concept_counterfactuals"] for name, world in config["datasets"].items()}
    for dataset, names in concepts.items():
        changes = read_table(folder / "changes" / dataset / "changes.parquet", CHANGES)
        for model in config["models"]:
            own = effects[(effects["dataset"] == dataset) & (effects["model"] == model)]
            # Directions are there in both orders; the first is that from the first value.
            first = own.drop_duplicates("concept").set_index("concept")
            true = {name: first.loc[name, "effect"][1] for name in names}
            yield {"world": dataset, "explainer": "**true**"} | true
            for explainer, settings in config["explainers"].items():
                paths = (folder / "concept_effects" / dataset / model).glob(f"seed*/{explainer}.parquet")
                said = pd.concat([read_table(path, CHANGE_EFFECTS) for path in paths]).merge(changes, on="change_id")
                means = {}
                for name in names:
                    rows = said[(said["concept"] == name) & (said["before"] == first.loc[name, "before"])]
                    means[name] = np.stack(rows["effect"])[:, 1].mean()
                yield {"world": dataset, "explainer": settings["label"]} | means


def claims(effects: pd.DataFrame) -> pd.DataFrame:
    """How many cells of each world claim a disparity between the genders, from rows of ``EFFECTS``."""
    own = effects[effects["factor"] == GENDER]
    rows = []
    for dataset, cells in own.groupby("dataset", sort=False):
        of_trainings, at_all = (is_disparity(cells["verdict"], of_trainings).sum() for of_trainings in (True, False))
        rows.append({"world": dataset, "cells": len(cells), "claims": f"{of_trainings} (+{at_all - of_trainings})"})
    return pd.DataFrame(rows, columns=["world", "cells", "claims"])


def main(arguments: argparse.Namespace) -> None:
    """Write the page."""
    config = configuration.complete(yaml.safe_load(arguments.configfile.read_text(encoding="utf-8")))
    tables = arguments.results / "tables"
    effects = read_table(tables / "concept_effects.parquet", CONCEPT_EFFECTS)
    labels = {name: settings["label"] for name, settings in config["explainers"].items()}
    control = read_table(tables / "verdict_control.parquet", VERDICT_CONTROL)
    page = PAGE.format(
        machine=machine("torch", "transformers", "numpy", "scikit-learn"),
        errors=markdown(error_table(read_table(tables / "concept_errors.parquet", CONCEPT_ERRORS), labels)),
        effects=markdown(pd.DataFrame(mean_estimates(arguments.results, effects, config)).round(3)),
        claims=markdown(claims(read_table(tables / "effects.parquet", EFFECTS))),
        permutations=control["permutation"].nunique(),
        cells=control["cells"].sum(),
        wrong=control["disparities"].sum(),
        wrong_of_models=control["disparities_of_models"].sum(),
    )
    with replacing(arguments.page) as path:
        path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configfile", type=Path, required=True, help="the study")
    parser.add_argument("--results", type=Path, required=True, help="folder of its results")
    parser.add_argument("--page", type=Path, required=True, help="page (Markdown)")
    command_line.run(main, parser)
