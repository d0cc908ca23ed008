"""Sensitivity: what a small change of the input does to the explanation, or how small a change of the tokens that it
ranks first flips the prediction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.nn import functional

from evenlight.configuration.explainers import Explainer
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.errors import InputError
from evenlight.explainers import NEED_TRAINING, Context, explain
from evenlight.metrics import Explanation, Origin
from evenlight.models.classifier import Classifier
from evenlight.models.fast_layers import whole_last_layer

# The attack of the released code: five steps of this size, whatever the ball.
RELEASED_STEPS, RELEASED_STEP = 5, 0.1
# Steps of the other attacks reach this many radii in all, so that they can leave every corner (Madry et al. 2018).
REACH = 2.5
# Halvings of [0, 1], the released search's tolerance of 0.001.
HALVINGS = 10
# Sentences whose perturbed forms are explained together.
SENTENCES_AT_ONCE = 64


@dataclass(frozen=True)
class Input:
    """A sentence as the vectors that the network is given.

    Attributes:
        vectors: (tokens, hidden).
        target: the class that an attack makes less probable.
    """

    vectors: torch.Tensor
    target: int


@dataclass(frozen=True)
class Moved:
    """An input of which some tokens are moved: one row for the network.

    Attributes:
        input: where the tokens were.
        places: which ones are moved, int64 (moved,).
        offset: by how much, (moved, hidden).
    """

    input: Input
    places: torch.Tensor
    offset: torch.Tensor


# Passes through the network ---------------------------------------------------------------------------------


def _padded(rows: Sequence[Moved], classifier: Classifier) -> tuple[torch.Tensor, torch.Tensor]:
    """Vectors (rows, tokens, hidden), padded with zeros, and mask (rows, tokens)."""
    vectors = [row.input.vectors.clone() for row in rows]
    for vector, row in zip(vectors, rows, strict=True):
        vector[row.places] += row.offset
    return classifier.padded_vectors(vectors)


def _targets(rows: Sequence[Moved]) -> torch.Tensor:
    """The target of each row, (rows,)."""
    return torch.tensor([row.input.target for row in rows], device=rows[0].offset.device)


def _in_batches(rows: Sequence[Moved], evaluator: Evaluator, compute: Callable[[list[Moved]], list]) -> list:
    """``compute(rows)`` of full batches, one result per row, in the rows' order."""
    lengths = [len(row.input.vectors) for row in rows]
    return evaluator.in_batches(lengths, lambda chosen: compute([rows[index] for index in chosen]))


def loss_gradients(rows: Sequence[Moved], evaluator: Evaluator) -> list[torch.Tensor]:
    """Gradient of each row's cross-entropy with its target, at the moved tokens, (moved, hidden)."""

    def compute(rows: list[Moved]) -> list[torch.Tensor]:
        vectors, mask = _padded(rows, evaluator.classifier)
        logits = evaluator.classifier.logits(vectors.requires_grad_(), mask)
        loss = functional.cross_entropy(logits, _targets(rows), reduction="sum")
        gradients = torch.autograd.grad(loss, vectors)[0]
        return [
            gradient[is_token][row.places] for gradient, is_token, row in zip(gradients, mask.bool(), rows, strict=True)
        ]

    return _in_batches(rows, evaluator, compute)


@torch.no_grad()
def are_flipped(rows: Sequence[Moved], evaluator: Evaluator) -> np.ndarray:
    """Whether each row is predicted as another class than its target, bool (rows,)."""

    def compute(rows: list[Moved]) -> list[bool]:
        vectors, mask = _padded(rows, evaluator.classifier)
        return (evaluator.classifier.logits(vectors, mask).argmax(-1) != _targets(rows)).tolist()

    return np.array(_in_batches(rows, evaluator, compute), dtype=bool)


def last_hidden_state(classifier: Classifier, embedding: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Output of the network's last layer, (rows, tokens, hidden); the embeddings of a network without a base model.

    Raises:
        InputError: its vectors are not as long as word embeddings, so that they cannot go in as such.
    """
    base = getattr(classifier.network, "base_model", classifier.network)
    if base is classifier.network:
        return embedding
    caught = []
    hook = base.register_forward_hook(lambda module, arguments, output: caught.append(output.last_hidden_state))
    try:
        with whole_last_layer(classifier.network):
            classifier.logits(embedding, mask)
    finally:
        hook.remove()
    if caught[0].shape != embedding.shape:
        raise InputError(
            f"metrics.<sensitivity>.definition is 'released', which feeds the last hidden state, "
            f"{caught[0].shape[-1]} numbers per token, as word embeddings, of which this "
            f"{classifier.network.config.model_type} model has {embedding.shape[-1]}; use 'corrected'"
        )
    return caught[0]


@torch.no_grad()
def inputs_of(token_ids: Sequence[np.ndarray], evaluator: Evaluator, released: bool) -> list[Input]:
    """Where the attack on each row of token ids starts, its target being the predicted class.

    At the word embeddings or, in the released code, at the last hidden state, which is fed as word embeddings.
    """
    classifier = evaluator.classifier

    def compute(chosen: np.ndarray) -> list[Input]:
        token_id, mask = classifier.padded([token_ids[index] for index in chosen])
        vectors = classifier.embed(token_id)
        target = classifier.logits(vectors, mask).argmax(-1).tolist()
        if released:
            vectors = last_hidden_state(classifier, vectors, mask)
        return [Input(row[is_token], label) for row, is_token, label in zip(vectors, mask.bool(), target, strict=True)]

    return evaluator.in_batches([len(row) for row in token_ids], compute)


# The smallest flip ------------------------------------------------------------------------------------------


@dataclass
class Attack:
    """The search for the smallest ball in which moving some tokens of an input flips its prediction.

    Attributes:
        input: where it starts.
        places: the tokens that are moved, int64 (moved,).
        signs: signs of the gradient along the path of an attack that no ball stops, as far as they are known; int8
            (moved, hidden) each. Attacks in smaller balls begin on the same path and need not ask for them again.
    """

    input: Input
    places: torch.Tensor
    signs: list[torch.Tensor] = field(default_factory=list)


def run_attacks(
    attacks: Sequence[Attack], radius: np.ndarray, evaluator: Evaluator, released: bool, steps: int
) -> np.ndarray:
    """Whether each attack, sign-gradient ascent of the loss in the ball |offset| ≤ radius, flips the prediction.

    All attacks take their steps together. The prediction counts after the last step.

    Args:
        attacks: (attacks,); signs that become known are added to them.
        radius: float (attacks,).
        evaluator: asks the model.
        released: steps of 0.1, instead of steps in proportion to the radius.
        steps: how many.
    """
    bound = radius.tolist()
    step = [RELEASED_STEP if released else REACH * own / steps for own in bound]
    offset = [torch.zeros(len(one.places), one.input.vectors.shape[1]).to(one.input.vectors) for one in attacks]
    taken = np.zeros(len(attacks), dtype=int)
    is_free = np.ones(len(attacks), dtype=bool)

    def go(index: int, sign: torch.Tensor) -> None:
        moved = offset[index] + step[index] * sign.to(offset[index])
        offset[index] = moved.clamp(-bound[index], bound[index])
        taken[index] += 1
        # Beyond the ball by more than rounding: from here on, the path is this ball's own.
        is_free[index] &= bool(moved.abs().max() <= bound[index] + 1e-6)

    for index, attack in enumerate(attacks):
        # Where steps grow with the radius, only the starting point is common.
        for sign in attack.signs if released else attack.signs[:1]:
            if is_free[index]:
                go(index, sign)
    while (taken < steps).any():
        going = np.flatnonzero(taken < steps)
        rows = [Moved(attacks[index].input, attacks[index].places, offset[index]) for index in going]
        for index, gradient in zip(going, loss_gradients(rows, evaluator), strict=True):
            sign = gradient.sign()
            if is_free[index] and (released or not taken[index]):
                attacks[index].signs.append(sign.to(torch.int8))
            go(index, sign)
    rows = [Moved(one.input, one.places, own) for one, own in zip(attacks, offset, strict=True)]
    return are_flipped(rows, evaluator)


def smallest_flips(attacks: Sequence[Attack], evaluator: Evaluator, released: bool, steps: int) -> np.ndarray:
    """The smallest radius at which each attack flips the prediction, by halving [0, 1]; float (attacks,).

    An attack that never succeeds is given the largest radius, 1; in the released code 0.
    """
    low, high = np.zeros(len(attacks)), np.ones(len(attacks))
    best = np.full(len(attacks), 0.0 if released else 1.0)
    # In a ball that the steps cannot leave, the attack is that in any larger one.
    unbounded = steps * RELEASED_STEP - 1e-9 if released else np.inf
    for _ in range(HALVINGS):
        open_ones = np.flatnonzero(low < unbounded)
        if not len(open_ones):
            break
        middle = (low + high)[open_ones] / 2
        flipped = run_attacks([attacks[index] for index in open_ones], middle, evaluator, released, steps)
        high[open_ones[flipped]] = best[open_ones[flipped]] = middle[flipped]
        low[open_ones[~flipped]] = middle[~flipped]
    return best


def top_places(score: np.ndarray, count: int) -> np.ndarray:
    """Places of the ``count`` scores (tokens,) with the highest absolute value, ascending; of equal ones the later."""
    return np.sort(np.argsort(np.abs(score), kind="stable")[::-1][:count])


@dataclass(frozen=True)
class Read:
    """A sentence as an attack reads it.

    Attributes:
        token_id: ids, int64 (tokens,).
        places: the tokens that may be moved, int64 (inner,).
        tops: for 1, 2 … tokens, the places in ``token_id`` that an explanation ranks first.
    """

    token_id: np.ndarray
    places: np.ndarray
    tops: list[tuple[int, ...]]

    @property
    def key(self) -> bytes:
        """Equal for equal sentences."""
        return self.token_id.tobytes() + self.places.tobytes()


def read_for_attack(explanation: Explanation, count: int, released: bool) -> Read:
    """The sentence and its top places for 1 … ``count`` tokens; the released code takes special tokens away."""
    inner = np.flatnonzero(~explanation.is_special)
    score = explanation.token_score[inner]
    token_id, places = (
        (explanation.token_id[inner], np.arange(len(inner))) if released else (explanation.token_id, inner)
    )
    counts = range(1, min(count, len(inner)) + 1)
    return Read(token_id, places, [tuple(places[top_places(score, size)].tolist()) for size in counts])


def attacks_on(reads: Sequence[Read], evaluator: Evaluator, released: bool) -> dict[tuple[bytes, tuple], Attack]:
    """The attacks on all sets of top places, one for all explanations that share it, by (sentence, set)."""
    distinct = {read.key: read for read in reads if read.tops}
    starts = inputs_of([read.token_id for read in distinct.values()], evaluator, released)
    inputs = dict(zip(distinct, starts, strict=True))
    # All attacks on a sentence begin with the same gradient.
    rows = [
        Moved(
            inputs[key], torch.from_numpy(read.places).to(inputs[key].vectors.device), inputs[key].vectors.new_zeros(())
        )
        for key, read in distinct.items()
    ]
    first = {
        key: dict(zip(read.places.tolist(), gradient.sign().to(torch.int8), strict=True))
        for (key, read), gradient in zip(distinct.items(), loss_gradients(rows, evaluator), strict=True)
    }
    return {
        (key, top): Attack(
            inputs[key],
            torch.tensor(top, device=inputs[key].vectors.device),
            [torch.stack([first[key][place] for place in top])],
        )
        for key, top in dict.fromkeys((read.key, top) for read in reads for top in read.tops)
    }


def _flip_areas(explanations: Sequence[Explanation], settings: dict, evaluator: Evaluator) -> np.ndarray:
    """Area under the smallest flipping radius over the number of tokens moved, by trapezoids, 0 to ``tokens`` − 1."""
    released = settings["definition"] == "released"
    steps = RELEASED_STEPS if released else settings["steps"]
    reads = [read_for_attack(one, settings["tokens"], released) for one in explanations]
    attacks = attacks_on(reads, evaluator, released)
    radius = dict(zip(attacks, smallest_flips(list(attacks.values()), evaluator, released, steps), strict=True))
    return np.array([_area([radius[read.key, top] for top in read.tops], released) for read in reads])


def _area(radius: Sequence[float], released: bool) -> float:
    """Area under radii at 1, 2 … tokens. Under a single one there is none: NaN, in the released code 0."""
    if len(radius) < 2:
        return 0.0 if released and radius else np.nan
    return float(np.trapezoid(radius))


# The worst change of the explanation ------------------------------------------------------------------------


def ascent(
    inputs: Sequence[Input], places: Sequence[torch.Tensor], settings: dict, evaluator: Evaluator
) -> list[list[torch.Tensor]]:
    """Offsets (moved, hidden) of all steps of projected gradient ascent of the loss in a ball, for each input.

    Args:
        inputs: what is moved, with the class whose loss is raised.
        places: which of its tokens, int64 (moved,) each.
        settings: ``radius`` and ``norm`` (``l2`` over all moved tokens together, or ``linf``) of the ball, ``steps``.
        evaluator: asks the model.
    """
    radius = settings["radius"]
    step = REACH * radius / settings["steps"]
    offset = [one.vectors.new_zeros(len(own), one.vectors.shape[1]) for one, own in zip(inputs, places, strict=True)]
    path: list[list[torch.Tensor]] = [[] for _ in inputs]
    for _ in range(settings["steps"]):
        rows = [Moved(*row) for row in zip(inputs, places, offset, strict=True)]
        for index, gradient in enumerate(loss_gradients(rows, evaluator)):
            if settings["norm"] == "linf":
                offset[index] = (offset[index] + step * gradient.sign()).clamp(-radius, radius)
            else:
                # Where the gradient is zero there is no direction.
                moved = offset[index] + step * gradient / gradient.norm().clamp(min=torch.finfo(gradient.dtype).tiny)
                offset[index] = moved * (radius / moved.norm().clamp(min=radius))
            path[index].append(offset[index])
    return path


@dataclass(frozen=True)
class WithVectors(Classifier):
    """A classifier with further token ids, those beyond the vocabulary, for the rows of ``vectors`` (further, hidden).

    A sentence whose embeddings were moved is then a row of ids like any other: every explainer explains it as it is,
    those that hide tokens as well as those that follow gradients.
    """

    vectors: torch.Tensor = field(kw_only=True)

    def embed(self, token_id: torch.Tensor) -> torch.Tensor:
        """Word embeddings (rows, tokens, hidden) of ids (rows, tokens)."""
        words = self.network.get_input_embeddings()
        further = token_id >= words.num_embeddings
        embedding = words(token_id.masked_fill(further, 0))
        return torch.where(
            further[..., None], self.vectors[(token_id - words.num_embeddings).clamp(min=0)].to(embedding), embedding
        )


def _family(origin: Origin) -> str:
    """The family of explainers that made an explanation.

    Raises:
        InputError: it cannot explain moved embeddings.
    """
    settings = origin.settings
    if settings.get("method") not in Explainer.entries:
        raise InputError(
            f"explainer {origin.explainer} has no known method, so that it cannot explain again; delete its shard and "
            "run the workflow again"
        )
    if settings["method"] == "lime" and settings.get("definition") == "released":
        raise InputError(
            f"explainers.{origin.explainer} works on text (definition 'released') and cannot explain moved embeddings, "
            "as metrics.<sensitivity>.definition 'paper' asks; use 'corrected'"
        )
    return Explainer.entries[settings["method"]].family


def moved_sentences(
    explanations: Sequence[Explanation], settings: dict, evaluator: Evaluator
) -> tuple[list[Sentence], torch.Tensor]:
    """The steps of :func:`ascent` from each explanation's sentence, as sentences of further token ids, in a row.

    Returns:
        The sentences, ``steps`` for each explanation, and the vectors of their further ids, (further, hidden).
    """
    classifier = evaluator.classifier
    with torch.no_grad():
        token_ids = [torch.from_numpy(one.token_id).to(classifier.device) for one in explanations]
        inputs = [Input(classifier.embed(ids), one.target) for ids, one in zip(token_ids, explanations, strict=True)]
    places = [torch.from_numpy(np.flatnonzero(~one.is_special)).to(classifier.device) for one in explanations]
    sentences, vectors = [], []
    following = classifier.network.get_input_embeddings().num_embeddings
    steps = ascent(inputs, places, settings, evaluator)
    for one, start, own, offsets in zip(explanations, inputs, places, steps, strict=True):
        for offset in offsets:
            token_id = one.token_id.copy()
            token_id[~one.is_special] = following + np.arange(len(own))
            following += len(own)
            sentences.append(Sentence(one.item_id, one.words, token_id, one.word_id, one.target))
            vectors.append(start.vectors[own] + offset)
    return sentences, torch.cat(vectors)


def explained_again(
    sentences: Sequence[Sentence], vectors: torch.Tensor, origins: Sequence[Origin], evaluator: Evaluator
) -> dict[str, list[np.ndarray]]:
    """Scores (tokens,) of all ``sentences`` by each explainer but those that explain from the data alone."""
    fields = {name: getattr(evaluator.classifier, name) for name in Classifier.__dataclass_fields__}
    extended = Evaluator(WithVectors(**fields, vectors=vectors), evaluator.tokens_per_batch, evaluator.compiled)
    families: dict[tuple[str, int], list[Origin]] = {}
    for origin in origins:
        families.setdefault((_family(origin), origin.seed), []).append(origin)
    found = {}
    for (family, seed), members in families.items():
        if family in NEED_TRAINING:
            continue
        methods = {origin.explainer: origin.settings for origin in members}
        explained = explain(family, sentences, methods, Context(extended, seed, None))
        for origin in members:
            found[origin.explainer] = [one.token_score for one in explained[origin.explainer].attributions]
    return found


def _worst_changes(explanations: Sequence[Explanation], settings: dict, evaluator: Evaluator) -> np.ndarray:
    """The largest ‖Φ(y) − Φ(x)‖ / ‖Φ(x)‖ over the steps y of :func:`ascent`; NaN where Φ(x) is zero."""
    of_sentence: dict[tuple, list[int]] = {}
    for index, one in enumerate(explanations):
        of_sentence.setdefault((one.item_id, one.target, one.token_id.tobytes()), []).append(index)
    groups = list(of_sentence.values())
    found = np.full(len(explanations), np.nan)
    for start in range(0, len(groups), SENTENCES_AT_ONCE):
        chosen = groups[start : start + SENTENCES_AT_ONCE]
        origins = {one.explainer: one for one in (explanations[index].origin for group in chosen for index in group)}
        sentences, vectors = moved_sentences([explanations[group[0]] for group in chosen], settings, evaluator)
        again = explained_again(sentences, vectors, list(origins.values()), evaluator)
        for place, group in enumerate(chosen):
            steps = slice(place * settings["steps"], (place + 1) * settings["steps"])
            for index in group:
                own = explanations[index].token_score
                changed = again.get(explanations[index].origin.explainer, [own] * len(sentences))[steps]
                if own.any():
                    found[index] = max(np.linalg.norm(score - own) for score in changed) / np.linalg.norm(own)
    return found


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator: Evaluator) -> dict[str, np.ndarray]:
    """Sensitivity in three definitions; NaN where it is undefined.

    ``paper``: Dhaini et al. 2025, Eq. 6, the worst relative change of the explanation in a ball. ``released``: the
    area under the smallest flipping radius (Yin et al. 2022) as the released code computes it; ``corrected``: the
    same without its errors.
    """
    return {
        name: (_worst_changes if settings["definition"] == "paper" else _flip_areas)(explanations, settings, evaluator)
        for name, settings in metrics.items()
    }
