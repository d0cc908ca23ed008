"""What a study loses and saves when LIME and Kernel SHAP ask fewer rows and a Gaussian process gives the rest.

Pairs of test texts are explained as the definitions have it: LIME with its squared number of tokens, Kernel SHAP by the
``leverage`` estimator in 512 rows. They are explained once more with other draws, and with fewer rows (``asked`` of
LIME, ``surrogate`` of Kernel SHAP). What other draws change is what the definition itself leaves open. Fewer rows lose
nothing that a reader could notice while they change less than that. The table has rows, processor time and the distance
of the attributions. It also has what becomes of both AOPC scores and of Cohen's d between the groups.

Writes a page (Markdown). ``make bench-fewer-rows`` runs it.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from page_figures import illustrate
from report import markdown
from texts import parser_of_models, read_by, test_texts, write_page_of_models

from evenlight import explainers, metrics
from evenlight.configuration import completed_entry, family_of
from evenlight.core.seeds import generator_for
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.jobs import command_line
from evenlight.metrics import explanation_of
from evenlight.models.classifier import load_saved
from evenlight.models.processor import use_processor
from evenlight.statistics.effect_sizes import cohens_d

METRICS = {name: {"metric": name} for name in ("aopc_comprehensiveness", "aopc_sufficiency")}
# Of each method what is left out of the settings, and the seed: as defined, with other draws, with fewer rows.
WAYS = {
    "lime": {"as defined": ({}, 0), "other draws": ({}, 1)}
    | {f"asked: {rows}": ({"asked": rows}, 0) for rows in (64, 128, 256)},
    "kernel_shap": {"as defined": ({}, 0), "other draws": ({}, 1)}
    | {
        f"surrogate, evaluations: {rows}": ({"estimator": "surrogate", "evaluations": rows}, 0)
        for rows in (64, 128, 256, 512)
    },
}


def explained(method: str, given: dict, seed: int, sentences: list[Sentence], evaluator: Evaluator):
    """Attributions, their processor time, and both metrics' scores by name, (sentences,) each."""
    settings = completed_entry("explainers", method, {"method": method, **given})
    started = time.process_time()
    context = explainers.Context(evaluator, seed, None)
    found = explainers.explain(family_of("explainers", method), sentences, {method: settings}, context)[method]
    seconds = time.process_time() - started
    scored = [
        explanation_of(sentence, one.token_score, None)
        for sentence, one in zip(sentences, found.attributions, strict=True)
    ]
    asked = {name: completed_entry("metrics", name, one) for name, one in METRICS.items()}
    return found.attributions, seconds, metrics.score("faithfulness", scored, asked, evaluator)


def distance(found: list, other: list) -> tuple[float, float]:
    """Median over texts of ‖found − other‖ / ‖other‖, and of the rank correlation."""
    pairs = [(one.token_score, two.token_score) for one, two in zip(found, other, strict=True)]
    errors = [np.linalg.norm(one - two) / np.linalg.norm(two) for one, two in pairs]
    return float(np.median(errors)), float(np.nanmedian([spearmanr(one, two).statistic for one, two in pairs]))


def measured(method: str, sentences: list[Sentence], group: np.ndarray, evaluator: Evaluator) -> pd.DataFrame:
    """One line for each way of a method."""
    first, seconds_first, scores_first = explained(method, *WAYS[method]["as defined"], sentences, evaluator)
    levels = sorted(set(group))

    def effects(scores: dict) -> np.ndarray:
        return np.array([cohens_d(*(values[group == level] for level in levels)) for values in scores.values()])

    lines = []
    for name, (given, seed) in WAYS[method].items():
        found, seconds, scores = first, seconds_first, scores_first
        if name != "as defined":
            found, seconds, scores = explained(method, given, seed, sentences, evaluator)
        error, rank = distance(found, first)
        rows = sum(one.forward_rows for one in found) / sum(one.forward_rows for one in first)
        change = [np.abs(scores[key] - scores_first[key]).mean() for key in METRICS]
        lines.append(
            {
                "method": method,
                "way": name,
                "rows": f"{rows:.2f}",
                "processor time": f"{seconds / seconds_first:.2f}",
                "distance": f"{error:.3f}",
                "rank correlation": f"{rank:.3f}",
                "comprehensiveness, mean change": f"{change[0]:.4f}",
                "sufficiency, mean change": f"{change[1]:.4f}",
                "change of d, larger of both": f"{np.abs(effects(scores) - effects(scores_first)).max():.3f}",
            }
        )
    return pd.DataFrame(lines)


def section(folder: Path, texts: pd.DataFrame, attribute: str) -> list[str]:
    """What is said of a model."""
    classifier = load_saved(folder, max_tokens=128)
    sentences = read_by(classifier, texts)
    group = texts.set_index("item_id")[f"attribute.{attribute}"][[one.item_id for one in sentences]].to_numpy()
    lengths = [len(sentence.token_id) for sentence in sentences]
    tables = [measured(method, sentences, group, Evaluator(classifier)) for method in WAYS]
    about = f"{len(sentences)} texts of {min(lengths)} to {max(lengths)} tokens, special ones counted."
    return [about, markdown(pd.concat(tables))]


def main(arguments: argparse.Namespace) -> None:
    """Measure, and write the page."""
    use_processor(1)
    texts = test_texts(arguments.items)
    pairs = generator_for(0, "fewer rows").permutation(texts["cluster"].unique())[: arguments.pairs]
    texts = texts[texts["cluster"].isin(pairs)]
    write_page_of_models(
        "Fewer rows in LIME and Kernel SHAP",
        __doc__,
        f"{arguments.pairs} pairs, one thread.",
        ("torch", "numpy"),
        lambda folder: section(folder, texts, arguments.attribute),
        arguments,
    )
    illustrate(arguments.output, "fewer_rows")


if __name__ == "__main__":
    parser = parser_of_models(__doc__)
    parser.add_argument("--attribute", default="gender", help="what the groups differ by")
    parser.add_argument("--pairs", type=int, default=30, help="how many pairs of texts")
    command_line.run(main, parser)
