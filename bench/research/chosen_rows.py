"""Measure what choosing rows, cheaper levels of a network, and corrected answers of LIME do to the error.

All read the target's probability when hidden tokens are masked. Kernel SHAP's estimators ask equal numbers of rows:
``surrogate`` draws pairs of complements, ``chosen`` takes those that tell most, and ``leverage`` has a regression in
place of the Gaussian process. Texts are ``exact``, with all subsets asked, or ``long``, against a long run without
bias. Writes a page (Markdown); ``make bench-chosen`` runs it.
"""

import argparse
import inspect
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from shapley_error import OURS, Game, drawn_sentences, game_of, lime_coefficients
from shapley_longer import LongGame, add_games_flag, long_run

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from report import WORDS, command, machine, markdown
from texts import read_by, test_texts

from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.core.tables import replacing
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.explainers import shapley, surrogate
from evenlight.explainers.hiding import hideable, reduced_rows
from evenlight.explainers.kernel_shap import paper
from evenlight.explainers.lime.paper import kept_tokens, proximity, weighted_ridge
from evenlight.jobs import command_line
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.processor import use_processor

ESTIMATORS = ("leverage", "surrogate", "chosen")
ROWS = (32, 64, 128, 256)
LIME_SAMPLES = 2000
# Pairs that a level is fitted to, and those on which it is tried.
FITTED, TRIED = 32, 300


def errors(name: str, games: list[Game | LongGame], seeds: int) -> Iterator[dict]:
    """One row per estimator, number of rows, text and seed."""
    for game in games:
        truth = shapley.exact_values(game.value) if isinstance(game, Game) else game.truth
        for rows in ROWS:
            for seed in range(seeds):
                for estimator in ESTIMATORS:
                    found = OURS[f"kernel_shap, {estimator}"](game, rows, seed)
                    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
                    yield {"texts": name, "rows": rows, "estimator": estimator, "error": error}


def lime_errors(name: str, games: list[Game], seeds: int) -> Iterator[dict]:
    """LIME's coefficients of all samples, from few answers: as ``asked`` has it, and corrected."""
    for game in games:
        for seed in range(seeds):
            truth = lime_coefficients(game, seed, LIME_SAMPLES, None)
            for rows in ROWS:
                estimates = {
                    "asked": lime_coefficients(game, seed, LIME_SAMPLES, rows),
                    "corrected": corrected_lime(game, seed, rows),
                }
                for estimator, found in estimates.items():
                    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
                    yield {"texts": name, "rows": rows, "estimator": estimator, "error": error}


def corrected_lime(game: Game, seed: int, rows: int) -> np.ndarray:
    """LIME's coefficients (features,) without the bias of the Gaussian process.

    LIME is linear in the answers. The process is fitted to one half of the answers and stands in for all samples; the
    other half, weighed up to all samples, corrects what it misses. Then the halves change places.
    """
    kept = kept_tokens(generator_for(seed, game.name, "lime"), LIME_SAMPLES, game.features)
    answer = game.ask(kept[:rows])
    weight = proximity(kept, 25.0)
    total = np.zeros(game.features)
    for fold in (np.arange(rows) % 2 == 0, np.arange(rows) % 2 == 1):
        subset, first = np.unique(kept[:rows][fold], axis=0, return_index=True)
        predicted = surrogate.predict(surrogate.fit(subset, answer[fold][first]), kept)
        missed = np.zeros(len(kept))
        missed[:rows][~fold] = (answer - predicted[:rows])[~fold] * len(kept) / (~fold).sum()
        # The answers' coefficients are linear; a sum of responses gives the sum of coefficients.
        total += weighted_ridge(kept.astype(float), predicted + missed, weight, 1.0)
    return total / 2


# Levels of a network ----------------------------------------------------------------------------------------------


def layers_of(classifier: Classifier) -> list[torch.nn.Module]:
    """The layers of a network of BERT's family; none of another."""
    return list(getattr(getattr(classifier.network.base_model, "encoder", None), "layer", []))


@torch.inference_mode()
def answered(classifier: Classifier, sentence: Sentence, shown: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Target's probabilities (rows,), the first token's vectors after each layer (layers, rows, width), seconds."""
    rows = reduced_rows(sentence, hideable(sentence, "excluded"), shown, classifier.special_token("mask"))
    taken: dict[int, list] = {}

    def taking(number: int):
        def take(module: torch.nn.Module, arguments: tuple, output) -> None:
            vectors = output[0] if isinstance(output, tuple) else output
            taken.setdefault(number, []).append(vectors[:, 0].float().numpy().copy())

        return take

    hooks = [layer.register_forward_hook(taking(number)) for number, layer in enumerate(layers_of(classifier))]
    values = []
    started = time.process_time()
    for start in range(0, len(rows), 64):
        token_id, mask = classifier.padded(rows[start : start + 64])
        values.append(
            classifier.logits(classifier.embed(token_id), mask).float().softmax(-1)[:, sentence.target].numpy()
        )
    seconds = time.process_time() - started
    for hook in hooks:
        hook.remove()
    vectors = np.array([np.concatenate(taken[number]) for number in sorted(taken)], dtype=float)
    return np.concatenate(values).astype(float), vectors, seconds


def ridge_on(vectors: np.ndarray, value: np.ndarray, others: np.ndarray) -> np.ndarray:
    """A linear head on vectors, its penalty chosen by leaving one out, and its answers to others."""
    mean, offset = vectors.mean(axis=0), value.mean()
    gram = (vectors - mean) @ (vectors - mean).T
    found = []
    for penalty in np.geomspace(1e-5, 1, 8) * np.linalg.eigvalsh(gram)[-1]:
        inverse = np.linalg.inv(gram + penalty * np.eye(len(gram)))
        dual = inverse @ (value - offset)
        found.append((np.mean((dual / np.diag(inverse)) ** 2), dual))
    dual = min(found, key=lambda pair: pair[0])[1]
    return offset + (others - mean) @ (vectors - mean).T @ dual


def levels(name: str, folder: Path, sentences: list[Sentence]) -> Iterator[dict]:
    """What each cheaper level of the network explains of what the Gaussian process leaves."""
    classifier, halved = (load_saved(folder, max_tokens=128, precision=bits) for bits in ("float32", "bfloat16"))
    layers = len(layers_of(classifier))
    for sentence in sentences:
        features = len(hideable(sentence, "excluded"))
        generator = generator_for("levels", sentence.item_id)
        half, _ = paper.stratified_pairs(generator, FITTED + TRIED, features, flatness=0.5)
        # Sizes stand in order; pairs that are fitted are of all sizes.
        half = half[generator.permutation(len(half))]
        shown = np.concatenate([half, ~half])
        value, vectors, seconds = answered(classifier, sentence, shown)
        rough, _, rough_seconds = answered(halved, sentence, shown)
        fitted, tried = slice(0, FITTED), slice(FITTED, None)
        odd = odd_part(value)
        process = surrogate.fit(half[fitted], odd[fitted], surrogate.ODD)
        left = (odd - surrogate.predict(process, half))[tried]
        both = np.r_[0:FITTED, len(half) : len(half) + FITTED]
        told = {f"{number + 1} of {layers} layers": (number + 1) / layers for number in range(layers - 1)}
        found = [
            (label, ridge_on(vector[both], value[both], vector), cost)
            for (label, cost), vector in zip(told.items(), vectors, strict=False)
        ]
        for label, answer, cost in [*found, ("bfloat16", rough, rough_seconds / seconds)]:
            missed = (odd_part(answer) - surrogate.predict(process, half))[tried]
            explained = np.corrcoef(left, missed)[0, 1] ** 2
            factor = (np.sqrt(explained * cost) + np.sqrt(1 - explained)) ** 2 if cost < 1 else 1.0
            known = np.corrcoef(odd[tried], odd[tried] - left)[0, 1] ** 2
            line = {"texts": name, "level": label, "process": known, "cost": cost, "explained": explained}
            yield line | {"factor": min(1.0, factor)}


def odd_part(value: np.ndarray) -> np.ndarray:
    """Of the values of subsets and then of their complements, half of the difference."""
    first, second = np.split(value, 2)
    return (first - second) / 2


# The page ----------------------------------------------------------------------------------------------------------


def by_rows(table: pd.DataFrame, names: tuple[str, ...]) -> str:
    """Medians, texts and rows down, estimators across."""
    median = table.groupby(["texts", "rows", "estimator"], sort=False)["error"].median().unstack()[list(names)]
    return markdown(median.map("{:.3g}".format).reset_index())


def compared(table: pd.DataFrame, name: str, other: str) -> tuple[str, float]:
    """In how many cells one estimator is nearer than another, and the median ratio of their errors."""
    median = table.groupby(["texts", "rows", "estimator"], sort=False)["error"].median().unstack()
    ratio = median[name] / median[other]
    return f"{(ratio < 1).sum()} of {len(ratio)}", float(ratio.median())


def answer(found: pd.DataFrame, lime: pd.DataFrame, of_levels: pd.DataFrame) -> str:
    """What the page found, a sentence for each of its parts."""
    nearer, ratio = compared(found, "chosen", "surrogate")
    corrected, worse = compared(lime, "corrected", "asked")
    factors = of_levels.groupby(["texts", "level"], sort=False)["factor"].median()
    (_, level), factor = factors.idxmin(), factors.min()
    return (
        f"Chosen rows are nearer than drawn ones in {nearer} cells, with a median ratio of errors of {ratio:.2f}. "
        f"A corrected LIME is nearer than one that only asks the Gaussian process in {corrected}, "
        f"with a ratio of {worse:.2f}. Cheaper levels save time in {(factors < 1).sum()} of {len(factors)}; "
        f"the best, {level}, takes {factor:.2f} of it."
    )


def choosing_seconds() -> str:
    """Processor time in which pairs are chosen, once for all texts of a length."""
    lines = []
    for features in (12, 30, 60):
        line = {"tokens": features}
        for rows in (*ROWS, 512, 1024):
            paper._telling_pairs.cache_clear()
            started = time.process_time()
            paper.chosen(features, rows, np.random.default_rng(0))
            line[str(rows)] = f"{time.process_time() - started:.2g}"
        lines.append(line)
    return markdown(pd.DataFrame(lines))


def main(arguments: argparse.Namespace) -> None:
    """Measure and write the page."""
    use_processor(1)
    found, lime, of_levels, about = [], [], [], []
    for name, kind, folder, items, least, most, count in arguments.games:
        if kind not in ("exact", "long"):
            raise InputError(f"--games: the kind is 'exact' or 'long', not '{kind}'")
        classifier = load_saved(Path(folder), max_tokens=128)
        texts = read_by(classifier, test_texts(Path(items)))
        sentences = drawn_sentences(texts, int(least), int(most), int(count))
        evaluator = Evaluator(classifier)
        if kind == "exact":
            games = [game_of(sentence, evaluator) for sentence in sentences]
            lime += lime_errors(name, games, 2)
            if layers_of(classifier):
                of_levels += levels(name, Path(folder), sentences)
            about.append(f"- {name}: exact, texts: {count}")
        else:
            games = [long_run(sentence, evaluator, arguments.long_rows) for sentence in sentences]
            known = ", ".join(f"{game.uncertainty:.2f}" for game in games)
            about.append(f"- {name}: long, texts: {count}, known to {known} of their length (standard error)")
        found += errors(name, games, arguments.seeds)
        print(by_rows(pd.DataFrame(found), ESTIMATORS), flush=True)
        write(arguments, about, pd.DataFrame(found), pd.DataFrame(lime), pd.DataFrame(of_levels))


def write(arguments: argparse.Namespace, about: list[str], found: pd.DataFrame, lime: pd.DataFrame, of_levels) -> None:
    """The page."""
    body = f"""\
        # Chosen rows, cheaper levels, corrected LIME

        {{answer}}

        {{method}}

        {{about}}

        ‖estimate − truth‖ / ‖truth‖ is the error, of which medians over texts and {arguments.seeds} seeds stand here.

        Made by `{command()}` on {machine("torch", "numpy")}. {WORDS}

        ## Kernel SHAP with chosen rows

        Where there are no more pairs than tokens, ``chosen`` draws as ``surrogate`` does, and they differ by their
        draws alone.

        {{errors}}

        Processor seconds in which the pairs are chosen, by the number of rows. They depend on the number of tokens
        alone, so a process does this once for all texts of a length:

        {{choosing}}

        ## Cheaper levels of a network

        Many rows by a cheap level and few by the whole network would have no bias. The levels are the first layers
        with a linear head on the first token, fitted to {FITTED} pairs of the text, and the network in bfloat16. The
        Gaussian process, fitted to the same pairs, costs no row. `process` is the square of its correlation with the
        odd part at {TRIED} other pairs. `explained` is the share τ² of what it leaves that the level explains. `cost`
        is the level's share c of the cost of a row. `factor` is the time for the same variance over that of whole rows
        alone, (√(τ²c) + √(1 − τ²))², or 1 where the level does not help (Giles 2015, Section 1.3). Medians over texts.

        {{levels}}

        ## LIME corrected

        Error against LIME's coefficients of {LIME_SAMPLES} samples. `asked` lets the Gaussian process answer the
        samples that are not asked. `corrected` fits it to half of the answers, corrects it by the other half, and the
        reverse.

        {{lime}}
        """
    grouped = of_levels.groupby(["texts", "level"], sort=False)[["process", "cost", "explained", "factor"]].median()
    page = inspect.cleandoc(body).format(
        answer=answer(found, lime, of_levels),
        method=" ".join(inspect.cleandoc(__doc__).split("\n\n")[1].rsplit("Writes", 1)[0].split()),
        about="\n".join(about),
        errors=by_rows(found, ESTIMATORS),
        choosing=choosing_seconds(),
        levels=markdown(grouped.map("{:.2f}".format).reset_index()),
        lime=by_rows(lime, ("asked", "corrected")),
    )
    with replacing(arguments.output) as path:
        path.write_text(page + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_games_flag(parser, "name, exact or long, folder, items (Parquet), tokens of a text, how many")
    parser.add_argument("--long-rows", type=int, default=16 * 1024, help="rows of a long run")
    parser.add_argument("--seeds", type=int, default=2, help="runs of each estimator per text")
    parser.add_argument("--output", type=Path, required=True, help="the page (Markdown)")
    command_line.run(main, parser)
