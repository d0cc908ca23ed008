"""Where a path or a comparison begins: the baseline of a sentence, and whether a path may begin there."""

import numpy as np
import torch

from evenlight.core.errors import InputError
from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context
from evenlight.explainers.attribution import Remark
from evenlight.models.classifier import Classifier, EmbeddingLayer
from evenlight.models.devices import sent
from evenlight.models.networks import word_table
from evenlight.models.tokenizers import read_words, special_token_id

# Where the output changes evenly, it has changed by a hundredth after the first hundredth of the path. Twenty times
# that is a jump: paths of twelve architectures with random weights have up to 2 % where words begin at another word,
# and 40 to 100 % where they begin without embedding and a normalisation divides by nothing.
FIRST, MOST = 0.01, 0.2
# The special tokens that may stand in for a baseline at which no path can begin, the first that can, and at last a full
# stop, which every text has.
OTHERS = ("mask", "unk", "eos", "sep", "bos", "cls")
PROBES, PROBE_TOKENS = 8, 8
# By what share of the largest logit two logits of equal inputs may differ, where products have few digits: what is less
# is no jump. Eight times the rounding of one product, as many layers round.
NOISE = {"tf32": 8 * 2.0**-11, "bfloat16": 8 * 2.0**-9}


def baseline_ids(batch: Batch, classifier: Classifier, baseline: str | int) -> torch.Tensor:
    """The batch's ids, (rows, tokens), with every word's token replaced; special tokens stay.

    Args:
        batch: the sentences.
        classifier: gives the replacement.
        baseline: ``pad`` or ``mask``, or a token's id.
    """
    fill = baseline if isinstance(baseline, int) else classifier.special_token(baseline)
    return classifier.padded([np.where(s.is_special, s.token_id, fill) for s in batch.sentences])[0]


@torch.no_grad()
def path_ends(
    batch: Batch, classifier: Classifier, embedding_layer: EmbeddingLayer, baseline: str | int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Where the path of each sentence begins and ends: baseline and input at the embedding layer, (rows, tokens,
    hidden).

    With baseline ``zero`` the special tokens keep their values and all others are zero.
    """
    end = embedding_layer.embed(batch.token_id, batch.mask)
    if baseline == "zero":
        special, _ = classifier.padded([sentence.is_special.astype(np.int64) for sentence in batch.sentences])
        return end * (special * sent(batch.mask > 0, end.device))[..., None], end
    return embedding_layer.embed(baseline_ids(batch, classifier, baseline), batch.mask), end


def probes(classifier: Classifier) -> list[Sentence]:
    """Texts of tokens from the whole vocabulary, by which a model is tried out; the same for every job."""
    tokenizer = classifier.tokenizer
    [reading] = read_words(tokenizer, [["."]])
    inside = np.flatnonzero(reading.word_id >= 0)
    before, after = reading.token_id[: inside[0]], reading.token_id[inside[-1] + 1 :]
    length = max(1, min(PROBE_TOKENS, classifier.max_tokens - len(before) - len(after)))
    # A tokenizer may have been given tokens that the model knows nothing of.
    known = min(len(tokenizer), len(word_table(classifier.network)))
    ordinary = np.setdiff1d(np.arange(known), tokenizer.all_special_ids)
    # Neighbours in a vocabulary resemble each other.
    chosen = ordinary[np.linspace(0, len(ordinary) - 1, PROBES * length).astype(int)].reshape(length, PROBES).T
    ends = reading.word_id[: inside[0]], reading.word_id[inside[-1] + 1 :]
    word_id = np.concatenate([ends[0], np.arange(length), ends[1]])
    return [
        Sentence(f"probe{row}", (), np.concatenate([before, tokens, after]), word_id, 0)
        for row, tokens in enumerate(chosen)
    ]


def share_of_the_start(evaluator: Evaluator, embedding_layer: EmbeddingLayer, baseline: str | int) -> float:
    """How much of what a path changes it changes in its first hundredth, 0 to 1; median of the :func:`probes`' logits.

    Large where the baseline is a point at which the network is not smooth: words without embedding whose
    normalisation divides by the root of its ε alone. What products in few digits round away does not count, so that all
    precisions begin alike.
    """
    classifier = evaluator.classifier

    @torch.no_grad()
    def compute(batch: Batch) -> tuple[torch.Tensor, ...]:
        start, end = path_ends(batch, classifier, embedding_layer, baseline)
        shares = (0, FIRST / 100, FIRST / 10, FIRST, 0.5, 1)
        logits = torch.stack(
            [embedding_layer.logits(start + share * (end - start), batch.mask) for share in shares]
        ).double()
        noise = NOISE.get(classifier.precision, 0) * logits.abs().amax(0)
        change = ((logits[1:4] - logits[0]).abs().amax(0) - noise).clamp(min=0)
        span = logits.amax(0) - logits.amin(0)
        # What is rounding has no course.
        rounding = 100 * torch.finfo(end.dtype).eps * logits.abs().amax(0)
        return torch.where(span > rounding, change / span, 0).unbind(1)

    return float(np.median(sentences_in_batches(probes(classifier), evaluator, compute)))


def sound_baseline(context: Context, embedding_layer: EmbeddingLayer, baseline: str) -> tuple[str | int, list[Remark]]:
    """``baseline``, or the id of the token that stands in for it because no path can begin there, and a remark on it.

    Gradients along a path that begins in a jump miss the jump, whatever the number of steps. The decision is the
    model's and not a sentence's, so that all items of a study begin alike.

    Args:
        context: the model, and the decisions so far.
        embedding_layer: where the path lies.
        baseline: ``pad``, ``mask`` or ``zero``.

    Raises:
        InputError: no token can stand in.
    """
    key = ("sound_baseline", embedding_layer.name, baseline)
    start = context.once(key, lambda: _sound_baseline(context.evaluator, embedding_layer, baseline))
    if start == baseline:
        return baseline, []
    token = context.evaluator.classifier.tokenizer.convert_ids_to_tokens(start)
    text = (
        f"the path begins at the token {token} and not at baseline '{baseline}', from which this model's output jumps: "
        "its first normalisations have nothing to divide by"
    )
    return start, [Remark(text)]


def _sound_baseline(evaluator: Evaluator, embedding_layer: EmbeddingLayer, baseline: str) -> str | int:
    tokenizer = evaluator.classifier.tokenizer
    special_ids = [special_token_id(tokenizer, role) for role in OTHERS]
    [reading] = read_words(tokenizer, [["."]])
    stop = int(reading.token_id[reading.word_id >= 0][-1])
    starts: list[str | int] = [baseline, *(token for token in special_ids if token is not None), stop]
    for start in starts:
        if share_of_the_start(evaluator, embedding_layer, start) <= MOST:
            return start
    raise InputError(
        f"explainers: the output of this {evaluator.classifier.network.config.model_type} model jumps where a path "
        f"leaves baseline '{baseline}', any other special token, or the full stop; take the methods with a path out of "
        "the study, or the model"
    )
