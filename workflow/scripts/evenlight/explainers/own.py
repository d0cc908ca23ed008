"""Explainers of a user's own (:class:`evenlight.own.Explainer`), whose results are checked."""

import itertools
from collections.abc import Sequence

import numpy as np

from evenlight import own_files
from evenlight.errors import InputError
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.readings import Sentence


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """What each class says of the sentences.

    Raises:
        InputError: code of one's own fails, gives no finite score for each token of each text, or changes the model;
            the message names the file and, where one is to blame, the text.
    """
    return {name: Explanations(_attributions(sentences, settings, context)) for name, settings in methods.items()}


def _attributions(sentences: Sequence[Sentence], settings: dict, context: Context) -> list[Attribution]:
    name = settings["method"]
    network = getattr(getattr(context.evaluator, "classifier", None), "network", None)
    before = _state_of(network)
    found: list[Attribution] = []
    asked = _rows_asked(context)
    with own_files.running("explainers", name, f"while text {{}} of {len(sentences)} was explained", found):
        for score in own_files.part_of("explainers", settings).explain(sentences, context):
            if len(found) == len(sentences):
                raise InputError(f"{name}: gives scores for more than {len(sentences)} texts; give one array for each")
            rows, asked = _rows_asked(context) - asked, _rows_asked(context)
            found.append(_checked(name, score, sentences[len(found)], rows))
    if len(found) < len(sentences):
        raise InputError(f"{name}: gives scores for {len(found)} of {len(sentences)} texts; give one array for each")
    if _state_of(network) != before:
        raise InputError(
            f"{name}: leaves the model changed (weights, mode or hooks), so that all that follows would be about "
            "another model; work on a copy (copy.deepcopy), or undo the change"
        )
    return found


def _rows_asked(context: Context) -> int:
    return getattr(context.evaluator, "rows_computed", 0)


def _checked(name: str, score: object, sentence: Sentence, rows: int) -> Attribution:
    attribution = score if isinstance(score, Attribution) else Attribution(score, rows)
    try:
        values = np.asarray(attribution.token_score, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name}: text {sentence.item_id}: the scores are no numbers ({error})") from None
    tokens = len(sentence.token_id)
    if values.shape != (tokens,):
        raise InputError(
            f"{name}: text {sentence.item_id}: found scores of shape {values.shape}; give one for each token, special "
            f"ones included: ({tokens},)"
        )
    if not np.isfinite(values).all():
        place = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"{name}: text {sentence.item_id}: score {place} is {values[place]}; give finite numbers")
    return Attribution(values, attribution.forward_rows, attribution.completeness_gap)


def _state_of(network) -> tuple:
    """What tells whether a network has been changed: its tensors and their sums, its mode, its hooks."""
    if network is None:
        return ()
    # Here, since explainers that ask no model do without torch.
    from evenlight.models.transfers import fetched

    tensors = list(itertools.chain(network.parameters(), network.buffers()))
    # As text, in which one that is no number equals itself.
    sums = tuple(map(str, fetched([tensor.detach().float().sum() for tensor in tensors])))
    modules = list(network.modules())
    of_modules = [(module._forward_hooks, module._forward_pre_hooks, module._backward_hooks) for module in modules]
    hooks = tuple(len(hooks) for of_module in of_modules for hooks in of_module)
    return tuple(map(id, tensors)), sums, tuple(module.training for module in modules), hooks
