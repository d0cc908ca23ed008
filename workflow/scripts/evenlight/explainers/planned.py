"""How many rows explanations take, told before any is made: of most methods known, of others estimated."""

import math
from collections.abc import Callable, Collection, Sequence

import numpy as np

from evenlight.explainers.token_tree import contexts, token_texts, token_tree
from evenlight.jobs.own_files import module_of
from evenlight.texts.players import players_of
from evenlight.texts.predictions import Sentence

# Adaptive integrated gradients begin with 9 points and double the intervals until the scores add up; most stop here.
POINTS = 33
# More subsets than any method asks about, and few enough for a float.
ENDLESS = 2.0**100


def _all_subsets(features: int) -> float:
    return 2.0 ** min(features, 100)


def _lime(settings: dict, features: int) -> float:
    """The different ones among the copies: a size is drawn first, so that small and large subsets repeat."""
    if not features:
        return 0
    samples = settings["samples"] or min(features**2, settings["maximum_samples"])
    drawn = min(settings["asked"] or samples, samples) - 1
    of_sizes = np.array([min(math.comb(features, size), ENDLESS) for size in range(1, features + 1)], dtype=float)
    with np.errstate(divide="ignore"):  # a single subset of a single size is always drawn
        missed = drawn * np.log1p(-1 / (features * of_sizes)) if drawn else np.zeros(features)
    return 1 + float(of_sizes @ -np.expm1(missed))


def _kernel_shap(settings: dict, features: int) -> float:
    return min(_all_subsets(features), settings["evaluations"])


def _shapley_sampling(settings: dict, features: int) -> float:
    orders = settings["permutations"]
    if settings["estimator"] != "independent":  # each order backwards, too
        orders = 2 * -(-orders // 2)
    return min(_all_subsets(features), 2 + orders * max(features - 1, 0))


def _partition_shap(settings: dict, sentence: Sentence) -> float:
    """Two rows for each context in which a run of tokens is halved, down to single tokens."""
    features = int((~sentence.is_special).sum())
    fewest = 2 + 2 * max(features**2 - 1, 0) / 3  # of a tree whose halves are equal
    if fewest >= settings["evaluations"] or not sentence.token_text:
        return min(settings["evaluations"], fewest)
    tree = token_tree(token_texts(sentence), sentence.is_prompt)
    return min(settings["evaluations"], 2 + 2 * contexts(tree, sentence.is_special))


def _attainable(settings: dict, features: int) -> float:
    if features <= settings["exact"]:
        return _all_subsets(features) - 1
    steps = steps_of(features, settings["asked"])
    # Before each step the tokens that are left are tried, and after it those that were taken together.
    return features * (steps + 1) / 2 + (features if steps < features else 0)


def steps_of(features: int, asked: int | None) -> int:
    """In how many steps the search for the best attainable order takes the tokens, by the rows that it may ask.

    >>> steps_of(20, None), steps_of(20, 256), steps_of(40, 256), steps_of(500, 256)
    (20, 20, 9, 1)
    """
    if asked is None or features * (features + 1) / 2 <= asked:
        return features
    return int(np.clip(2 * (asked - features) // features - 1, 1, features))


# By family, from an explainer's settings and the number of tokens that may be hidden; every other one takes one row.
_ROWS: dict[str, Callable[[dict, int], float]] = {
    "lime": _lime,
    "occlusion": lambda settings, features: features + 1,
    "kernel_shap": _kernel_shap,
    "shapley_sampling": _shapley_sampling,
    "attainable": _attainable,
    "path": lambda settings, features: settings["steps"] + 2,
    "adaptive_path": lambda settings, features: min(POINTS, settings["maximum_steps"]),
    "gradient_shap": lambda settings, features: settings["samples"],
    "deeplift": lambda settings, features: 2,
    "baseline": lambda settings, features: 0,
    "imported": lambda settings, features: 0,
    "quoted": lambda settings, features: 0,
    "own": lambda settings, features: 0,  # nobody knows
}
# What changes an explanation and not what the model is asked, in families that share their passes.
_AFTER_PASSES = ("method", "aggregation", "label")


def rows_of(family: str, settings: dict, sentence: Sentence) -> float:
    """Rows that one explanation of a sentence takes.

    Args:
        family: of the explainer.
        settings: of the explainer, completed.
        sentence: what is explained, with its words or without.
    """
    if family == "partition_shap":
        return float(_partition_shap(settings, sentence))
    if settings.get("features") == "word" and settings.get("equal_words") == "together":
        # A word that is there twice is one feature.
        words = np.unique(sentence.word_id[~sentence.is_special])
        features = len({sentence.token_id[sentence.word_id == word].tobytes() for word in words})
    else:
        hidden = settings.get("special_tokens", "excluded")
        is_hidden = hidden == "included" or (hidden == "unscored" and settings["features"] == "token")
        special = "included" if is_hidden else "excluded"
        features = players_of(sentence, settings.get("features", "token"), special).count
    return float(_ROWS.get(module_of(family), lambda settings, features: 1)(settings, features))


def planned_rows(
    family: str,
    methods: dict[str, dict],
    sentences: Sequence[Sentence],
    again: Collection[str] = (),
    drawing: Collection[str] = (),
) -> np.ndarray:
    """Rows that all explainers of a family take together, float64 (sentences,).

    Args:
        family: of the explainers, which ask once where they ask the same.
        methods: explainer name to its completed settings.
        sentences: what is explained.
        again: ``item_id`` of those that are explained twice by whoever estimates by random draws.
        drawing: the names of these explainers; each has draws of its own.
    """
    once, each = [], [methods[name] for name in drawing]
    for name, settings in methods.items():
        asked = {key: value for key, value in settings.items() if key not in _AFTER_PASSES}
        if name not in drawing and asked not in once:
            once.append(asked)

    def rows(of_methods: list[dict], sentence: Sentence) -> float:
        return sum(rows_of(family, settings, sentence) for settings in of_methods)

    return np.array(
        [rows(once, sentence) + rows(each, sentence) * (1 + (sentence.item_id in again)) for sentence in sentences],
        dtype=float,
    )


def planned_of_classes(
    family: str, settings: dict, tags: Collection[str], sentences: Sequence[Sentence], classes: int
) -> np.ndarray:
    """Rows that one explainer with its tags takes to explain every class of each sentence, float64 (sentences,)."""
    times = 1 if "asks_once" in tags else classes
    return times * planned_rows(family, {"it": settings}, sentences)
