"""A trained model, ready to be asked by a command."""

from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace

from evenlight.engine.evaluator import Evaluator
from evenlight.engine.service import ServiceEvaluator
from evenlight.models.classifier import load_saved
from evenlight.models.devices import use_processor
from evenlight.models.service import is_service, load_service
from evenlight.models.services.client import RequestPolicy


def open_evaluator(flags: Namespace, on_rows: Callable[[int], None] | None = None) -> Evaluator | ServiceEvaluator:
    """The evaluator that a command's flags ask for, see :func:`evenlight.engine.open_evaluator`."""
    use_processor(flags.threads)
    settings = flags.settings
    if is_service(flags.model):
        served = load_service(flags.model, settings["max_tokens"])
        policy = RequestPolicy(**flags.asking.get(flags.model.parent.name, {}))
        return ServiceEvaluator(served, flags.answers, policy, on_rows)
    classifier = load_saved(flags.model, settings["max_tokens"], flags.device, settings.get("precision", "float32"))
    return Evaluator(replace(classifier, on_rows=on_rows), flags.tokens_per_batch, flags.compile)
