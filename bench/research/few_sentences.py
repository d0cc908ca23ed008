"""How often GECOBench's claims are wrong with its twenty sentences: scores in [0, 1] drawn without a difference.

``make bench-few-sentences`` prints the table of docs/results/verdicts.md. Claims on regimes: 16 cells, three regimes
beside the baseline and a contrast of all four, on four datasets that have the same sentences. Challengers: two on each
dataset, each as good as one rival and far better than the others, so that this pair decides. The library judges one
score per sentence. With ``--results`` the first row draws the scores of that study.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr, stdtr

from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.effects import gathered, pooled_rows
from evenlight.statistics.familywise import deviate_of
from evenlight.statistics.many_groups import holm
from evenlight.statistics.study import Comparison, VerdictSettings
from evenlight.statistics.verdicts import adjusted, decidable

ALPHA, DRAWS, UNITS, FORMS = 0.05, 1000, 20, (2, 2, 3, 3)
RAREST = 2 * 0.5**UNITS
DATASETS = ("geco_all", "geco_subj", "geco_neutral_all", "geco_neutral_subj")
REGIMES = ("minilm_c", "minilm_ce", "minilm_cef", "minilm_cefaf")
NO_PART = ("attnlrp", "gim", "uniform_random", "pattern_variant")
NOISE = 0.33  # of what is drawn from a study, in standard deviations
# The scores of what is unlike the others, of uniform numbers, and their mean.
SHAPES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float]] = {
    "spread evenly": (lambda u: 0.7 + 0.3 * u, 0.85),
    "low in rare texts, mean 0.8": (lambda u: u**0.25, 0.8),
    "low in rare texts, mean 0.9": (lambda u: u ** (1 / 9), 0.9),
    "fail in one text of ten": (lambda u: (u > 0.1) * (1 - 0.02 * u), 0.9 - 0.02 * 0.495),
}


def scores(random: np.random.Generator, levels: int, unlike: list[int], shape: str) -> np.ndarray:
    """Means of the forms of each sentence, (datasets, levels, sentences), with the same mean in all levels."""
    score, mean = SHAPES[shape]
    parts = ((0.3, (1, 1)), (0.3, (1, levels)), (0.2, (4, levels)))
    latent = sum(sd * random.normal(size=(*size, UNITS, 1)) for sd, size in parts)
    latent = latent + 0.15 * random.normal(size=(4, levels, UNITS, 3))
    uniform = ndtr(latent / np.sqrt(0.09 + 0.09 + 0.04 + 0.0225))
    drawn = np.clip(mean + 0.08 * (uniform - 0.5), 0, 1)
    drawn[:, unlike] = score(uniform[:, unlike])
    return np.stack([of[..., :forms].mean(axis=-1) for of, forms in zip(drawn, FORMS, strict=True)])


def contrasts(of: np.ndarray) -> np.ndarray:
    """The 16 differences of each sentence, (cells, sentences), from (datasets, regimes, sentences)."""
    c, ce, cef, cefaf = np.moveaxis(of, 1, 0)
    return np.stack([ce - c, cef - c, cefaf - c, (ce + cef - c - cefaf) / 2], axis=1).reshape(16, UNITS)


def beside_rival(of: np.ndarray) -> np.ndarray:
    """Two challengers less their rival, (rows, sentences)."""
    return (of[:, :2] - of[:, 2:]).reshape(8, UNITS)


def claims(differences: np.ndarray, random: np.random.Generator, one_sided: bool) -> tuple[bool, float, bool]:
    """Whether any row is claimed for these trained models, the share of rows that is not decidable, and whether Holm
    claims any.

    Of challengers only a positive difference is claimed. ``differences`` are (rows, sentences).
    """
    name = f"{random.integers(2**63):x}"
    units = np.array([f"{name} {unit}" for unit in range(UNITS)], dtype=object)
    sides = [Side(units, units, first + np.arange(UNITS), np.arange(UNITS)) for first in (0, UNITS)]
    values = np.concatenate([differences, np.zeros_like(differences)], axis=1)[:, None]
    metrics = ["mass_accuracy"] * len(differences)
    scores = ExplainerScores("geco", "minilm", "all", [0], metrics, values, ~np.isnan(values[0]))
    design = Design(Comparison("regime", "other", "baseline"), True, *sides)
    judging = VerdictSettings.plain(alpha=ALPHA, equivalence_bound=1.0, confidence=1 - ALPHA, bootstrap_draws=DRAWS)
    rows, statistics = gathered([pooled_rows([scores], [design], judging)])
    table, statistics = pd.DataFrame(rows), statistics[0].copy()
    known, p, mean = table["reason"].isna().to_numpy(), table["p_models"].to_numpy(), table["difference"].to_numpy()
    if one_sided:
        p = np.where(mean > 0, np.maximum(p, RAREST), 1)
        statistics[0] = np.where(mean > 0, statistics[0], 0)
    claimed = False
    if known.any():
        reached = known.copy()
        most = np.full((1, known.sum()), deviate_of(np.array(RAREST)))
        reached[known] = decidable([statistics[1:, known]], most, ALPHA)[1][0]
        own = p[None, reached]
        claimed = bool((adjusted([statistics[:, reached]], own, own, ALPHA)[0] <= ALPHA).any())
        known = reached
    t = (mean / table["units_error"]).abs()
    plain = np.where(mean > 0, 1, np.nan) if one_sided else 1.0
    return claimed, 1 - known.mean(), bool((holm(2 * stdtr(UNITS - 1, -t) * plain) <= ALPHA).any())


def of_study(results: Path) -> tuple[np.ndarray, np.ndarray]:
    """The differences of a study's sentences, (16, sentences) and (8, sentences), beside DeepLIFT."""
    read = [
        pd.read_parquet(path, columns=["item_id", "mass_accuracy"]).assign(
            dataset=path.parts[-5], model=path.parts[-4], explainer=path.stem
        )
        for path in results.glob("scores/*/*/seed*/*/*.parquet")
    ]
    table = pd.concat(read)
    table["unit"] = table["item_id"].str.split("-").str[0]
    together = table[~table["explainer"].isin(NO_PART)]

    def means(rows: pd.DataFrame, level: str, names: tuple[str, ...]) -> np.ndarray:
        of = rows.groupby(["dataset", level, "unit"])["mass_accuracy"].mean().unstack("unit")
        return of.reindex(pd.MultiIndex.from_product([DATASETS, names])).to_numpy().reshape(4, len(names), UNITS)

    return (
        contrasts(means(together, "model", REGIMES)),
        beside_rival(means(table, "explainer", ("attnlrp", "gim", "deeplift"))),
    )


def resampled(random: np.random.Generator, differences: np.ndarray) -> np.ndarray:
    """The sentences drawn again, centred, with noise that cells have in part in common."""
    sd = differences.std(axis=1, ddof=1, keepdims=True)
    noise = 0.7 * (random.normal(size=(1, UNITS)) + random.normal(size=differences.shape))
    centred = differences - differences.mean(axis=1, keepdims=True)
    return centred[:, random.integers(UNITS, size=UNITS)] + NOISE * sd * noise


def print_row(words: str, studies: int, draw: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]) -> None:
    """A row of the table, from what draws the differences of both families."""
    random = np.random.default_rng(5)
    found = []
    for _ in range(studies):
        of_regimes, of_challengers = draw(random)
        found.append((*claims(of_regimes, random, False)[:2], *claims(of_challengers, random, True)))
    print(f"| {words} | " + " | ".join(f"{share:.3f}" for share in np.mean(found, axis=0)) + " |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--results", type=Path, help="the folder of GECOBench's study")
    arguments = parser.parse_args()
    print("| scores | any of 16 regimes | not decidable | any of 8 challengers | not decidable | by Holm alone |")
    print("| --- " * 6 + "|")
    if arguments.results:
        cells, rows = of_study(arguments.results)
        print_row(
            "as the study's", arguments.studies, lambda random: (resampled(random, cells), resampled(random, rows))
        )
    for unlike, of_regimes, of_rows in (("", [1, 2, 3], [0, 1]), ("baseline or rival: ", [0], [2])):
        for shape in SHAPES:

            def draw(random: np.random.Generator, a: list = of_regimes, b: list = of_rows, shape: str = shape) -> tuple:
                return contrasts(scores(random, 4, a, shape)), beside_rival(scores(random, 3, b, shape))

            print_row(unlike + shape, arguments.studies, draw)


if __name__ == "__main__":
    main()
