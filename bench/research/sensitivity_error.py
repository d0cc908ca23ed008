"""Measure what `worst_change` and `max_sensitivity` miss with few perturbations of real sentences, and what they cost.

Each text is explained again at the points of attacks of 1, 2, 3 … steps, and at random draws; the value with few of
them is compared with that of many. An attack of other steps takes another way, so every number of steps is a run of
its own, while the first draws of many are those of few. Rows that go through the network more than once are counted.

Writes a table (CSV), and beside it a page that shows it (the same name, ``.md``). ``make bench-sensitivity`` runs it.
"""

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import yaml
from scipy.stats import spearmanr
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from estimate_cost import counted
from page_figures import illustrate
from report import WORDS, command, machine, markdown
from texts import add_items_flag, draw, read_by, test_texts

from evenlight import configuration
from evenlight.core.errors import InputError
from evenlight.core.tables import replacing
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, explain
from evenlight.jobs import command_line
from evenlight.metrics import Explanation, Origin, explanation_of
from evenlight.metrics.worst_change import Start, ascent, changes, draws_in_ball, radii_of, start_of
from evenlight.models.classifier import load_saved
from evenlight.models.processor import use_processor

STEPS = (1, 2, 3, 5, 10)
DRAWS = (1, 2, 5, 10, 20)


def explained(config: dict, names: list[str], sentences: list[Sentence], evaluator: Evaluator) -> list[list]:
    """The explanations of each sentence by the explainers ``names``, those that ask the model."""
    by_sentence: list[list[Explanation]] = [[] for _ in sentences]
    for family, members in configuration.explainer_families(config).items():
        methods = {name: config["explainers"][name] for name in members if name in names}
        if not methods or not configuration.asks_model("explainers", family):
            continue
        for name, found in explain(family, sentences, methods, Context(evaluator, 0, None)).items():
            origin = Origin(name, methods[name], 0, family)
            for own, sentence, one in zip(by_sentence, sentences, found.attributions, strict=True):
                own.append(explanation_of(sentence, one.token_score, origin=origin))
    return by_sentence


def changes_at(
    points: Callable[[list[Start]], list], texts: list[list[Explanation]], evaluator: Evaluator
) -> np.ndarray:
    """Relative change of each explanation at each point, (texts, explainers, points)."""
    starts = [start_of(own[0], evaluator.classifier) for own in texts]
    return np.array(changes(starts, points(starts), texts, evaluator))


@contextmanager
def rows_seen(evaluator: Evaluator) -> Iterator[Counter]:
    """How often each row of vectors goes through the network without a gradient, while open."""
    seen: Counter = Counter()

    def count(network: nn.Module, arguments: tuple, named: dict) -> None:
        if not torch.is_grad_enabled():
            inside = named["attention_mask"].bool()
            for vectors, is_token in zip(named["inputs_embeds"], inside, strict=True):
                seen[hashlib.sha256(vectors[is_token].numpy().tobytes()).digest()] += 1

    hook = evaluator.classifier.network.base_model.register_forward_pre_hook(count, with_kwargs=True)
    try:
        yield seen
    finally:
        hook.remove()


def attacked(settings: dict, evaluator: Evaluator) -> Callable[[list[Start]], list]:
    """Gives the steps of an attack on each text."""
    return lambda starts: ascent(
        [start.input for start in starts], [start.token_index for start in starts], settings, evaluator
    )


def drawn(settings: dict) -> Callable[[list[Start]], list]:
    """Gives random draws around each text, the same for every explainer."""

    def points(starts: list[Start]) -> list:
        inputs, token_index = [start.input for start in starts], [start.token_index for start in starts]
        return [
            draws_in_ball(start.explanation, start.input.vectors[start.token_index], settings, radius, search=0)
            for start, radius in zip(starts, radii_of(inputs, token_index, settings), strict=True)
        ]

    return points


def compared(few: np.ndarray, many: np.ndarray, names: list[str], setting: str, points: int) -> Iterator[dict]:
    """What the worst of ``few`` points, (texts, explainers, points), misses of the worst of ``many``, by explainer."""
    for index, name in enumerate(names):
        value, reference = few[:, index].max(-1), many[:, index].max(-1)
        # A text whose explanation nothing changes has nothing to miss.
        missed = np.abs(value - reference)[reference > 0] / reference[reference > 0]
        yield {
            "setting": setting,
            "explanations": points,
            "explainer": name,
            "reference": float(np.median(reference)),
            "error": float(np.median(missed)),
            "error_of_one_in_twenty": float(np.quantile(missed, 0.95)),
            "rank": float(spearmanr(value, reference).statistic),
        }


def curves(
    texts: list[list[Explanation]], evaluator: Evaluator, balls: dict[str, dict], reference: int, draws: int
) -> Iterator[dict]:
    """A row for each metric, number of points and explainer."""
    names = [one.origin.explainer for one in texts[0]]
    settings = balls["worst_change"]
    many = changes_at(attacked(settings | {"steps": reference}, evaluator), texts, evaluator)
    for steps in STEPS:
        few = changes_at(attacked(settings | {"steps": steps}, evaluator), texts, evaluator)
        print(f"{steps} steps", flush=True)
        yield from compared(few, many, names, f"worst_change, steps {steps}", steps)
        if steps == settings["steps"]:
            yield from compared(few[..., -1:], few, names, f"worst_change, the last of {steps} steps", 1)
    many = changes_at(drawn(balls["max_sensitivity"] | {"draws": draws}), texts, evaluator)
    for count in DRAWS:
        yield from compared(many[..., :count], many, names, f"max_sensitivity, draws {count}", count)


def costs(config: dict, names: list[str], sentences: list[Sentence], evaluator: Evaluator) -> Iterator[dict]:
    """Tokens that pass through the network for one explanation of a text, padding included, by explainer."""
    for name in names:
        _, work = counted(
            lambda name=name: explained(config, [name], sentences, evaluator), evaluator.classifier, len(sentences)
        )
        yield {"explainer": name, "without a gradient": round(work.forward), "with one": round(work.gradient)}


PAGE = """\
# What sensitivity costs, and what few perturbations miss

`worst_change` and `max_sensitivity` explain every text again at some points of a ball. So each point costs what an
explanation costs. Test sentences of {items}, radii {radii}.

- *error*: median over the sentences of |value − reference| / reference. In brackets stands what one sentence in twenty
  exceeds.
- *rank*: Spearman's correlation of the sentences' values with their references. Of few sentences it says little.
- *references*: an attack of {reference} steps, or the largest of {draws} draws, of which the fewer are the first. For
  the last of an attack's steps alone it is all of its steps. The largest change of a few draws is never above that of
  more.

Made by `{command}` on {machine}. {words}

{parts}
"""


def part(name: str, table: pd.DataFrame, cost: pd.DataFrame, seen: Counter, count: int, steps: int) -> str:
    """The tables of a model and of ``count`` sentences."""
    shown = table.assign(
        value=table["error"].map("{:.1%}".format)
        + " ("
        + table["error_of_one_in_twenty"].map("{:.0%}".format)
        + "), "
        + table["rank"].map("{:.2f}".format)
    )
    errors = shown.pivot_table(
        index=["setting", "explanations"], columns="explainer", values="value", aggfunc="first", sort=False
    ).reset_index()
    medians = table.groupby(["setting", "explainer"], sort=False)["reference"].first().unstack().iloc[[0, -1]]
    medians.insert(0, "reference", ["worst_change", "max_sensitivity"])
    return "\n\n".join(
        [
            f"## {name}, {count} sentences",
            "Error and rank:",
            markdown(errors),
            "Medians of the references:",
            markdown(medians.round(4)),
            "Tokens through the network for one explanation of a text:",
            markdown(cost),
            f"Of {seen.total():,} rows that an attack of {steps} steps sends through the network without a gradient, "
            f"for all explainers together, {seen.total() - len(seen):,} went through it before.",
        ]
    )


def asked_of(words: list[str]) -> tuple[str, str, int, list[str]]:
    """Name, folder, number of sentences and explainers of a model, from the words of its flag."""
    if len(words) < 3 or not words[2].isdecimal():
        raise InputError(f"--model: '{' '.join(words)}' is not a name, a folder, a number of sentences, and explainers")
    name, folder, count, *explainers = words
    return name, folder, int(count), explainers


def write(arguments: argparse.Namespace, balls: dict[str, dict], tables: list[pd.DataFrame], parts: list[str]) -> None:
    """The table and the page of all models so far."""
    with replacing(arguments.output) as path:
        pd.concat(tables, ignore_index=True).to_csv(path, index=False, float_format="%.4g")
    text = PAGE.format(
        words=WORDS,
        items=arguments.items.parent.name,
        radii=", ".join(f"{own['radius']} in {own['norm']} ({name})" for name, own in balls.items()),
        reference=arguments.reference,
        draws=arguments.draws,
        command=command(),
        machine=machine("torch", "transformers", "numpy"),
        parts="\n\n".join(parts),
    )
    with replacing(arguments.output.with_suffix(".md")) as path:
        path.write_text(text, encoding="utf-8")
    illustrate(arguments.output.with_suffix(".md"), "sensitivity_error")


def main(arguments: argparse.Namespace) -> None:
    """Measure and write both files."""
    if arguments.output.suffix != ".csv":
        raise InputError(f"--output: '{arguments.output}' must end in .csv; the page is written beside it")
    use_processor(1)
    config = configuration.complete(yaml.safe_load(arguments.configfile.read_text(encoding="utf-8")))
    balls = {
        metric: configuration.completed_entry("metrics", "it", {"metric": metric})
        for metric in ("worst_change", "max_sensitivity")
    }
    texts = test_texts(arguments.items)
    tables, parts = [], []
    for name, folder, count, explainers in map(asked_of, arguments.model):
        evaluator = Evaluator(load_saved(folder, max_tokens=128))
        sentences = read_by(evaluator.classifier, draw(texts, count, "sensitivity error"))
        own = explained(config, explainers or list(config["explainers"]), sentences, evaluator)
        table = pd.DataFrame(curves(own, evaluator, balls, arguments.reference, arguments.draws))
        cost = pd.DataFrame(costs(config, list(table["explainer"].unique()), sentences, evaluator))
        with rows_seen(evaluator) as seen:
            changes_at(attacked(balls["worst_change"], evaluator), own, evaluator)
        tables.append(table.assign(model=name, sentences=len(sentences)))
        parts.append(part(name, table, cost, seen, len(sentences), balls["worst_change"]["steps"]))
        print(parts[-1], flush=True)
        # After each model, since what is measured takes long.
        write(arguments, balls, tables, parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--model",
        nargs="+",
        action="append",
        required=True,
        metavar="NAME FOLDER SENTENCES EXPLAINER",
        help="a trained model: name, folder, how many sentences, and explainers; without them all that ask the model",
    )
    add_items_flag(parser)
    parser.add_argument(
        "--configfile",
        type=Path,
        default=Path(__file__).parents[2] / "config/studies/disparity.yaml",
        help="the study whose explainers explain",
    )
    parser.add_argument("--reference", type=int, default=20, help="steps of the attack that others are compared with")
    parser.add_argument("--draws", type=int, default=40, help="draws that fewer are compared with")
    parser.add_argument("--output", type=Path, required=True, help="table (CSV); the page is written beside it")
    command_line.run(main, parser)
