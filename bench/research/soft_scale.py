"""Are disparities of soft comprehensiveness and sufficiency made by how many tokens the scores happen to keep?

Reads what `config/studies/soft_scale_cpu.yaml` made, and the effect sizes that Dhaini et al. (2025) print, and writes a
page (Markdown).
"""

import argparse
import sys
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from report import machine, markdown

from evenlight.core.contracts.explanations import ATTRIBUTIONS
from evenlight.core.contracts.results import DISPARITY
from evenlight.core.contracts.texts import UNITS
from evenlight.core.tables import read_arrow, read_table, replacing
from evenlight.jobs import command_line
from evenlight.metrics import explanations_of
from evenlight.metrics.soft import kept_share
from evenlight.texts.items import forms_of
from evenlight.texts.predictions import read_explained

PUBLISHED = Path(__file__).parents[2] / "resources" / "published" / "disparity_effect_sizes.csv"
METRICS = ("soft_comprehensiveness", "soft_sufficiency")
FORMS = ("", "_added", "_controlled", "_controlled_added")
RUN = ["dataset", "model", "explainer", "seed"]
ALPHA = 0.05
RANDOM = "uniform_random"

PAGE = """# Soft metrics and the number of tokens kept

```
make soft-scale
```

runs `config/studies/soft_scale_cpu.yaml` and writes this page with `bench/research/soft_scale.py`. Made on
{machine}.

Soft sufficiency keeps each number of a token's embedding with the token's score, brought to 0 … 1. Soft
comprehensiveness removes it so ([definitions](../definitions.md)). How much of a text is kept therefore depends on how
far the scores stand out. It differs between explainers, groups and texts. Three things can make a disparity:

1. **scale**: the texts of one group have more kept. Then sufficiency *and* comprehensiveness are higher for the group
   of which more tokens have high scores. As much is removed for the one as is kept for the other;
2. **the model**: what it says of a half-empty text favours one class, whichever tokens are missing. Then one group
   falls more in both experiments: its comprehensiveness is higher and its sufficiency *lower*. A random explanation
   has this disparity too;
3. **the explanation**: it is better for one group.

## The published effects

Signs of Cohen's d of both metrics, for each explainer with both and for each model. They are of Tables 8 to 11 (mean
over the significant seeds), and of this run (mean over all seeds). The table also has for how many models the sign of a
metric is the same with all explainers that have one.

{signs}

{published_text}

What that means depends on what was published. By the paper's Eq. 2 soft sufficiency is one minus the fall, and
higher is better. Then signs that are opposite are what the *model* makes: one group falls more whatever is missing.
But the paper's tables mark lower as better. In [the study on two cores](disparity.md) the directions of soft
sufficiency are mostly the other way round than published. Those of soft comprehensiveness agree. If the
published numbers are the fall itself, the signs are what *scale* makes, or a better explanation. The printed tables
alone cannot tell these two apart. The runs below do, for the data at hand.

## The same data, as much kept of every text

{runs}. Each run (seed) is tested as published, Mann–Whitney's U
with p ≤ {alpha}, between {texts} texts of each group.

- *significant*: as published.
- *scale*: of these, no longer significant in the same direction where half of every text is kept in the mean
  (`kept: [0.5]`).
- *any*: still significant with as much kept, but not beyond the same probabilities in a random order of the tokens
  (`against_random`): any explanation has it, or the chance that is in the random order hides it.
- *added*: significant in both ways.

So few texts do not show that what is not significant is nothing.

{fates}

By explainer:

{fates_by_explainer}

{fates_text}

## How much is kept

Mean share of a text that soft sufficiency keeps as published (soft comprehensiveness removes as much), by group. *d* is
Cohen's. Numbers are means over seeds.

{kept}

## What the differences are made of

Difference of the groups' means (male − female), median over explainers and seeds of its absolute value. The column
*published* is a sum. Its parts are what the same probabilities have in a random order (*number kept*), and what is
*added* to it. Likewise *controlled*, where all keep as much, is the sum of *any* and *controlled, added*. The column
*same sign* has the share of runs in which a part has the sign of the whole.

{parts}
"""


def signs(effects: pd.DataFrame, effect: str, source: str) -> pd.DataFrame:
    """How the signs of both metrics go together, by dataset; ``effect`` is the column of Cohen's d."""
    wide = effects.pivot_table(index=["dataset", "model", "explainer"], columns="metric", values=effect)
    both = np.sign(wide[[*METRICS]].dropna())
    rows = []
    for dataset, part in both.groupby(level="dataset", sort=False):
        opposite = int((part[METRICS[0]] != part[METRICS[1]]).sum())
        by_model = part.groupby(level="model")
        alike = [f"{int((by_model[name].nunique() == 1).sum())} of {by_model.ngroups}" for name in METRICS]
        rows.append((source, dataset, len(part), opposite, len(part) - opposite, *alike))
    columns = ["effects", "dataset", "cells", "opposite signs", "same sign"]
    return pd.DataFrame(rows, columns=[*columns, "one sign: comprehensiveness", "one sign: sufficiency"])


def side_by_side(disparity: pd.DataFrame) -> pd.DataFrame:
    """One row per run and metric: p and the difference of means of each form, as ``p``, ``p_added`` and so on."""
    disparity = disparity.assign(difference=disparity["mean_a"] - disparity["mean_b"])
    parts = []
    for metric in METRICS:
        of_metric = None
        for form in FORMS:
            rows = disparity[disparity["metric"] == metric + form].set_index(RUN)
            rows = rows[["p", "difference"]].add_suffix(form)
            of_metric = rows if of_metric is None else of_metric.join(rows, how="outer")
        parts.append(of_metric.assign(metric=metric).reset_index())
    return pd.concat(parts, ignore_index=True)


def fates(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """What becomes of the significant runs, counted ``by`` some names."""

    def same(form: str) -> pd.Series:
        agrees = np.sign(runs[f"difference{form}"]) == np.sign(runs["difference"])
        return (runs[f"p{form}"] <= ALPHA) & agrees

    significant = runs["p"] <= ALPHA
    controlled = significant & same("_controlled")
    added = controlled & same("_controlled_added")
    marks = runs[[*RUN, "metric"]].assign(
        runs=1, significant=significant, scale=significant & ~controlled, any=controlled & ~added, added=added
    )
    columns = ["runs", "significant", "scale", "any", "added"]
    return marks.groupby(by, sort=False)[columns].sum().reset_index()


def kept_by_group(folder: Path, runs: pd.DataFrame) -> pd.DataFrame:
    """Mean share that soft sufficiency keeps of the texts of each group, and Cohen's d."""
    rows = []
    for (dataset, model, explainer, seed), _ in runs.groupby(RUN, sort=False):
        base = Path(dataset) / model / f"seed{seed}"
        attribution_file = folder / "attributions" / base / f"{explainer}.parquet"
        attributions = read_arrow(attribution_file, ATTRIBUTIONS)
        items = folder / "datasets" / dataset / "items.parquet"
        predictions = folder / "predictions" / base.with_suffix(".parquet")
        [texts] = read_explained(predictions, items, len(attributions), "ground_truth")
        kept = pd.Series(
            {
                each.item_id: kept_share(each, "soft_sufficiency")[~each.is_special].mean()
                for each in explanations_of(texts, attributions, attribution_file)
            }
        )
        forms = forms_of(read_table(folder / "datasets" / dataset / "units.parquet", UNITS), "gender")
        a, b = (kept.reindex(forms.loc[forms["level"] == level, "item_id"]).dropna() for level in ("male", "female"))
        d = (a.mean() - b.mean()) / np.sqrt((a.var(ddof=0) + b.var(ddof=0)) / 2)
        rows.append((dataset, model, explainer, a.mean(), b.mean(), d))
    table = pd.DataFrame(rows, columns=["dataset", "model", "explainer", "male", "female", "d"])
    means = table.groupby(["dataset", "model", "explainer"], sort=False).mean().reset_index()
    return means.assign(**{name: means[name].map("{:.2f}".format) for name in ("male", "female", "d")})


def parts_of_differences(runs: pd.DataFrame) -> pd.DataFrame:
    """Medians of the absolute parts of the groups' differences, by dataset, model and metric."""
    whole, added = runs["difference"], runs["difference_added"]
    controlled, controlled_added = runs["difference_controlled"], runs["difference_controlled_added"]
    parts = {
        "published": whole,
        "number kept": whole - added,
        "added": added,
        "controlled": controlled,
        "any": controlled - controlled_added,
        "controlled, added": controlled_added,
    }
    table = runs[["dataset", "model", "metric"]].assign(**{name: part.abs() for name, part in parts.items()})
    table["number kept: same sign"] = (np.sign(parts["number kept"]) == np.sign(whole)).astype(float)
    table["any: same sign"] = (np.sign(parts["any"]) == np.sign(controlled)).astype(float)
    by_cell = table.groupby(["dataset", "model", "metric"], sort=False)
    shares = by_cell[["number kept: same sign", "any: same sign"]].mean().map("{:.0%}".format)
    return by_cell[list(parts)].median().map("{:.3f}".format).join(shares).reset_index()


def main(arguments: argparse.Namespace) -> None:
    """Read, compute and write the page."""
    disparity = read_table(arguments.results / "tables" / "disparity.parquet", DISPARITY)
    runs = side_by_side(disparity)
    published = signs(pd.read_csv(PUBLISHED), "cohens_d_mean", "published")
    published_text = (
        f"In {published['opposite signs'].sum()} of {published['cells'].sum()} published cells the group with the "
        "higher soft comprehensiveness has the lower soft sufficiency."
    )
    fate = fates(runs, ["dataset", "model", "metric"])
    fate_of_explainers = fates(runs, ["explainer", "metric"])
    fates_text = " ".join(
        f"{metric.replace('_', ' ').capitalize()}: of {of['significant']} significant runs {of['scale']} are scale, "
        f"{of['any']} belong to any explanation, and {of['added']} to the explainers."
        for metric, of in fates(runs, ["metric"]).set_index("metric").iterrows()
    )
    random = fate_of_explainers[fate_of_explainers["explainer"] == RANDOM].sum(numeric_only=True)
    fates_text += (
        " Random scores, which know nothing of the texts, show how far to trust this: "
        f"{random['significant']} of their {random['runs']} runs are significant as published, and {random['added']} "
        "in all ways."
    )
    names = {column: runs[column].nunique() for column in ("dataset", "model", "explainer", "seed")}
    counts = [f"{count} {column}{'s' * (count > 1)}" for column, count in names.items()]
    page = PAGE.format(
        machine=machine("torch", "transformers", "numpy"),
        signs=markdown(pd.concat([published, signs(disparity, "cohens_d", "this run")])),
        published_text=published_text,
        runs=", ".join(counts).capitalize(),
        alpha=ALPHA,
        texts=disparity["size_a"].max(),
        fates=markdown(fate),
        fates_by_explainer=markdown(fate_of_explainers),
        fates_text=fill(fates_text, 118),
        kept=markdown(kept_by_group(arguments.results, runs)),
        parts=markdown(parts_of_differences(runs)),
    )
    with replacing(arguments.output) as path:
        path.write_text(page)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="folder of the study's results")
    parser.add_argument("--output", type=Path, required=True, help="page (Markdown)")
    command_line.run(main, parser)
