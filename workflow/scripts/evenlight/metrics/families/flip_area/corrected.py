"""The area under the smallest radius within which moving the tokens ranked first flips the prediction.

Nothing is explained again. What the released code does in another way is in :class:`Search`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from evenlight.engine.evaluator import Evaluator
from evenlight.metrics.explanations import Explanation
from evenlight.metrics.perturbed_inputs import REACH, Input, Moved, are_flipped, loss_gradients
from evenlight.models.classifier import Classifier
from evenlight.models.devices import fetched, sent

# Halvings of [0, 1], the released search's tolerance of 0.001.
HALVINGS = 10


@dataclass(frozen=True)
class Search:
    """How the smallest flip is looked for.

    Attributes:
        read: an explanation to the row of the sentence, (tokens,), and the places that may be moved, (inner,).
        start: classifier, embeddings and mask to the vectors at which attacks begin, (rows, tokens, hidden).
        steps: of an attack.
        step: the radius of a ball to the length of a step.
        common_steps: the first steps that are the same in all balls that do not stop them.
        largest: from this radius on, a larger ball changes nothing.
        never: the radius of an attack that never succeeds.
        one_token: the area of a sentence of which one token can be moved.
    """

    read: Callable[[Explanation], tuple[np.ndarray, np.ndarray]]
    start: Callable[[Classifier, torch.Tensor, torch.Tensor], torch.Tensor]
    steps: int
    step: Callable[[float], float]
    common_steps: int
    largest: float
    never: float
    one_token: float


def search(steps: int) -> Search:
    """From the word embeddings of the whole sentence, in steps in proportion to the ball.

    An attack that never succeeds is given the largest radius, 1. Where steps grow with the radius, attacks have the
    direction of the first step in common.
    """
    return Search(
        read=whole_sentence,
        start=lambda classifier, embedding, mask: embedding,
        steps=steps,
        step=lambda radius: REACH * radius / steps,
        common_steps=1,
        largest=np.inf,
        never=1.0,
        one_token=np.nan,
    )


def whole_sentence(explanation: Explanation) -> tuple[np.ndarray, np.ndarray]:
    """The whole row, int64 (tokens,), of which the tokens of words may be moved."""
    return explanation.row, np.flatnonzero(~explanation.is_special)


# One attack in one ball -------------------------------------------------------------------------------------


@dataclass
class Attack:
    """The search for the smallest ball in which moving some tokens of an input flips its prediction.

    Attributes:
        input: where it starts.
        token_index: the tokens that are moved, int64 (moved,).
        signs: signs of the gradient along the path of an attack that no ball stops, as far as they are known; int8
            (moved, hidden) each. Attacks in smaller balls begin on the same path and need not ask for them again.
    """

    input: Input
    token_index: torch.Tensor
    signs: list[torch.Tensor] = field(default_factory=list)


def run_attacks(attacks: list[Attack], radius: np.ndarray, search: Search, evaluator: Evaluator) -> np.ndarray:
    """Whether each attack, sign-gradient ascent of the loss in the ball |offset| ≤ radius, flips the prediction.

    All attacks take their steps together. The prediction counts after the last step.

    Args:
        attacks: (attacks,); signs that become known are added to them.
        radius: float (attacks,).
        search: what a step is, and how many there are.
        evaluator: asks the model.
    """
    bound = radius.tolist()
    step = list(map(search.step, bound))
    offset = [
        attack.input.vectors.new_zeros(len(attack.token_index), attack.input.vectors.shape[1]) for attack in attacks
    ]
    taken = np.zeros(len(attacks), dtype=int)
    is_free = np.ones(len(attacks), dtype=bool)

    def go(going: np.ndarray, signs: Sequence[torch.Tensor]) -> None:
        farthest = []
        for index, sign in zip(going, signs, strict=True):
            moved = offset[index] + step[index] * sign.to(offset[index])
            offset[index] = moved.clamp(-bound[index], bound[index])
            farthest.append(moved.abs().max())
        taken[going] += 1
        # Beyond the ball by more than rounding: from here on, the path is this ball's own.
        is_free[going] &= np.array(fetched(farthest)) <= radius[going] + 1e-6

    known = np.array([len(attack.signs) for attack in attacks])
    while len(going := np.flatnonzero(is_free & (taken < known))):
        go(going, [attacks[index].signs[taken[index]] for index in going])
    while (taken < search.steps).any():
        going = np.flatnonzero(taken < search.steps)
        rows = [Moved(attacks[index].input, attacks[index].token_index, offset[index]) for index in going]
        signs = [gradient.sign() for gradient in loss_gradients(rows, evaluator)]
        for index, sign in zip(going, signs, strict=True):
            if is_free[index] and taken[index] < search.common_steps:
                attacks[index].signs.append(sign.to(torch.int8))
        go(going, signs)
    rows = [Moved(attack.input, attack.token_index, moved) for attack, moved in zip(attacks, offset, strict=True)]
    return are_flipped(rows, evaluator)


def smallest_flips(attacks: list[Attack], search: Search, evaluator: Evaluator) -> np.ndarray:
    """The smallest radius at which each attack flips the prediction, by halving [0, 1]; float (attacks,)."""
    low, high = np.zeros(len(attacks)), np.ones(len(attacks))
    best = np.full(len(attacks), search.never)
    for _ in range(HALVINGS):
        undecided = np.flatnonzero(low < search.largest)
        if not len(undecided):
            break
        middle = (low + high)[undecided] / 2
        flipped = run_attacks([attacks[index] for index in undecided], middle, search, evaluator)
        high[undecided[flipped]] = best[undecided[flipped]] = middle[flipped]
        low[undecided[~flipped]] = middle[~flipped]
    return best


# All attacks on all sentences -------------------------------------------------------------------------------


def top_places(score: np.ndarray, count: int) -> np.ndarray:
    """Places of the ``count`` scores (tokens,) with the highest absolute value, ascending; of equal ones the later."""
    return np.sort(np.argsort(np.abs(score), kind="stable")[::-1][:count])


@dataclass(frozen=True)
class Read:
    """A sentence as an attack reads it.

    Attributes:
        row: see :mod:`evenlight.texts.rows`; int64 (tokens,).
        token_index: the tokens that may be moved, int64 (inner,).
        tops: for 1, 2 … tokens, the places in ``row`` that an explanation ranks first.
    """

    row: np.ndarray
    token_index: np.ndarray
    tops: list[tuple[int, ...]]

    @property
    def key(self) -> bytes:
        """Equal for equal sentences."""
        return self.row.tobytes() + self.token_index.tobytes()


def read_for_attack(explanation: Explanation, count: int, search: Search) -> Read:
    """The sentence and its top places for 1 … ``count`` tokens."""
    row, token_index = search.read(explanation)
    score = explanation.token_score[~explanation.is_special]
    counts = range(1, min(count, len(token_index)) + 1)
    return Read(row, token_index, [tuple(token_index[top_places(score, size)].tolist()) for size in counts])


@torch.no_grad()
def inputs_of(rows: Sequence[np.ndarray], search: Search, evaluator: Evaluator) -> list[Input]:
    """Where the attack on each row starts, its target being the predicted class."""
    classifier = evaluator.classifier

    def compute(chosen: np.ndarray) -> list[Input]:
        token_id, mask = classifier.padded([rows[index] for index in chosen])
        embedding = classifier.embed(token_id)
        [target] = fetched([classifier.logits(embedding, mask).argmax(-1)])
        vectors = search.start(classifier, embedding, mask)
        # Where rows stand is asked of the mask, which is here, and not of the vectors' device.
        inside = [np.flatnonzero(marks) for marks in mask]
        return [
            Input(values[places[0] : places[-1] + 1], int(label), marks[marks > 0])
            for values, label, marks, places in zip(vectors, target, mask, inside, strict=True)
        ]

    return evaluator.in_batches([len(row) for row in rows], compute)


def attacks_on(reads: Sequence[Read], search: Search, evaluator: Evaluator) -> dict[tuple[bytes, tuple], Attack]:
    """The attacks on all sets of top places, one for all explanations that share it, by (sentence, set)."""
    distinct = {read.key: read for read in reads if read.tops}
    starts = inputs_of([read.row for read in distinct.values()], search, evaluator)
    inputs = dict(zip(distinct, starts, strict=True))
    device = evaluator.classifier.device
    # All attacks on a sentence begin with the same gradient.
    rows = [
        Moved(inputs[key], sent(read.token_index, device), inputs[key].vectors.new_zeros(()))
        for key, read in distinct.items()
    ]
    first_signs = {
        key: dict(zip(read.token_index.tolist(), gradient.sign().to(torch.int8), strict=True))
        for (key, read), gradient in zip(distinct.items(), loss_gradients(rows, evaluator), strict=True)
    }
    return {
        (key, top): Attack(inputs[key], sent(top, device), [torch.stack([first_signs[key][index] for index in top])])
        for key, top in dict.fromkeys((read.key, top) for read in reads for top in read.tops)
    }


def flip_areas(explanations: Sequence[Explanation], tokens: int, search: Search, evaluator: Evaluator) -> np.ndarray:
    """Area under the smallest flipping radius over the number of tokens moved, by trapezoids, 0 to ``tokens`` − 1.

    Args:
        explanations: (explanations,).
        tokens: most that are moved together.
        search: the definition.
        evaluator: asks the model.

    Returns:
        (explanations,); NaN where no token can be moved.
    """
    reads = [read_for_attack(explanation, tokens, search) for explanation in explanations]
    attacks = attacks_on(reads, search, evaluator)
    radius = dict(zip(attacks, smallest_flips(list(attacks.values()), search, evaluator), strict=True))
    return np.array([_area([radius[read.key, top] for top in read.tops], search) for read in reads])


def _area(radius: Sequence[float], search: Search) -> float:
    """Area under radii at 1, 2 … tokens."""
    if len(radius) < 2:
        return search.one_token if radius else np.nan
    return float(np.trapezoid(radius))
