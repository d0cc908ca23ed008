"""Measure how much of random explainers' scores is chance, by the number of rows they take, on real sentences.

Every setting explains the same test sentences twice with independent draws, and the two are compared as a study does it
(:mod:`evenlight.core.chance`). With ``--in-a-row`` several sentences are one text, since longer texts need more rows.

Writes a table (CSV), and beside it a page that shows it (the same name, ``.md``). ``make bench-chance`` runs it.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from page_figures import illustrate
from report import WORDS, command, machine, markdown
from texts import add_items_flag, draw, named_folder, read_by, test_texts

from evenlight.configuration import completed_entry, family_of
from evenlight.core.chance import agreement
from evenlight.core.errors import InputError
from evenlight.core.tables import replacing
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, explain
from evenlight.jobs import command_line
from evenlight.models.classifier import load_saved

# Settings of each row of the page, and the key that the budgets are values of.
ROWS = (25, 64, 128, 256, 512, 1024, 2048)
CURVES: dict[str, tuple[dict, str, tuple[int | None, ...]]] = {
    **{
        f"kernel_shap, {estimator}": ({"method": "kernel_shap", "estimator": estimator}, "evaluations", ROWS[:limit])
        # The surrogate inverts a matrix of its rows.
        for estimator, limit in (("sampled", 7), ("paired", 7), ("leverage", 7), ("surrogate", 4))
    },
    "kernel_shap, released": ({"method": "kernel_shap", "definition": "released"}, "evaluations", (25, 512)),
    **{
        f"shapley_sampling, {estimator}": (
            {"method": "shapley_sampling", "estimator": estimator},
            "permutations",
            (2, 6, 12, 25, 50)[: 3 if estimator == "adjusted" else 5],
        )
        for estimator in ("independent", "paired", "adjusted")
    },
    # None is the squared number of tokens.
    "lime": ({"method": "lime"}, "samples", (None, 100, 250, 500, 1000, 2000, 5000)),
    "lime, words": ({"method": "lime", "features": "word"}, "samples", (100, 500, 2000)),
    "lime, asked": ({"method": "lime", "samples": 5000}, "asked", (64, 128, 256, 512)),
    "gradient_shap": ({"method": "gradient_shap"}, "samples", (5, 10, 25, 50, 100, 200)),
}


def measured(sentences: list[Sentence], evaluator: Evaluator, settings: dict) -> dict:
    """Medians over sentences of what :func:`evenlight.core.chance.agreement` says, and the rows."""
    family = family_of("explainers", settings["method"])
    completed = {"it": completed_entry("explainers", "it", settings)}
    one, other = (explain(family, sentences, completed, Context(evaluator, seed, None))["it"] for seed in (0, 1))
    values = pd.DataFrame(
        [
            agreement(first.token_score[~sentence.is_special], second.token_score[~sentence.is_special])
            for sentence, first, second in zip(sentences, one.attributions, other.attributions, strict=True)
        ],
        dtype=float,
    )
    rows = [attribution.forward_rows for attribution in one.attributions]
    return {
        "rows": round(float(np.mean(rows))),
        "error": values["error"].median(),
        "rank": values["rank"].median(),
        "rank_lower_quartile": values["rank"].quantile(0.25),
    }


def curves(sentences: list[Sentence], evaluator: Evaluator, names: Sequence[str]) -> Iterator[dict]:
    """A row for each of the named settings and its budgets."""
    for name in names:
        settings, key, budgets = CURVES[name]
        for budget in budgets:
            found = measured(sentences, evaluator, settings | {key: budget})
            print(f"{name}, {key} {budget}: error {found['error']:.3f}, rank {found['rank']:.3f}", flush=True)
            yield {"setting": name, "budget": f"{key} {budget or 'null'}", **found}


PAGE = """\
# Chance in explanations by the number of rows

{count} {texts} of {items} with {least} to {most} tokens (median {median}, special ones not counted), explained
twice with independent draws; medians over sentences.

- *error*: standard error of a token's score, divided by the standard deviation of the sentence's scores. 0 is no
  chance, about 1 nothing but chance; its square is the share of the variance that is chance.
- *rank*: Spearman's correlation of the tokens' scores in two runs; in brackets its lower quartile.
- *rows*: rows that went through the model for a sentence, on average. Short sentences are exact where the rows
  allow it.

Made by `{command}` on {machine}. {words}

{tables}
"""


def joined(texts: pd.DataFrame, number: int) -> pd.DataFrame:
    """Texts of ``number`` of these one behind the other, a space between, each with the label of its first.

    >>> given = pd.DataFrame({"item_id": list("abc"), "words": [["He"], ["is"], ["."]], "label": [1, 0, 1]})
    >>> joined(given, 2)[["item_id", "words", "label"]].values.tolist()
    [['a', ['He', 'is'], 1]]
    """
    firsts = texts.iloc[: len(texts) // number * number : number].drop(columns="spaces", errors="ignore")
    words = [
        [word for text in texts["words"].iloc[first : first + number] for word in text]
        for first in range(0, number * len(firsts), number)
    ]
    return firsts.assign(words=words)


def page(table: pd.DataFrame, sentences: list[Sentence], dataset: str, in_a_row: int) -> str:
    """The page that shows the table, a part for each model."""
    tokens = [int((~sentence.is_special).sum()) for sentence in sentences]
    parts = []
    for model, rows in table.groupby("model", sort=False):
        shown = rows[["setting", "budget", "rows"]].assign(
            error=rows["error"].map("{:.2f}".format),
            rank=rows["rank"].map("{:.2f}".format) + " (" + rows["rank_lower_quartile"].map("{:.2f}".format) + ")",
        )
        parts.append(f"## {model}\n\n{markdown(shown)}")
    return PAGE.format(
        count=len(sentences),
        texts="test sentences" if in_a_row == 1 else f"texts of {in_a_row} test sentences",
        items=dataset,
        least=min(tokens),
        most=max(tokens),
        median=round(float(np.median(tokens))),
        command=command(),
        machine=machine("torch", "transformers", "numpy"),
        words=WORDS,
        tables="\n\n".join(parts),
    )


def main(arguments: argparse.Namespace) -> None:
    """Measure and write both files."""
    if arguments.output.suffix != ".csv":
        raise InputError(f"--output: '{arguments.output}' must end in .csv; the page is written beside it")
    torch.set_num_threads(1)
    texts = draw(test_texts(arguments.items), arguments.sentences * arguments.in_a_row, "chance by rows")
    if arguments.in_a_row > 1:
        texts = joined(texts, arguments.in_a_row)
    tables = []
    for name, folder in arguments.models:
        classifier = load_saved(folder, max_tokens=128)
        sentences = read_by(classifier, texts)
        table = pd.DataFrame(curves(sentences, Evaluator(classifier), arguments.settings))
        tables.append(table.assign(model=name))
    table = pd.concat(tables, ignore_index=True)
    with replacing(arguments.output) as path:
        table.to_csv(path, index=False, float_format="%.4g")
    with replacing(arguments.output.with_suffix(".md")) as path:
        path.write_text(page(table, sentences, arguments.items.parent.name, arguments.in_a_row), encoding="utf-8")
    illustrate(arguments.output.with_suffix(".md"), "chance_by_rows")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=named_folder, nargs="+", required=True, help="name=folder of each model")
    add_items_flag(parser)
    parser.add_argument("--sentences", type=int, default=32, help="how many sentences")
    parser.add_argument("--in-a-row", type=int, default=1, help="how many sentences make a text")
    parser.add_argument("--settings", nargs="+", choices=CURVES, default=list(CURVES), help="default: all")
    parser.add_argument("--output", type=Path, required=True, help="table (CSV); the page is written beside it")
    command_line.run(main, parser)
