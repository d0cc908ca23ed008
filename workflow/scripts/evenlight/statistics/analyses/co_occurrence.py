"""Co-occurrence bias: whether the groups' pronouns keep company with equally many words.

GECOBench (Wilming et al. 2024), equations 1 and 2. The paper leaves the counting open; the conventions here are
those with which the released data give the published values:

- the train split as published, that is train and validation together;
- upper and lower case are the same, and commas and periods are dropped;
- the terms of a group are its subject form (he, she, they) and its other forms (him and his, her, them and
  their, as one, since English has only "her" for two of them); each of the two counts once per sentence, if any of
  its words is there, however often;
- a sentence is searched for the terms of its own group only;
- the words that they keep company with are all words of the sentence, repetitions included, save the terms of all
  groups.
"""

import pandas as pd

from evenlight.core.errors import InputError

# group -> its subject form and its other forms
TERMS = {
    "male": ({"he"}, {"him", "his"}),
    "female": ({"she"}, {"her"}),
    "neutral": ({"they"}, {"them", "their"}),
}
ALL_TERMS = set().union(*(forms for terms in TERMS.values() for forms in terms))
DROPPED = {",", "."}


def co_occurrences(words: list[str], group: str) -> int:
    """How many times a term of ``group`` and another word stand together in the sentence (Eq. 1, one sentence).

    >>> co_occurrences(["He", "lost", "his", "own", "hat", "."], "male")
    6
    >>> co_occurrences(["She", "lost", "his", "own", "hat", "."], "female")
    3
    """
    words = [word.lower() for word in words if word not in DROPPED]
    terms_found = sum(not forms.isdisjoint(words) for forms in TERMS[group])
    return terms_found * sum(word not in ALL_TERMS for word in words)


def co_occurrence_bias(items: pd.DataFrame) -> pd.DataFrame:
    """One row per group: ``co_occurrences`` (Eq. 1), ``bias`` (Eq. 2) and the ``balance`` it is held against.

    ``items`` has the columns ``attribute.gender``, ``words`` and ``split``; texts without a gender do not count. The
    bias is the group's share in the co-occurrences of all groups. Its balance, which means none, is 1/3 for three
    groups, as in the paper, and 1/2 for two. The bias is NaN where no sentence has a term such as he, she or they.
    """
    items = items.rename(columns={"attribute.gender": "group"}).dropna(subset="group")
    unknown = sorted(set(items.group) - set(TERMS))
    if unknown:
        raise InputError(f"co-occurrence bias: no terms for group {unknown[0]}; it is defined for {', '.join(TERMS)}")
    items = items[items.split != "test"]
    groups = [group for group in TERMS if (items.group == group).any()]
    counts = pd.Series(
        [sum(co_occurrences(words, group) for words in items.words[items.group == group]) for group in groups]
    )
    # Texts without any such term, as those of COMPAS, have no bias: 0 / 0 is NaN.
    return pd.DataFrame(
        {"group": groups, "co_occurrences": counts, "bias": counts / counts.sum(), "balance": 1 / len(groups)}
    )
