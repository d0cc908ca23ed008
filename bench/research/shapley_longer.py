"""Measure estimates of Shapley values on 30 to 60 tokens, beside shapiq's estimators.

No model can be asked about all subsets of so many tokens. So the truth comes in two ways:

- ``joined``: a text of several sentences that the model reads one at a time. Its value is their mean, as that of a text
  in windows is. The Shapley values of such a sum are those of each sentence, and exact from all of its subsets.
- ``long``: a single text, against a very long run: the mean of many runs of permutation sampling, adjusted by a
  regression. It has no bias whatever the regression is. What the runs differ by tells how far their mean may be off.

Ours and the peers' estimators read the same values of subsets: the target's probability when all other tokens are
masked. Writes a table (CSV), and beside it a page that shows it (the same name, ``.md``). ``make bench-shapley`` runs
it in an environment that has shapiq beside ours.
"""

import argparse
import importlib
import inspect
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from shapley_error import (
    OTHER_QUANTITY,
    OURS,
    PEERS,
    Estimator,
    Game,
    by_rows,
    drawn_sentences,
    game_of,
    our_sampling,
    summarised,
)

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from page_figures import illustrate
from report import WORDS, command, machine, markdown
from texts import read_by, test_texts

from evenlight.core.errors import InputError
from evenlight.core.tables import replacing
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.explainers import shapley
from evenlight.explainers.hiding import hideable, reduced_rows
from evenlight.jobs import command_line
from evenlight.models.classifier import load_saved
from evenlight.models.processor import use_processor

# Rows of each of the runs whose mean is a long run.
BLOCK = 1024
# The one trains 41 ensembles of trees for each estimate, the other fits a Gaussian process after each row.
SLOW = ("shapiq ProxySPEX", "shapiq ShaplEIG")


@dataclass(frozen=True)
class LongGame:
    """A text with what is known of its Shapley values.

    Attributes:
        name: the item, or those that are joined.
        features: number of tokens.
        value: of subsets, bool (rows, features), to (rows,).
        truth: Shapley values (features,).
        uncertainty: standard error of ``truth`` as a vector over its length; 0 where it is exact.
    """

    name: str
    features: int
    value: Callable[[np.ndarray], np.ndarray]
    truth: np.ndarray
    uncertainty: float = 0.0

    def ask(self, shown: np.ndarray) -> np.ndarray:
        """Values (rows,) of subsets (rows, features)."""
        return self.value(np.asarray(shown) > 0.5)


def joined(parts: list[Game]) -> LongGame:
    """A text whose value is the mean of its sentences' values."""
    ends = np.cumsum([part.features for part in parts])
    truth = np.concatenate([shapley.exact_values(part.value) for part in parts]) / len(parts)

    def value(shown: np.ndarray) -> np.ndarray:
        cut = np.split(shown, ends[:-1], axis=1)
        return np.mean([part.ask(columns) for part, columns in zip(parts, cut, strict=True)], axis=0)

    return LongGame(" + ".join(part.name for part in parts), int(ends[-1]), value, truth)


def long_run(sentence: Sentence, evaluator: Evaluator, rows: int) -> LongGame:
    """A text of its own, with the Shapley values of a run of so many rows."""
    places = hideable(sentence, "excluded")
    mask = evaluator.classifier.special_token("mask")

    def value(shown: np.ndarray) -> np.ndarray:
        return evaluator.probabilities(reduced_rows(sentence, places, shown, mask))[:, sentence.target]

    game = LongGame(sentence.item_id, len(places), value, np.zeros(len(places)))
    # Draws that no estimate has, whose seeds count from 0.
    runs = np.array([our_sampling("adjusted")(game, BLOCK, 1_000_000 + block) for block in range(rows // BLOCK)])
    truth = runs.mean(axis=0)
    uncertainty = np.sqrt((runs.var(axis=0, ddof=1) / len(runs)).sum()) / np.linalg.norm(truth)
    return LongGame(game.name, game.features, value, truth, float(uncertainty))


def by_shapiq(name: str, most: float = np.inf, **settings: object) -> Estimator:
    """An estimator of shapiq's, by its name there; None where its version has none, or of more than ``most`` rows."""

    def estimate(game: LongGame, rows: int, seed: int) -> np.ndarray | None:
        make = getattr(importlib.import_module("shapiq.approximator"), name, None)
        if make is None or rows > most:
            return None
        found = make(n=game.features, random_state=seed, **settings).approximate(budget=rows, game=game.ask)
        return np.array([found[(feature,)] for feature in range(game.features)])

    return estimate


ESTIMATORS = {
    **{("ours", name): estimate for name, estimate in OURS.items() if name != "kernel_shap, sampled"},
    **{("peer", name): PEERS[name] for name in PEERS if name.startswith("shap ") and name != OTHER_QUANTITY},
    ("peer", "shapiq kADDSHAP, paired"): by_shapiq("kADDSHAP", max_order=2, pairing_trick=True),
    ("peer", "shapiq SVARM"): by_shapiq("SVARM"),
    # Minutes for 1,024 rows, whose error is that of 256.
    ("peer", SLOW[0]): by_shapiq("ProxySPEX", most=256, index="SV", max_order=1),
    # Since shapiq 1.6, which needs Python 3.12.
    ("peer", "shapiq ProxySHAP"): by_shapiq("ProxySHAP", index="SV", max_order=1),
    ("peer", "shapiq ProxySHAP, adjusted"): by_shapiq("ProxySHAP", index="SV", max_order=1, adjustment=True),
    ("peer", "shapiq RegressionMSR"): by_shapiq("RegressionMSR", index="SV"),
    ("peer", "shapiq OddSHAP"): by_shapiq("OddSHAP"),
    ("peer", "shapiq PolySHAP"): by_shapiq("PolySHAP", pairing_trick=True),
    # Half a minute for 64 rows, and its time grows faster than their number.
    ("peer", SLOW[1]): by_shapiq("ShaplEIG", most=64, show_progress=False),
}


def measured(games: list[LongGame], budgets: list[int], seeds: int, slow: int) -> Iterator[dict]:
    """One row per estimator, budget, game and seed; the slow ones on the first ``slow`` games and one seed."""
    for number, game in enumerate(games):
        for rows in budgets:
            for seed in range(seeds):
                for (kind, name), estimate in ESTIMATORS.items():
                    if name in SLOW and (number >= slow or seed):
                        continue
                    started = time.process_time()
                    found = estimate(game, rows, seed)
                    if found is None:
                        continue
                    error = np.linalg.norm(found - game.truth) / np.linalg.norm(game.truth)
                    rank = spearmanr(found, game.truth).statistic
                    yield {"kind": kind, "estimator": name, "rows": rows, "error": error, "rank": rank} | {
                        "seconds": time.process_time() - started
                    }
        print(f"{game.name}: {game.features} tokens, truth to {game.uncertainty:.1e}", flush=True)


def first(table: pd.DataFrame) -> str:
    """Which estimator has the least median error at each number of rows, as a sentence; slow ones had fewer texts."""
    said = []
    for rows, own in table[~table["estimator"].isin(SLOW)].groupby("rows"):
        best = own.sort_values("error_median").iloc[:2]
        ratio = best["error_median"].iloc[1] / best["error_median"].iloc[0]
        said.append(f"{rows} rows: {best['estimator'].iloc[0]} ({ratio:.2f} times before {best['estimator'].iloc[1]})")
    return f"Least median error with {'; '.join(said)}."


def section(name: str, kind: str, games: list[LongGame], table: pd.DataFrame) -> str:
    """What the page says of one model's texts."""
    tokens = sorted(game.features for game in games)
    truth = "exactly"
    if kind == "joined":
        sentences = {sentence for game in games for sentence in game.name.split(" + ")}
        truth += f", and they are made of {len(sentences)} sentences"
    else:
        truth = f"to {max(game.uncertainty for game in games):.1g} of its length (standard error, the largest)"
    body = f"""\
        ## {name}

        {len(games)} texts of {tokens[0]} to {tokens[-1]} tokens. Their Shapley values are known {truth}.
        {first(table)}

        {{error}}

        Spearman's rank correlation, median:

        {{rank}}
        """
    kinds = ("ours", "peer")
    return inspect.cleandoc(body).format(error=by_rows(table, kinds, "error"), rank=by_rows(table, kinds, "rank"))


def games_of(kind: str, folder: Path, items_path: Path, tokens: list[int], count: int, arguments) -> list[LongGame]:
    """The texts of one model."""
    classifier = load_saved(folder, max_tokens=128)
    sentences = drawn_sentences(read_by(classifier, test_texts(items_path)), *tokens, count)
    evaluator = Evaluator(classifier)
    if kind == "long":
        return [long_run(sentence, evaluator, arguments.long_rows) for sentence in sentences]
    parts = [game_of(sentence, evaluator) for sentence in sentences]
    # Each sentence with those that follow it, the last ones with the first.
    return [joined([parts[(start + one) % count] for one in range(arguments.joined)]) for start in range(count)]


def write(arguments: argparse.Namespace, table: pd.DataFrame, sections: list[str], runs: pd.DataFrame) -> None:
    """The table and the page."""
    with replacing(arguments.output) as path:
        table.to_csv(path, index=False, float_format="%.6g")
    spent = runs.groupby(["estimator", "rows"], sort=False)["seconds"].median().unstack()
    body = f"""\
        # Error of Shapley values of 30 to 60 tokens

        {{about}}

        ‖estimate − truth‖ / ‖truth‖, median (quartiles) over texts and {arguments.seeds} seeds; {" and ".join(SLOW)} on
        {arguments.slow} texts of each model with one seed. `joined` are texts of {arguments.joined} sentences, `long`
        runs have {arguments.long_rows:,} rows.

        Made by `{command()}` on {machine("torch", "shapiq", "shap", "lightgbm", "numpy")}.
        {WORDS}

        {{sections}}

        ## Processor time

        Seconds of an estimate over all models, median, in which the model's answers are counted too.

        {{seconds}}
        """
    page = inspect.cleandoc(body).format(
        about="\n\n".join(inspect.cleandoc(__doc__).split("\n\n")[1:-1]),
        sections="\n\n".join(sections),
        seconds=markdown(spent.map("{:.2g}".format).replace("nan", "–").reset_index()),
    )
    with replacing(arguments.output.with_suffix(".md")) as path:
        path.write_text(page + "\n", encoding="utf-8")
    illustrate(arguments.output.with_suffix(".md"), "shapley_longer")


def main(arguments: argparse.Namespace) -> None:
    """Measure and write both files."""
    if arguments.output.suffix != ".csv":
        raise InputError(f"--output: '{arguments.output}' must end in .csv; the page is written beside it")
    warnings.simplefilter("ignore")
    use_processor(1)
    tables, sections, seconds = [], [], []
    for name, kind, folder, items, least, most, count in arguments.games:
        if kind not in ("joined", "long"):
            raise InputError(f"--games: the kind is 'joined' or 'long', not '{kind}'")
        games = games_of(kind, Path(folder), Path(items), [int(least), int(most)], int(count), arguments)
        runs = pd.DataFrame(measured(games, sorted(arguments.rows), arguments.seeds, arguments.slow))
        seconds.append(runs)
        table = summarised(runs)
        tables.append(table.assign(games=f"{name}, {kind}"))
        sections.append(section(f"{name}, {kind}", kind, games, table))
        print(sections[-1], flush=True)
        # After each model, since what is measured takes long.
        write(arguments, pd.concat(tables), sections, pd.concat(seconds))


def add_games_flag(parser: argparse.ArgumentParser, parts: str) -> None:
    """The flag of a model's texts, which may be repeated; ``parts`` says what its seven values are."""
    names = ("NAME", "KIND", "MODEL", "ITEMS", "LEAST", "MOST", "COUNT")
    parser.add_argument(
        "--games", nargs=7, action="append", required=True, metavar=names, help=f"a model's texts: {parts}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_games_flag(parser, "name, joined or long, folder, items (Parquet), tokens of a sentence, how many sentences")
    parser.add_argument("--joined", type=int, default=3, help="sentences in a joined text")
    parser.add_argument("--long-rows", type=int, default=24 * BLOCK, help="rows of a long run")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each estimator per text")
    parser.add_argument("--slow", type=int, default=2, help=f"texts of each model for {' and '.join(SLOW)}")
    parser.add_argument("--rows", type=int, nargs="+", default=[64, 256, 1024], help="row budgets")
    parser.add_argument("--output", type=Path, required=True, help="table (CSV); the page is written beside it")
    command_line.run(main, parser)
