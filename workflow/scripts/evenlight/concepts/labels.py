"""Levels of concepts as classifiers predict them, for explainers that must not see people's labels."""

from collections.abc import Mapping, Sequence

import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from evenlight.texts.items import known_levels, learned_levels

ITERATIONS = 1000


def predicted_levels(items: pd.DataFrame, concepts: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """``item_id`` of the test texts, and a column of levels for each concept, as their words tell.

    A logistic regression for each concept on the tf-idf of words and pairs of words, learned from the training texts
    with a label. The paper trains language models in its place; this needs none, and :func:`describe_levels` says what
    that costs. ``concepts`` are names to levels.
    """
    text = items["words"].map(" ".join)
    is_test = items["split"] == "test"
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True).fit(text[items["split"] == "train"])
    asked = vectorizer.transform(text[is_test])
    predicted = items.loc[is_test, ["item_id"]].reset_index(drop=True)
    for concept, levels in concepts.items():
        learned = learned_levels(items, "train", concept, levels)
        if learned.nunique() == 1:
            predicted[concept] = learned.iloc[0]
        else:
            model = LogisticRegression(C=10, max_iter=ITERATIONS)
            predicted[concept] = model.fit(vectorizer.transform(text[learned.index]), learned).predict(asked)
    return predicted


def describe_levels(items: pd.DataFrame, predicted: pd.DataFrame, concepts: Mapping[str, Sequence[str]]) -> str:
    """How often the levels that are predicted of the test texts are right, and how often the most frequent one is.

    Texts without a label do not count. ``predicted`` has ``item_id`` and a column of levels for each concept.
    """
    said = []
    for concept, levels in concepts.items():
        frequent = known_levels(items, "train", concept, levels).mode().iloc[0]
        label = known_levels(items, "test", concept, levels)
        told = predicted.set_index("item_id").loc[items.loc[label.index, "item_id"], concept]
        right = (told.to_numpy() == label.to_numpy()).mean()
        said.append(f"{concept} {right:.1%} of {len(label)} (its most frequent level {(label == frequent).mean():.1%})")
    return f"are right for {', '.join(said)} test texts with a label"
