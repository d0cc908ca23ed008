"""A small study that never changes, of which the golden outputs of results are made: each table that a result reads.

Its datasets:

- ``plots``: eight pairs, whose texts say which words carry the group;
- ``news``: units of up to three forms, some of them in common clusters, which come from one of two sources. Two of its
  texts are not explained, and it has texts to learn from;
- ``reviews``: originals and their edits, for effects of concepts.

All is drawn by generators that are named by what they draw. A column that does not matter by itself is drawn by its
type (:func:`drawn`).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.special import softmax

from evenlight.core import tables
from evenlight.core.contracts import explanations as contracts
from evenlight.core.contracts.texts import ATTRIBUTE, ITEMS, MASKED_WORDS, PREDICTIONS, UNITS
from evenlight.core.seeds import generator_for
from evenlight.core.tables import Contract
from evenlight.statistics.comparisons.files import Run, explainer_path, run_path, score_path
from evenlight.texts.items import separated
from evenlight.texts.predictions import (
    COUNTERPART_TOO_LONG,
    NOT_SAMPLED,
    SPECIAL,
    TOO_LONG,
    Sentence,
    predictions_table,
    token_table,
)

SEEDS, METRICS, EXPLAINERS = (0, 1), ("gini", "sparsity"), ("lime", "grad", "again")
RUNS = [
    *(Run("plots", "small", seed) for seed in SEEDS),
    *(Run("news", model, seed) for model, seed in product(("small", "large"), SEEDS)),
]
CLASSES = {"plots": ["sad", "happy"], "news": ["sport", "money", "rain"]}
ANSWERING = "asked"
# Concepts of the reviews, and their levels.
CONCEPTS = {"food": ["bad", "unknown", "good"], "noise": ["loud", "quiet"]}
ESTIMATING, CHANGE_METRICS = ("matched", "forgotten"), ("l2", "cosine")
# Of each learning rate the accuracy of its training.
RATES = {0.1: 0.8, 0.01: 0.8, 0.001: 0.7, 0.5: 0.9}


def drawn(contract: Contract, names: pd.DataFrame, by: str, **columns) -> pd.DataFrame:
    """A table of a contract: rows with these ``names`` and ``columns``, whose other numbers are drawn by their type."""
    table = names.reset_index(drop=True).assign(**columns)
    draws = generator_for("golden", contract.name, by)
    kinds = {
        pa.float64(): lambda: draws.normal(size=len(table)).round(2),
        pa.int64(): lambda: draws.integers(1, 9, len(table)),
        pa.bool_(): lambda: draws.random(len(table)) < 0.5,
    }
    for field in contract.schema:
        if field.name not in table:
            table[field.name] = kinds[field.type]() if field.type in kinds else None
    return table


def rows_of(**values: Sequence) -> pd.DataFrame:
    """A row for each combination of some values."""
    return pd.DataFrame(product(*values.values()), columns=list(values))


# Texts -----------------------------------------------------------------------------------------------------------

FORMS = {"male": ("He", "his"), "female": ("She", "her"), "other": ("They", "their")}
VERBS, NOUNS = ("sells", "follows", "reconsiders", "waits with"), ("boat", "neighbours", "dog", "instruments")
ENDS = (["."], ["again", "."], ["and", "waits", "."])


def _text(
    draws: np.random.Generator, marks_owner: bool, longer: bool = False
) -> Callable[[str], tuple[list[str], list[int], list[str]]]:
    """Of a group the words of a text, which of them are ground truth, and what each carries."""
    verb, noun, end = (some[draws.integers(len(some))] for some in (VERBS, NOUNS, ENDS))
    marks_noun, verb = draws.random() < 0.3, verb.split()

    def text(group: str) -> tuple[list[str], list[int], list[str]]:
        first, owner = FORMS[group]
        first = ["The", "woman"] if longer and group == "female" else [first]
        marks = [marks_owner, marks_noun and group == "male"]
        marked = [*[1] * len(first), *[0] * len(verb), *map(int, marks), *[0] * len(end)]
        words = [*first, *verb, owner, noun, *end]
        return words, marked, ["gender" if word in (*first, owner) else "" for word in words]

    return text


def _plots() -> Iterator[dict]:
    for pair in range(8):
        text = _text(generator_for("golden", "plots", pair), marks_owner=False)
        for label, group in enumerate(("male", "female")):
            words, truth, carries = text(group)
            place = {"item_id": f"{pair}-{group}", "unit_id": str(pair), "cluster": str(pair), "split": "test"}
            yield place | {"words": words, "ground_truth": truth, "carries": carries, "label": label, "gender": group}


def _news() -> Iterator[dict]:
    for unit in range(30):
        # One text is a copy of another.
        draws = generator_for("golden", "news", 2 if unit == 23 else unit)
        text = _text(draws, marks_owner=True, longer=unit % 7 == 3)
        label, source = unit % 3 if unit % 5 else 0, ("paper", "radio")[unit % 2 if unit < 4 else draws.integers(2)]
        cluster = f"c{unit // 4}" if unit < 12 else f"c{unit}"
        split = "test" if unit < 26 else "train"
        for group in FORMS if unit % 4 != 1 else ("male", "female"):
            words, truth, _ = text(group)
            place = {"item_id": f"n{unit}-{group}", "unit_id": f"n{unit}", "cluster": cluster, "split": split}
            about = {"label": label, "gender": group, "source": source}
            yield place | {"words": words, "ground_truth": truth if unit % 6 else None, "carries": None} | about


FACTORS = {"plots": ["gender"], "news": ["gender", "source"]}
# Of each text that is not explained, why.
LEFT_OUT = {"n5-male": TOO_LONG, "n5-female": COUNTERPART_TOO_LONG, "n24-other": NOT_SAMPLED}
UNREAD = [TOO_LONG, COUNTERPART_TOO_LONG]


def texts_of(dataset: str) -> pd.DataFrame:
    """A row for each text, with its unit and its attributes."""
    return pd.DataFrame({"plots": _plots, "news": _news}[dataset]())


def write_dataset(folder: Path, dataset: str) -> None:
    """Items and units."""
    factors = FACTORS[dataset]
    rows = texts_of(dataset).rename(columns={factor: ATTRIBUTE + factor for factor in factors})
    items, units = separated(rows, factors)
    about = {"classes": CLASSES[dataset], "sources": {f"{dataset}.csv": "0" * 64}}
    about["settings"] = {"attributes": {factor: {"levels": []} for factor in factors}}
    tables.write_table(items, folder / "datasets" / dataset / "items.parquet", ITEMS, about)
    tables.write_table(units, folder / "datasets" / dataset / "units.parquet", UNITS)


# What models and explainers say ----------------------------------------------------------------------------------


def _tokens(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray, int, tuple[str, ...]]:
    """The identifier, the word and the text of each token: long words have two, and a special one is at either end."""
    inside = [
        (number, piece)
        for number, word in enumerate(words)
        for piece in ([word] if len(word) < 6 else [word[:5], word[5:]])
    ]
    word_id, pieces = zip((SPECIAL, ""), *inside, (SPECIAL, ""), strict=True)
    return np.array([len(piece) for piece in pieces]), np.array(word_id), 0, pieces


def write_run(folder: Path, run: Run) -> None:
    """What a model predicts, what explainers say of it, and their scores."""
    texts = texts_of(run.dataset)
    texts = texts[texts["split"] == "test"].reset_index(drop=True)
    draws = generator_for("golden", *vars(run).values())
    classes = len(CLASSES[run.dataset])
    read = [
        Sentence(item, tuple(words), *_tokens(words))
        for item, words in zip(texts["item_id"], texts["words"], strict=True)
    ]
    # The texts of a unit are read much alike.
    by_unit = draws.normal(size=(texts["unit_id"].nunique(), classes))[texts["unit_id"].factorize()[0]]
    noise = by_unit + 0.5 * draws.normal(size=(len(texts), classes))
    probability = softmax(1.2 * np.eye(classes)[texts["label"]] + noise, axis=1)
    target = probability.argmax(axis=1)
    left_out = texts["item_id"].map(LEFT_OUT).astype(object).where(texts["item_id"].isin(LEFT_OUT), None).to_numpy()
    probability[np.isin(left_out, UNREAD)] = np.nan
    predictions = predictions_table(token_table(read), "test", target, left_out, probability)
    without_words = {way: draws.dirichlet(np.ones(classes)).round(3).tolist() for way in ("mask", "delete")}
    about = {"without_words": without_words, "notes": []}
    tables.write_table(predictions, run_path(folder / "predictions", run), PREDICTIONS, about)
    is_explained = np.equal(left_out, None)
    explained, lengths = texts[is_explained], [len(read[row].token_id) for row in np.flatnonzero(is_explained)]
    for explainer in EXPLAINERS:
        scores = [draws.normal(size=length) for length in lengths]
        scores[2], scores[4][2] = np.zeros(lengths[2]), 0.0
        rows = pd.DataFrame({"item_id": explained["item_id"], "token_score": scores, "forward_rows": 1})
        path = explainer_path(folder / "attributions", run, explainer)
        tables.write_table(rows.assign(completeness_gap=None), path, contracts.ATTRIBUTIONS)
        path = explainer_path(folder / "randomised", run, explainer)
        tables.write_table(_randomised(run, explainer, explained["item_id"]), path, contracts.RANDOMISED)
        path = explainer_path(folder / "costs", run, explainer)
        tables.write_table(_costs(run, explainer), path, contracts.COSTS)
    for explainer, table in scores_of(run, explained).items():
        path = score_path(folder / "scores", run, "complexity", explainer)
        tables.write_table(table, path, contracts.SCORES.only("item_id", *METRICS))
    pairs = [f"{pair}|{name}" for pair in ("lime|grad", "lime|again") for name in ("rank_correlation", "top_agreement")]
    agreement = pd.DataFrame(
        {
            "item_id": explained["item_id"],
            **{pair: draws.normal(size=len(explained)) + (explained["gender"] == "male") for pair in pairs},
        }
    )
    agreement.iloc[3, 1] = np.nan
    tables.write_table(agreement, run_path(folder / "agreement", run), contracts.AGREEMENT)
    masked = drawn(MASKED_WORDS, explained[["item_id"]], str(run))
    masked.loc[masked.index[4], "released"] = np.nan
    tables.write_table(masked, run_path(folder / "masked_words", run), MASKED_WORDS)


def scores_of(run: Run, explained: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The scores of each explainer: those about men are others, some are tied, and some are undefined."""
    unit, is_man = explained["unit_id"].str.strip("n").to_numpy(int), explained["gender"].to_numpy() == "male"
    by_unit = generator_for("golden", "units", run.dataset).normal(size=(30, 2))[unit]
    by_unit += 0.5 * (run.model == "large") + 0.3 * explained["label"].to_numpy()[:, None]
    found = {}
    for explainer, effect in zip(EXPLAINERS, (0.9, -0.4, 0.2), strict=True):
        draws = generator_for("golden", "scores", str(run), explainer)
        scores = by_unit + draws.normal(scale=0.6, size=by_unit.shape) + effect * is_man[:, None]
        found[explainer] = pd.DataFrame((2 + scores).round(1), columns=METRICS).assign(
            item_id=explained["item_id"].values
        )
        if explainer == "again":  # most of its scores are equal
            found[explainer].loc[draws.random(len(unit)) < 0.8, METRICS[0]] = 2.0
        found[explainer].loc[draws.random(len(unit)) < 0.06, METRICS[1]] = np.nan
    return found


def _randomised(run: Run, explainer: str, items: Sequence[str]) -> pd.DataFrame:
    stages = [("cascading", 0, "none"), ("cascading", 1, "head"), ("cascading", 2, "layer"), ("independent", 1, "head")]
    names = pd.DataFrame(
        [(item, *stage) for stage in stages for item in items[:5]], columns=["item_id", "order", "stage", "layer"]
    )
    table = drawn(contracts.RANDOMISED, names, f"{run} {explainer}")
    table.loc[7 + run.seed, "rank_correlation"] = np.nan
    return table


def _costs(run: Run, explainer: str) -> pd.DataFrame:
    if explainer == "grad":
        return pd.DataFrame(columns=contracts.COSTS.schema.names)
    names = pd.DataFrame({"device": ["cpu", "cpu", "cuda"], "threads": [2, 2, 1]})
    together = [["lime", "again"]] * 3
    return drawn(contracts.COSTS, names, f"{run} {explainer}", together=together, made_of=[["a"]] * 3)


# Answers in words ------------------------------------------------------------------------------------------------


def write_answers(folder: Path, run: Run) -> None:
    """Answers to the texts of a dataset, to changed ones and to what follows from them, and scores of answers."""
    texts = texts_of(run.dataset)
    texts = texts[texts["split"] == "test"]
    draws = generator_for("golden", "answers", *vars(run).values())
    answers = texts[["item_id", "gender"]].merge(pd.DataFrame({"draw": range(4)}), how="cross")
    go = draws.random(len(answers)) < answers["gender"].map({"male": 0.65, "female": 0.4, "other": 0.5})
    answers["decision"] = np.where(draws.random(len(answers)) < 0.1, None, np.where(go, "go", "wait"))
    numbers = draws.integers(1000, size=len(answers))
    answers["text"] = [f"{said or 'No'}, {number}." for said, number in zip(answers["decision"], numbers, strict=True)]
    answers.loc[draws.random(len(answers)) < 0.05, ["text", "decision"]] = [" ", None]
    # Not all questions have as many answers.
    answers = answers[(answers["draw"] < 3) | (draws.random(len(answers)) < 0.7)].assign(temperature=1.0)
    answers = answers[~answers["item_id"].eq("n7-male") | (answers["draw"] == 0)].reset_index(drop=True)
    path = explainer_path(folder / "answers", run, ANSWERING)
    kept = drawn(contracts.ANSWERS, answers.drop(columns="gender"), str(run), seed=0, tokens=3, seconds=0.1)
    tables.write_table(kept, path, contracts.ANSWERS)
    metrics = {
        "words": draws.integers(1, 9, len(answers)) + 2.0 * go.loc[answers.index],
        "refusal": draws.random(len(answers)),
    }
    scores = answers[["item_id", "draw"]].assign(**metrics)
    path = score_path(folder / "scores", run, "answers", ANSWERING)
    tables.write_table(scores, path, contracts.ANSWER_SCORES)
    few = answers[answers["item_id"].isin(texts["item_id"].iloc[:10])]  # Others would take time.
    path = explainer_path(folder / "changed_answers", run, ANSWERING)
    tables.write_table(_changed(few, draws), path, contracts.CHANGED_ANSWERS)
    path = explainer_path(folder / "follow_ups", run, ANSWERING)
    tables.write_table(_follow_ups(few.dropna(subset="decision"), draws), path, contracts.FOLLOW_UPS)


# How likely an answer to the changed question is to be another one.
CHANGES_OF_QUESTIONS = {("care", "less"): 0.8, ("care", "more"): 0.6, ("pace", "less"): 0.4, ("hobby", "less"): 0.2}


def _changed(answers: pd.DataFrame, draws: np.random.Generator) -> pd.DataFrame:
    rows = [
        {"item_id": item, "draw": draw, "concept": concept, "change": change, "kind": concept and "all"}
        | {"decision": ("go", "wait")[int(draws.random() < chance)], "reference": "wait"}
        | {"mentioned": [name for name in ("care", "pace", "hobby") if draws.random() < 0.5]}
        for item in answers["item_id"].unique()
        for (concept, change), chance in {(None, None): 0.3, **CHANGES_OF_QUESTIONS}.items()
        for draw in range(3)
    ]
    return pd.DataFrame(rows)


def _follow_ups(answers: pd.DataFrame, draws: np.random.Generator) -> pd.DataFrame:
    rows = []
    for row in answers.itertuples():
        other = {"wait": "go", "go": "wait"}[row.decision]
        for about, expected in (("hint", other), ("counterfactual", other), ("redaction", "unknown")):
            decision = (expected, row.decision)[int(draws.random() < 0.4)]
            text = ("As you think.", "It seems so.")[int(draws.random() < 0.5)]
            rows.append((row.item_id, row.draw, about, [expected], decision, text))
    table = pd.DataFrame(rows, columns=["item_id", "draw", "about", "expected", "decision", "text"])
    return drawn(contracts.FOLLOW_UPS, table, "unused")


# Concepts --------------------------------------------------------------------------------------------------------


def write_reviews(folder: Path) -> None:
    """Originals and their edits in one concept each, as two models read them, and what explainers estimate of it."""
    draws = generator_for("golden", "reviews")
    items, changes = [], []
    for original in range(10):
        levels = {name: str(draws.choice(of)) for name, of in CONCEPTS.items()}
        cluster = f"c{original // 2 if original < 4 else original}"
        place = {"words": ["a"], "split": "test" if original else "train", "cluster": cluster, "ground_truth": None}
        items.append(place | {"item_id": f"o{original}", "label": int(draws.integers(3))} | levels)
        for concept, after in [(name, level) for name, of in CONCEPTS.items() for level in of if level != levels[name]]:
            edit = {"item_id": f"o{original}-{concept}-{after}", "label": int(draws.integers(3))}
            items.append(place | edit | levels | {concept: after})
            ends = {"before": levels[concept], "after": after, "base": f"o{original}", "edit": edit["item_id"]}
            changes.append({"change_id": edit["item_id"], "split": place["split"], "concept": concept} | ends)
    items = pd.DataFrame(items).rename(columns={name: ATTRIBUTE + name for name in CONCEPTS})
    tables.write_table(items, folder / "datasets" / "reviews" / "items.parquet", ITEMS)
    changes = pd.DataFrame(changes)
    tables.write_table(changes, folder / "changes" / "reviews" / "changes.parquet", contracts.CHANGES)
    names = changes.loc[changes["split"] == "test", ["change_id"]]
    tables.write_table(
        items[["item_id"]], folder / "changes" / "reviews" / "labels.parquet", contracts.CONCEPT_LABELS, {"notes": []}
    )
    for run in (Run("reviews", "small", seed) for seed in SEEDS):
        probability = [draws.dirichlet(np.ones(3)) for _ in items.index]
        texts = items[["item_id", "split"]].assign(probability=probability, representation=probability)
        tables.write_table(texts, run_path(folder / "representations", run), contracts.REPRESENTATIONS)
        for explainer in ESTIMATING:
            effects = names.assign(effect=[draws.normal(size=3) for _ in names.index])
            path = explainer_path(folder / "concept_effects", run, explainer)
            tables.write_table(effects, path, contracts.CHANGE_EFFECTS, {"notes": []})
            scores = pd.DataFrame(draws.random((len(names), 2)), columns=CHANGE_METRICS)
            path = score_path(folder / "scores", run, "concepts", explainer)
            tables.write_table(
                scores.assign(item_id=names["change_id"].to_numpy()),
                path,
                contracts.SCORES.only("item_id", *CHANGE_METRICS),
            )


# Tables that people keep -----------------------------------------------------------------------------------------


def write_trainings(folder: Path) -> None:
    """The history of a training by each learning rate; the last one never had a loss."""
    for rate, accuracy in RATES.items():
        loss = generator_for("golden", "trainings", str(rate)).random(4).round(3)
        loss[: 1 if rate != max(RATES) else 4] = np.nan
        path = folder / "learning_rates" / "plots" / "small" / f"rate{rate}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        history = pd.DataFrame({"epoch": range(1, 5), "validation_loss": loss, "validation_accuracy": accuracy})
        history.to_csv(path, index=False)


def write_published(folder: Path) -> None:
    """Printed figures, in the form of ``resources/published``: counts, effects and rates of models."""
    names = {"dataset": ["geco_all", "compas"], "training": ["finetuned", "scratch"], "model": ["BERT"]}
    cells = rows_of(**names, explainer=["Grad", "LIME"], metric=[*METRICS, "comprehensiveness"])
    draws = generator_for("golden", "published")
    cells = cells.assign(table=3, significant_runs_of_5=draws.integers(0, 6, len(cells)))
    is_found = cells["significant_runs_of_5"] > 0
    found = {name: draws.normal(size=len(cells)).round(2) for name in ("cohens_d_mean", "cohens_d_sd")}
    effects = cells.assign(table=8, **{name: np.where(is_found, values, np.nan) for name, values in found.items()})
    rates = ["tpr", "tpr_sd", "tnr", "tnr_sd", "apd", "apd_sd"]
    rows = pd.DataFrame(draws.random((2, len(rates))).round(3), columns=rates)
    bias = rows.assign(table=7, dataset=names["dataset"], model="BERT")
    (folder / "published").mkdir()
    effects = effects[effects["training"] == "finetuned"].drop(columns="training")
    for name, table in (("disparity_counts", cells), ("disparity_effect_sizes", effects), ("model_bias", bias)):
        table.to_csv(folder / "published" / f"{name}.csv", index=False)


def write_study(folder: Path) -> dict[str, Path]:
    """The folders of the study, by the names that rules give them."""
    for dataset in CLASSES:
        write_dataset(folder, dataset)
    for run in RUNS:
        write_run(folder, run)
    for run in (Run("news", "small", seed) for seed in SEEDS):
        write_answers(folder, run)
    write_reviews(folder)
    write_trainings(folder)
    write_published(folder)
    return {path.name: path for path in folder.iterdir()} | {"results": folder}
