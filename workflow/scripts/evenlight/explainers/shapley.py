"""What Shapley values of a sentence's tokens have in common, however they are estimated.

The features are players, which are tokens, words or sentences (:mod:`evenlight.texts.players`). A subset shows some and
hides the others, its value is the explained output. Every method
first lays out which subsets to ask about, a :class:`Plan`; all are asked in one go, and the plan turns the answers
into values. Where the rows allow it all subsets are asked, and the values are exact.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from evenlight.engine.evaluator import Question, answer_in_lockstep
from evenlight.engine.sentences import Sentence
from evenlight.explainers import fields
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.base import Context, Explanations
from evenlight.explainers.hiding import reduced_rows, replacement_token
from evenlight.explainers.surrogate import remarks_on_fits
from evenlight.texts.players import Players, players_of
from evenlight.texts.predictions import explained_output
from evenlight.texts.rows import Rows

# A method lays out a plan for so many features, with a generator for its draws.
Planner = Callable[[int, np.random.Generator], "Plan"]


class OfPlayers(Protocol):
    """An explainer of players."""

    features: fields.Players
    special_tokens: fields.SpecialTokenFeatures
    output: fields.AskedOutput


@dataclass(frozen=True)
class Plan:
    """Which subsets to ask about, and what to make of the answers.

    Attributes:
        shown: bool (subsets, features); the first subset shows nothing, the last shows everything.
        solve: values of the subsets (subsets,) to values of the features (features,).
        interact: likewise to the interactions of all pairs, symmetric, (features, features); None where the subsets do
            not tell them.
        misses: by how much each function that was fitted to the values misses one of them, see
            :class:`evenlight.explainers.attribution.Attribution`; ``solve`` and ``interact`` add to them.
    """

    shown: np.ndarray
    solve: Callable[[np.ndarray], np.ndarray]
    interact: Callable[[np.ndarray], np.ndarray] | None = None
    misses: list[float] = field(default_factory=list)


def with_ends(shown: np.ndarray) -> np.ndarray:
    """The subset that shows nothing, ``shown``, and the subset that shows everything."""
    ends = np.zeros((2, shown.shape[1]), dtype=bool)
    ends[1] = True
    return np.concatenate([ends[:1], shown, ends[1:]])


def all_subsets(features: int) -> np.ndarray:
    """Every subset in the order of binary numbers, the first feature counting 1; bool (2^features, features)."""
    return (np.arange(2**features)[:, None] >> np.arange(features) & 1).astype(bool)


def distinct_subsets(shown: np.ndarray) -> np.ndarray:
    """The different ones among subsets, bool (subsets, features), in their order."""
    first, _ = Rows.alike(shown.astype(np.int64)).distinct()
    return shown if len(first) == len(shown) else shown[first]


def exact_values(value: np.ndarray) -> np.ndarray:
    """Shapley values (features,) of the values of :func:`all_subsets` (Shapley 1953)."""
    features = len(value).bit_length() - 1
    subset = np.arange(len(value))
    size = all_subsets(features).sum(axis=1)
    share = np.array([1 / (features * math.comb(features - 1, size)) for size in range(features)] + [0.0])
    contribution = np.zeros(features)
    for feature in range(features):
        without = subset[(subset >> feature & 1) == 0]
        contribution[feature] = share[size[without]] @ (value[without | 1 << feature] - value[without])
    return contribution


def exact_interactions(value: np.ndarray) -> np.ndarray:
    """Shapley interaction indices (features, features) of the values of :func:`all_subsets`, zero on the diagonal.

    Grabisch & Roubens 1999, Definition 1: of two features i and j, the mean over the subsets S of the others of
    v(S ∪ ij) − v(S ∪ i) − v(S ∪ j) + v(S), all sizes of S weighing alike.
    """
    features = len(value).bit_length() - 1
    shown = all_subsets(features)
    subset, size = np.arange(len(value)), shown.sum(axis=1)
    interaction = np.zeros((features, features))
    for first, second in itertools.combinations(range(features), 2):
        without = subset[~shown[:, first] & ~shown[:, second]]
        one, other = 1 << first, 1 << second
        differs = value[without | one | other] - value[without | one] - value[without | other] + value[without]
        share = [1 / ((features - 1) * math.comb(features - 2, of_size)) for of_size in size[without].tolist()]
        interaction[first, second] = interaction[second, first] = share @ differs
    return interaction


def exact(features: int) -> Plan:
    """All subsets."""
    return Plan(all_subsets(features), exact_values, exact_interactions)


def token_values(
    planner: Planner, entry: OfPlayers, sentence: Sentence, replacement: int | None, generator: np.random.Generator
) -> Question[Attribution]:
    """The Shapley values of a sentence's players.

    Args:
        planner: the method.
        entry: the explainer.
        sentence: what is explained.
        replacement: id that stands in for a hidden token; None leaves it out.
        generator: draws the subsets.
    """
    players = players_of(sentence, entry.features, entry.special_tokens)
    plan = planner(players.count, generator)
    answer = yield reduced_rows(sentence, players.token_index, players.tokens_shown(plan.shown), replacement)
    value = explained_output(answer, sentence, entry.output)
    kept = getattr(entry, "pairs", 0)
    pairs = strongest_pairs(plan.interact(value), players, sentence, kept) if kept and plan.interact else ()
    found = attribution(players, plan, value)
    return replace(found, pairs=pairs, fit_miss=max(plan.misses, default=0.0))


def strongest_pairs(
    interaction: np.ndarray, players: Players, sentence: Sentence, most: int
) -> tuple[tuple[int, int, float], ...]:
    """The pairs of words with the largest absolute interaction, as (first word, second word, interaction).

    That of two words is the sum over their players, as the score of a word is the sum over its tokens.

    Args:
        interaction: of the players, symmetric, (players, players).
        players: tokens or words of the sentence.
        sentence: what is explained.
        most: so many pairs at most; none whose interaction is 0.
    """
    index = players.token_index
    # One token speaks for its player.
    player, first = np.unique(players.of_token[index], return_index=True)
    word = sentence.word_id[index[first]]
    belongs = np.zeros((len(sentence.words), players.count))
    belongs[word[word >= 0], player[word >= 0]] = 1
    of_words = belongs @ interaction @ belongs.T
    above = np.triu_indices(len(of_words), 1)
    order = np.argsort(-np.abs(of_words[above]), kind="stable")[:most]
    strongest = zip(*(side[order].tolist() for side in (*above, of_words[above])), strict=True)
    return tuple(pair for pair in strongest if pair[2])


def attribution(players: Players, plan: Plan, value: np.ndarray) -> Attribution:
    """What a plan makes of the values of its subsets, as scores of the tokens."""
    score = players.token_scores(plan.solve(value))
    gap = float(score.sum() - (value[-1] - value[0]))
    return Attribution(score, forward_rows=len(distinct_subsets(plan.shown)), completeness_gap=gap)


def explanations_by(
    question: Callable[..., Question[Attribution]], hidden_token: str, sentences: Sequence[Sentence], context: Context
) -> Explanations:
    """Every sentence's subsets are asked at once, together with those of many other sentences.

    Args:
        question: asks about a sentence; called with it, what stands in for a hidden token, and a generator.
        hidden_token: see :func:`evenlight.explainers.hiding.replacement_token`.
        sentences: what is explained.
        context: model and seed.
    """
    replacement = replacement_token(context.evaluator.classifier, hidden_token)
    questions = (question(sentence, replacement, context.generator(sentence.item_id)) for sentence in sentences)
    attributions = list(answer_in_lockstep(questions, context.evaluator))
    return Explanations(attributions, remarks_on_fits(attributions))
