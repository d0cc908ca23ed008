"""Measure how far estimates of Shapley values are from the exact ones, by the number of rows they take.

The exact values come from all subsets of a sentence's tokens, which limits it to short sentences. Every estimator, ours
and the peers', then reads the same values of subsets: the target's probability, hidden tokens being masked and special
tokens kept. LIME is measured likewise, against its own coefficients with very many samples.

Writes a table of medians and quartiles (CSV), and beside it a page that shows it (the same name, ``.md``).
``make bench-exact-shapley`` runs it.
"""

import argparse
import inspect
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import shap
import torch
from captum.attr import KernelShap, ShapleyValueSampling
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from page_figures import illustrate
from report import WORDS, command, machine, markdown
from texts import add_items_flag, read_by, test_texts

from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.core.tables import replacing
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.explainers import shapley, shapley_sampling
from evenlight.explainers.hiding import hideable, reduced_rows
from evenlight.explainers.kernel_shap.paper import KERNEL_ESTIMATORS
from evenlight.explainers.lime.paper import coefficients
from evenlight.explainers.token_tree import Node, token_texts, token_tree
from evenlight.jobs import command_line
from evenlight.models.classifier import load_saved

MOST_TOKENS = 14
LIME_SAMPLES = 5000
LIME_SETTINGS = {"samples": LIME_SAMPLES, "maximum_samples": LIME_SAMPLES, "kernel_width": 25.0, "ridge": 1.0}


@dataclass(frozen=True)
class Game:
    """One sentence's values of all subsets of its tokens.

    Attributes:
        name: the item.
        value: of the subsets in the order of binary numbers, the first token counting 1; (2^features,).
        tree: what Partition SHAP merges, as a linkage matrix (features − 1, 4).
    """

    name: str
    value: np.ndarray
    tree: np.ndarray

    @property
    def features(self) -> int:
        """Number of tokens."""
        return len(self.value).bit_length() - 1

    def ask(self, shown: np.ndarray) -> np.ndarray:
        """Values (rows,) of subsets (rows, features)."""
        return self.value[(np.asarray(shown) > 0.5) @ (1 << np.arange(self.features))]


def linkage(tree: Node, features: int) -> np.ndarray:
    """A tree of runs in SciPy's form, which shap reads: left, right, height, size of each merge."""
    merges: list[list[float]] = []

    def number(node: Node) -> int:
        if node.left is None:
            return node.first
        left, right = number(node.left), number(node.right)
        merges.append([left, right, len(merges) + 1, node.last - node.first])
        return features + len(merges) - 1

    number(tree)
    return np.array(merges, dtype=float)


def game_of(sentence: Sentence, evaluator: Evaluator, at_once: int = 2**14) -> Game:
    """Ask the model about every subset of a sentence's tokens."""
    classifier = evaluator.classifier
    places = hideable(sentence, "excluded")
    shown = shapley.all_subsets(len(places))
    mask = classifier.special_token("mask")
    value = [
        evaluator.probabilities(reduced_rows(sentence, places, part, mask))[:, sentence.target]
        for part in np.array_split(shown, -(-len(shown) // at_once))
    ]
    texts = token_texts(sentence)
    tree = token_tree([texts[place] for place in places])
    return Game(sentence.item_id, np.concatenate(value), linkage(tree, len(places)))


# Estimators: a game, a number of rows and a seed to an estimate (features,), or None where the rows do not suffice ----

Estimator = Callable[[Game, int, int], np.ndarray | None]


def our_kernel_shap(estimator: str) -> Estimator:
    """Our Kernel SHAP."""

    def estimate(game: Game, rows: int, seed: int) -> np.ndarray:
        generator = generator_for(seed, game.name, estimator)
        plan = KERNEL_ESTIMATORS[estimator](game.features, rows, generator)
        return plan.solve(game.ask(plan.shown))

    return estimate


def our_sampling(estimator: str) -> Estimator:
    """Our permutation sampling, with as many orders as the rows allow."""

    def estimate(game: Game, rows: int, seed: int) -> np.ndarray | None:
        orders = (rows - 2) // (game.features - 1)
        if estimator != "independent":
            orders -= orders % 2
        if orders == 0:
            return None
        generator = generator_for(seed, game.name, estimator)
        plan = shapley_sampling.SAMPLING_ESTIMATORS[estimator](game.features, orders, generator)
        return plan.solve(game.ask(plan.shown))

    return estimate


def shap_kernel(game: Game, rows: int, seed: int) -> np.ndarray:
    """shap's KernelExplainer without its selection of features; two of its rows are the ends."""
    np.random.seed(seed)
    explainer = shap.KernelExplainer(game.ask, np.zeros((1, game.features)), silent=True)
    return explainer.shap_values(np.ones((1, game.features)), nsamples=rows - 2, l1_reg=False, silent=True)[0]


def shap_partition(game: Game, rows: int, seed: int) -> np.ndarray:
    """shap's PartitionExplainer on the tree of its text masker."""
    np.random.seed(seed)
    masker = shap.maskers.Partition(np.zeros((1, game.features)), clustering=game.tree)
    explainer = shap.PartitionExplainer(game.ask, masker)
    return explainer(np.ones((1, game.features)), max_evals=rows, silent=True).values[0]


def _as_captum(game: Game) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda shown: torch.from_numpy(game.ask(shown.numpy()))


def captum_kernel(game: Game, rows: int, seed: int) -> np.ndarray:
    """captum's KernelShap, whose samples include the ends."""
    torch.manual_seed(seed)
    whole = torch.ones(1, game.features)
    return KernelShap(_as_captum(game)).attribute(whole, baselines=0 * whole, n_samples=rows)[0].numpy()


def captum_sampling(game: Game, rows: int, seed: int) -> np.ndarray | None:
    """captum's ShapleyValueSampling: a row for each token of each order, and one for the empty text."""
    orders = (rows - 1) // game.features
    if orders == 0:
        return None
    torch.manual_seed(seed)
    whole = torch.ones(1, game.features)
    return ShapleyValueSampling(_as_captum(game)).attribute(whole, baselines=0 * whole, n_samples=orders)[0].numpy()


OURS = {
    "kernel_shap, sampled": our_kernel_shap("sampled"),
    "kernel_shap, paired": our_kernel_shap("paired"),
    "kernel_shap, leverage": our_kernel_shap("leverage"),
    "kernel_shap, surrogate": our_kernel_shap("surrogate"),
    "kernel_shap, chosen": our_kernel_shap("chosen"),
    "shapley_sampling, independent": our_sampling("independent"),
    "shapley_sampling, paired": our_sampling("paired"),
    "shapley_sampling, adjusted": our_sampling("adjusted"),
}
PEERS = {
    "shap KernelExplainer": shap_kernel,
    "shap PartitionExplainer": shap_partition,
    "captum KernelShap": captum_kernel,
    "captum ShapleyValueSampling": captum_sampling,
}
# Owen values are another quantity: more rows bring it no nearer to Shapley values.
OTHER_QUANTITY = "shap PartitionExplainer"


def lime_coefficients(game: Game, seed: int, samples: int, asked: int | None) -> np.ndarray:
    """LIME on the game's tokens, with the draws of the seed."""
    settings = LIME_SETTINGS | {"samples": samples, "asked": asked}
    generator = generator_for(seed, game.name, "lime")
    question = coefficients(game.features, list, lambda value: value, settings, generator)
    try:
        question.send(game.ask(np.array(next(question))))
    except StopIteration as stop:
        return stop.value[0]
    raise RuntimeError("LIME asks once")


LIME = {
    "lime, fewer samples": lambda game, rows, seed: lime_coefficients(game, seed, rows, None),
    "lime, asked": lambda game, rows, seed: lime_coefficients(game, seed, LIME_SAMPLES, rows),
}


# The measurement -----------------------------------------------------------------------------------------------------


def measured(games: list[Game], budgets: list[int], seeds: int) -> Iterator[dict]:
    """One row per estimator, budget, sentence and seed."""
    for game in games:
        exact = shapley.exact_values(game.value)
        print(f"{game.name}: {game.features} tokens", flush=True)
        for seed in range(seeds):
            many = lime_coefficients(game, seed, LIME_SAMPLES, None)
            for rows in budgets:
                for kind, estimators, truth in (("ours", OURS, exact), ("peer", PEERS, exact), ("lime", LIME, many)):
                    for name, estimate in estimators.items():
                        found = estimate(game, rows, seed)
                        if found is not None:
                            error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
                            rank = spearmanr(found, truth).statistic
                            yield {"kind": kind, "estimator": name, "rows": rows, "error": error, "rank": rank}


def summarised(runs: pd.DataFrame) -> pd.DataFrame:
    """Median and quartiles of the relative error and of the rank correlation, by estimator and rows."""
    grouped = runs.groupby(["kind", "estimator", "rows"], sort=False)
    table = grouped["error"].describe(percentiles=[0.25, 0.5, 0.75])[["count", "50%", "25%", "75%"]]
    table.columns = ["runs", "error_median", "error_lower_quartile", "error_upper_quartile"]
    rank = grouped["rank"].quantile([0.25, 0.5, 0.75]).unstack()
    table["rank_median"], table["rank_lower_quartile"], table["rank_upper_quartile"] = rank[0.5], rank[0.25], rank[0.75]
    return table.reset_index().astype({"runs": int})


def rows_for(table: pd.DataFrame, estimator: str, error: float) -> float:
    """Rows with which an estimator's median error falls to ``error``, between the budgets by a power law.

    Infinite where the largest budget does not suffice; the smallest budget where less would do.
    """
    own = table[table["estimator"] == estimator].sort_values("rows")
    rows, errors = own["rows"].to_numpy(float), own["error_median"].to_numpy()
    reached = np.flatnonzero(errors <= error)
    if not len(reached):
        return np.inf
    last = reached[0]
    if last == 0:
        return rows[0]
    logs = np.log([errors[last - 1], errors[last], rows[last - 1], rows[last]])
    return float(np.exp(np.interp(-np.log(error), -logs[:2], logs[2:])))


def rows_needed(table: pd.DataFrame) -> pd.DataFrame:
    """Rows with which each of our estimators reaches a peer's median error, by peer and the peer's rows."""
    peers = table[table["estimator"].isin(set(PEERS) - {OTHER_QUANTITY})]
    lines = [
        {"peer": peer, "rows": rows, "error": error} | {name: rows_for(table, name, error) for name in OURS}
        for peer, rows, error in zip(peers["estimator"], peers["rows"], peers["error_median"], strict=True)
    ]
    return pd.DataFrame(lines)


def shares(table: pd.DataFrame) -> str:
    """The same as shares of the peer's rows, for the page."""
    needed = rows_needed(table)
    cells = needed[["peer", "rows"]].assign(error=needed["error"].map("{:.3g}".format))
    for name in OURS:
        budgets = table.loc[table["estimator"] == name, "rows"]
        cells[name] = [
            share_cell(own, rows, budgets.min(), budgets.max())
            for own, rows in zip(needed[name], needed["rows"], strict=True)
        ]
    return markdown(cells)


def share_cell(own: float, rows: int, smallest: int, largest: int) -> str:
    """``own`` rows as a share of a peer's ``rows``, as far as budgets from ``smallest`` to ``largest`` tell."""
    if own > largest:
        return f"> {largest / rows:.2f}"
    if own > smallest:
        return f"{own / rows:.2f}"
    return f"≤ {smallest / rows:.2f}" if smallest <= rows else "–"


def reached(table: pd.DataFrame, ours: str, share: float = 1 / 3) -> str:
    """From how many of each peer's rows on our estimator needs no more than a share of them, as a sentence."""
    needed = rows_needed(table)
    said = []
    for peer, own in needed.groupby("peer", sort=False):
        missed = max(own.loc[own[ours] > share * own["rows"], "rows"], default=0)
        beyond = own.loc[own["rows"] > missed, "rows"]
        said.append(f"{peer} from {beyond.min()} rows on" if len(beyond) else f"{peer} at no budget")
    return f"`{ours}` has the error of these peers with a third of their rows or fewer: {', '.join(said)}."


def by_rows(table: pd.DataFrame, kinds: tuple[str, ...], value: str) -> str:
    """Estimators down, rows across; ``value`` is ``error`` (median and quartiles) or ``rank`` (median)."""
    own = table[table["kind"].isin(kinds)].copy()
    cell = own[f"{value}_median"].map("{:.3g}".format)
    if value == "error":
        quartiles = [own[f"error_{side}_quartile"].map("{:.2g}".format) for side in ("lower", "upper")]
        cell += " (" + quartiles[0] + "–" + quartiles[1] + ")"
    own["cell"] = cell
    wide = own.pivot(index="estimator", columns="rows", values="cell").reindex(own["estimator"].unique()).fillna("–")
    return markdown(wide.reset_index())


def page(table: pd.DataFrame, games: list[Game], dataset: str, seeds: int) -> str:
    """The page that shows the table."""
    tokens = sorted(game.features for game in games)
    body = f"""\
        # Error of Shapley values and LIME by the number of rows

        {len(games)} test sentences of {dataset} with {tokens[0]} to {tokens[-1]} tokens (special ones not counted),
        {seeds} seeds each.
        The value of a subset is the target's probability when all other tokens are masked and special tokens kept.
        Exact Shapley values are from all subsets. All estimators read the same values. So they differ in which subsets
        they ask about and what they make of the answers. `rows` counts every row that an estimator asks for, the whole
        and the empty text included.

        Made by `{command()}` on {machine("torch", "transformers", "shap", "captum", "numpy")}.
        {WORDS}

        ## Relative error

        ‖estimate − exact‖ / ‖exact‖, median (quartiles) over sentences and seeds.

        {{error}}

        The PartitionExplainer of shap estimates Owen values on a tree of neighbouring tokens. They are not Shapley
        values: what remains of its error with many rows is that difference.

        ## Rank correlation

        Spearman's, median.

        {{rank}}

        ## Rows for a peer's error

        Share of the peer's rows with which our estimators reach its median error. It is interpolated between budgets by
        a power law. There is a ≤ where the smallest budget already reaches it, and a > where the largest does not.
        {{reached}}

        {{shares}}

        ## LIME

        Relative error against LIME's own coefficients with {LIME_SAMPLES} samples. `fewer samples` is LIME with only so
        many, in which the ridge penalty also weighs more. `asked` draws all of them and asks about so many. A Gaussian
        process that is fitted to the answers gives the rest.

        {{lime}}
        """
    return inspect.cleandoc(body).format(
        error=by_rows(table, ("ours", "peer"), "error"),
        rank=by_rows(table, ("ours", "peer"), "rank"),
        shares=shares(table),
        reached=reached(table, "kernel_shap, surrogate"),
        lime=by_rows(table, ("lime",), "error"),
    )


def drawn_sentences(sentences: list[Sentence], least: int, most: int, count: int) -> list[Sentence]:
    """``count`` different sentences with ``least`` to ``most`` tokens that may be hidden, drawn at random."""
    fitting = {
        sentence.token_id.tobytes(): sentence
        for sentence in sentences
        if least <= len(hideable(sentence, "excluded")) <= most
    }
    if len(fitting) < count:
        raise InputError(
            f"--items: only {len(fitting)} different test sentences have {least} to {most} tokens; lower --sentences "
            "or widen --tokens"
        )
    order = generator_for(0, "shapley error").permutation(len(fitting))[:count]
    return [list(fitting.values())[index] for index in order]


def main(arguments: argparse.Namespace) -> None:
    """Measure and write both files."""
    least, most = arguments.tokens
    if not 3 <= least <= most <= MOST_TOKENS:
        raise InputError(f"--tokens: two numbers from 3 to {MOST_TOKENS}, the smaller first, not {least} {most}")
    if min(arguments.rows) < 4 or max(arguments.rows) >= 2**least:
        raise InputError(f"--rows: from 4 to fewer than the 2^{least} subsets of the shortest sentences")
    if arguments.output.suffix != ".csv":
        raise InputError(f"--output: '{arguments.output}' must end in .csv; the page is written beside it")
    warnings.simplefilter("ignore")
    logging.getLogger("shap").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    classifier = load_saved(arguments.model, max_tokens=128)
    sentences = drawn_sentences(read_by(classifier, test_texts(arguments.items)), least, most, arguments.sentences)
    evaluator = Evaluator(classifier, tokens_per_batch=16384)
    games = [game_of(sentence, evaluator) for sentence in sentences]
    table = summarised(pd.DataFrame(measured(games, sorted(arguments.rows), arguments.seeds)))
    with replacing(arguments.output) as path:
        table.to_csv(path, index=False, float_format="%.6g")
    text = page(table, games, arguments.items.parent.name, arguments.seeds)
    with replacing(arguments.output.with_suffix(".md")) as path:
        path.write_text(text + "\n", encoding="utf-8")
    illustrate(arguments.output.with_suffix(".md"), "shapley_error")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder of a trained model")
    add_items_flag(parser)
    parser.add_argument("--sentences", type=int, default=16, help="how many sentences")
    parser.add_argument(
        "--tokens", type=int, nargs=2, default=[12, MOST_TOKENS], help="fewest and most tokens of a sentence"
    )
    parser.add_argument("--seeds", type=int, default=5, help="runs of each estimator per sentence")
    parser.add_argument("--rows", type=int, nargs="+", default=[16, 32, 64, 128, 256, 512, 1024], help="row budgets")
    parser.add_argument("--output", type=Path, required=True, help="table (CSV); the page is written beside it")
    command_line.run(main, parser)
