"""Answers in words that a language model behind an address gives when it is asked about the questions of a dataset.

Each answer is a request of its own, with a seed of its own, and is kept: another study, or a run that goes on, asks
only what was not asked before.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields

import pandas as pd

from evenlight.core.contracts.explanations import ANSWERS
from evenlight.core.errors import InputError
from evenlight.explainers.answering import (
    Position,
    Question,
    decided,
    digest_of,
    label_probabilities,
    messages_of,
    most_probable,
    notes_of,
    seed_of,
)
from evenlight.models.services.chat import CachedChat, asks_probabilities, request_of
from evenlight.models.services.store import Replies

# Characters of a token, of which a prompt has more or less; only estimates ask.
CHARACTERS = 4
# Prices are those of so many tokens.
PRICED = 1_000_000


@dataclass(frozen=True)
class Draw:
    """One answer that is asked for.

    Attributes:
        item_id: of the question.
        draw: its number among the answers to the question, from 0.
        prompt: digest of the messages.
        request: all that is asked, see :func:`evenlight.models.services.chat.request_of`.
    """

    item_id: str
    draw: int
    prompt: str
    request: dict


def draws_of(
    questions: Sequence[Question], method: Mapping, model: Mapping, seed: int, explainer: str = "<explainer>"
) -> list[Draw]:
    """All answers that an explainer asks for, the first ones to all questions before the second ones.

    Args:
        questions: of the test split.
        method: completed, of an entry ``asked``.
        model: completed, of a chat model.
        seed: of the study.
        explainer: name of the entry, for messages.
    """
    asked = []
    for question in questions:
        messages = messages_of(question, method, explainer)
        asked.append((question.item_id, messages, digest_of(messages)))
    return [
        Draw(item_id, draw, prompt, request_of(messages, method, model, seed_of(seed, item_id, draw)))
        for draw in range(method["answers"])
        for item_id, messages, prompt in asked
    ]


def ask(
    questions: Sequence[Question],
    method: Mapping,
    model: Mapping,
    seed: int,
    chat: CachedChat,
    explainer: str = "<explainer>",
) -> tuple[pd.DataFrame, list[str]]:
    """The answers of a model to all questions, in the contract ``answers``, and notes on them.

    Args:
        questions, method, model, seed, explainer: as :func:`draws_of` takes them.
        chat: who is asked.

    Raises:
        InputError: the service gives no usable answer, or a pattern takes too long.
    """
    draws = draws_of(questions, method, model, seed, explainer)
    rows = []
    for draw, reply in zip(draws, chat.replies([draw.request for draw in draws]), strict=True):
        text, decision = decided(reply["text"], method["decision"], explainer)
        if asks_probabilities(method["decision"]):
            positions = [Position(**position) for position in reply["positions"]]
            decision = most_probable(label_probabilities(positions, method["decision"]["words"]))
        rows.append(
            {"item_id": draw.item_id, "draw": draw.draw, "decision": decision, "text": text, "prompt": draw.prompt}
            | {"model": reply["model"] or model["called"], "temperature": method["temperature"]}
            | {"seed": draw.request["seed"] if model["seed_field"] else None, "tokens": reply["written"]}
            | {"seconds": reply["seconds"], "finish": reply["finish"]}
        )
    table = pd.DataFrame(rows, columns=ANSWERS.schema.names)
    table = table.sort_values(["item_id", "draw"], kind="stable", ignore_index=True)
    looked_at = f"explainers.{explainer}.decision" if method["decision"] else None
    notes = notes_of(table, {question.item_id for question in questions}, looked_at)
    called = table["model"].value_counts(sort=False)
    if len(called) > 1:
        told = ", ".join(f"{count:,} of {name}" for name, count in called.items())
        notes.append(f"the service answered by several models: {told}")
    return table, notes


@dataclass(frozen=True)
class Estimate:
    """What an explainer will ask of a model.

    Attributes:
        questions: all of them.
        left: those that were not asked before.
        read: tokens that the model reads in these, about.
        written: tokens that it writes at most.
    """

    questions: int
    left: int
    read: int
    written: int

    def cost(self, prices: Mapping) -> float:
        """What is left to pay at most, by prices of a million tokens ``read`` and ``written``."""
        return (self.read * prices["read"] + self.written * prices["written"]) / PRICED


def estimate(draws: Sequence[Draw], store: Replies, max_tokens: int) -> Estimate:
    """What is left to be asked of some draws; a prompt is taken to have a token for each 4 characters."""
    known = store.known([draw.request for draw in draws])
    left = [draw.request["body"]["messages"] for place, draw in enumerate(draws) if place not in known]
    characters = sum(len(message["content"]) for messages in left for message in messages)
    return Estimate(len(draws), len(left), -(-characters // CHARACTERS), len(left) * max_tokens)


def told(estimates: Mapping[str, Estimate], model: Mapping, name: str) -> list[str]:
    """The lines of an estimate of what all explainers of a study ask.

    Args:
        estimates: by explainer.
        model: completed, of a chat model.
        name: of the model and the dataset, for the first line.
    """
    total = _sum(estimates.values())
    line = f"{name}: {total.questions:,} questions to {model['address']}, "
    if total.left:
        line += (
            f"of which {total.questions - total.left:,} are answered; the others have about {total.read:,} tokens and "
            f"at most {total.written:,} in their answers"
        )
    else:
        line += "which are all answered"
    if total.left and model["prices"]:
        line += f", at most {total.cost(model['prices']):,.2f} by the prices"
    return [line, *(f"  {each.questions:>12,}  {explainer}" for explainer, each in estimates.items())]


def check_limits(estimates: Mapping[str, Estimate], model: Mapping, name: str) -> None:
    """Refuse what goes beyond the limits of a model, before anything is asked.

    Args:
        estimates: by explainer.
        model: completed, of a chat model.
        name: of the model, for the message.

    Raises:
        InputError: it does.
    """
    total, limits = _sum(estimates.values()), model["limits"]
    found = {"questions": total.left, "tokens": total.read + total.written}
    if model["prices"]:
        found["cost"] = total.cost(model["prices"])
    for key, amount in found.items():
        if limits[key] is not None and amount > limits[key]:
            what = f"{amount:,.2f}" if key == "cost" else f"{amount:,} {key}"
            raise InputError(
                f"models.{name}.limits.{key}: {what} are left to be asked, more than {limits[key]:,}; raise the limit, "
                "or ask fewer questions, draws (answers) or tokens (max_tokens)"
            )


def _sum(estimates: Collection[Estimate]) -> Estimate:
    return Estimate(*(sum(getattr(each, field.name) for each in estimates) for field in fields(Estimate)))
