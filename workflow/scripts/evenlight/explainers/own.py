"""Explainers of a user's own (:class:`evenlight.own.Explainer`), whose results are checked."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import numpy as np

from evenlight.core.errors import InputError
from evenlight.explainers import Context, Explainer, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.jobs import own_files
from evenlight.texts.predictions import Sentence


def explained(entry: Explainer, sentences: Sequence[Sentence], context: Context) -> Explanations:
    """What an explainer of a user's own says of the sentences.

    Raises:
        InputError: code of one's own fails, gives no finite score for each token of each text, or changes the model;
            the message names the file and, where one is to blame, the text.
    """
    name, texts = entry.method, len(sentences)
    found: list[Attribution] = []
    asked = _rows_asked(context)
    running = own_files.running("explainers", name, f"while text {{}} of {texts} was explained", found)
    with unchanged(name, context.evaluator), running:
        given: Any = entry.explain(list(map(copied, sentences)), context)
        for score in () if given is None else given:
            if len(found) == texts:
                raise InputError(f"{name}: gives scores for more than {texts} texts; give one array for each")
            rows, asked = _rows_asked(context) - asked, _rows_asked(context)
            found.append(_checked(name, score, sentences[len(found)], rows))
        if len(found) < texts:
            said = "yield or return one array for each"
            raise InputError(f"{name}: gives scores for {len(found)} of {texts} texts; {said}")
    return Explanations(found)


def copied(tokenised: Any) -> Any:
    """A sentence or an explanation with arrays of its own, so that what is done to them is done to no other."""
    arrays = {each.name: getattr(tokenised, each.name) for each in fields(tokenised)}
    return replace(
        tokenised, **{name: np.array(value) for name, value in arrays.items() if isinstance(value, np.ndarray)}
    )


@contextmanager
def unchanged(name: str, evaluator: Any) -> Iterator[None]:
    """Within it code of one's own is run, which must leave the model as it was.

    Raises:
        InputError: weights, mode, gradients or hooks are others.
    """
    network = getattr(getattr(evaluator, "classifier", None), "network", None)
    before = _state_of(network)
    yield
    if _state_of(network) != before:
        raise InputError(
            f"{name}: leaves the model changed (weights, mode or hooks), so that all that follows would be about "
            "another model; work on a copy (copy.deepcopy), or undo the change"
        )


def _state_of(network: Any) -> tuple:
    """What tells whether a network has been changed: its tensors and their sums, its mode, its hooks."""
    if network is None:
        return ()
    # Here, since what asks no model does without torch.
    from evenlight.models.devices import fetched

    tensors = list(itertools.chain(network.parameters(), network.buffers()))
    # As text, in which one that is no number equals itself.
    sums = tuple(map(str, fetched([tensor.detach().float().sum() for tensor in tensors])))
    modules = list(network.modules())
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return (
        tuple((id(tensor), tensor.requires_grad) for tensor in tensors),
        sums,
        tuple(module.training for module in modules),
        tuple(len(getattr(module, kind)) for module in modules for kind in hooks),
    )


def _rows_asked(context: Context) -> int:
    return getattr(context.evaluator, "rows_computed", 0)


def _checked(name: str, score: Any, sentence: Sentence, rows: int) -> Attribution:
    attribution = score if isinstance(score, Attribution) else Attribution(score, rows)
    place = f"{name}: text {sentence.item_id}"
    try:
        given = np.asarray(attribution.token_score)
        if given.dtype.kind not in "fiub":
            raise TypeError(f"they are of the type {given.dtype}")
        # A copy: who gives parts of one array would change all of them by the next.
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{place}: the scores are no numbers ({error})") from None
    tokens = len(sentence.token_id)
    if values.shape != (tokens,):
        raise InputError(
            f"{place}: found scores of shape {values.shape}; give one for each of its {tokens} tokens, special ones "
            "included"
        )
    if not np.isfinite(values).all():
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"{place}: score {first} is {values[first]}; give finite numbers")
    return Attribution(values, attribution.forward_rows, attribution.completeness_gap)
