"""Answers in words that a language model behind an address gives when it is asked about the questions of a dataset.

Each answer is a request of its own, with a seed of its own, and is kept: another study, or a run that goes on, asks
only what was not asked before.
"""

import json
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
from evenlight.explainers.families.from_api import FromApi
from evenlight.explainers.follow_ups import follow_ups, followed
from evenlight.models.architectures.chat import Chat, Prices
from evenlight.models.services.chat import CachedChat, request_of
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
    questions: Sequence[Question], method: FromApi, model: Chat, seed: int, explainer: str = "<explainer>"
) -> list[Draw]:
    """All answers that an explainer asks for, the first ones to all questions before the second ones.

    Args:
        questions: of the test split.
        method: the explainer.
        model: which is asked.
        seed: of the study.
        explainer: name of the entry, for messages.
    """
    asked = []
    for question in questions:
        messages = messages_of(question, method.template, method.system, explainer)
        asked.append((question.item_id, messages, digest_of(messages)))
    return [
        Draw(item_id, draw, prompt, _request(messages, method, model, seed_of(seed, item_id, draw)))
        for draw in range(method.answers)
        for item_id, messages, prompt in asked
    ]


def _request(messages: Sequence[Mapping], method: FromApi, model: Chat, seed: int) -> dict:
    asks_probabilities = bool(method.label_words)
    return request_of(messages, model, seed, method.max_tokens, method.temperature, method.stop, asks_probabilities)


def ask(
    questions: Sequence[Question],
    method: FromApi,
    model: Chat,
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
    replies = chat.replies([draw.request for draw in draws])
    rows = [_row(draw, reply, method, model, explainer) for draw, reply in zip(draws, replies, strict=True)]
    table = pd.DataFrame(rows, columns=ANSWERS.schema.names)
    table = table.sort_values(["item_id", "draw"], kind="stable", ignore_index=True)
    looked_at = f"explainers.{explainer}.decision" if method.decision else None
    notes = notes_of(table, {question.item_id for question in questions}, looked_at)
    called = table["model"].value_counts(sort=False)
    if len(called) > 1:
        told = ", ".join(f"{count:,} of {name}" for name, count in called.items())
        notes.append(f"the service answered by several models: {told}")
    return table, notes


def _row(draw: Draw, reply: Mapping, method: FromApi, model: Chat, explainer: str) -> dict:
    """A reply as a row of the contract ``answers``."""
    text, decision = decided(reply["text"], method.decision, explainer)
    if method.label_words:
        positions = [Position(**position) for position in reply["positions"]]
        decision = most_probable(label_probabilities(positions, method.label_words))
    return (
        {"item_id": draw.item_id, "draw": draw.draw, "decision": decision, "text": text, "prompt": draw.prompt}
        | {"model": reply["model"] or model.called, "temperature": method.temperature}
        | {"seed": draw.request["seed"] if model.seed_field else None, "tokens": reply["written"]}
        | {"seconds": reply["seconds"], "finish": reply["finish"]}
    )


def ask_follow_ups(
    answers: pd.DataFrame,
    questions: Sequence[Question],
    abouts: Collection[str],
    method: FromApi,
    model: Chat,
    seed: int,
    chat: CachedChat,
    explainer: str = "<explainer>",
) -> pd.DataFrame:
    """The answers of a model to the questions that follow from its answers, in the contract ``FOLLOW_UPS``.

    Args:
        answers: of the model, in the contract ``answers``.
        abouts: which questions follow, see :data:`evenlight.explainers.follow_ups.ASKED`.
        questions, method, model, seed, chat, explainer: as :func:`ask` takes them.

    Raises:
        InputError: the service gives no usable answer, or a pattern takes too long.
    """

    def answer(some: Sequence[Question], method: FromApi) -> pd.DataFrame:
        draws = draws_of(some, method.changed(answers=1), model, seed, explainer)
        replies = chat.replies([draw.request for draw in draws])
        rows = [_row(draw, reply, method, model, explainer) for draw, reply in zip(draws, replies, strict=True)]
        return pd.DataFrame(rows, columns=ANSWERS.schema.names)

    return follow_ups(followed(answers, questions, method), abouts, method, seed, answer)


@dataclass(frozen=True)
class Estimate:
    """What an explainer will ask of a model.

    Attributes:
        questions: all of them, without those that another explainer asks before it.
        shared: those that another one asks before it.
        left: those that were not asked before.
        read: tokens that the model reads in these, about.
        written: tokens that it writes at most.
    """

    questions: int
    shared: int
    left: int
    read: int
    written: int

    def cost(self, prices: Prices) -> float:
        """What is left to pay at most."""
        return (self.read * prices.read + self.written * prices.written) / PRICED


def estimate(draws: Mapping[str, Sequence[Draw]], store: Replies, max_tokens: Mapping[str, int]) -> dict[str, Estimate]:
    """What is left to be asked, by explainer; a prompt is taken to have a token for each 4 characters.

    A request that several explainers share is asked once, so that it counts with the first of them alone.

    Args:
        draws: of each explainer.
        store: with what was asked before.
        max_tokens: of an answer, by explainer.
    """
    counted: set[str] = set()
    estimates = {}
    for explainer, asked in draws.items():
        requests = {json.dumps(draw.request, sort_keys=True): draw.request for draw in asked}
        new = [request for key, request in requests.items() if key not in counted]
        counted |= requests.keys()
        known = store.known(new)
        left = [request["body"]["messages"] for place, request in enumerate(new) if place not in known]
        characters = sum(len(message["content"]) for messages in left for message in messages)
        written = len(left) * max_tokens[explainer]
        estimates[explainer] = Estimate(
            len(new), len(asked) - len(new), len(left), -(-characters // CHARACTERS), written
        )
    return estimates


def draws_of_follow_ups(
    questions: Sequence[Question],
    abouts: Collection[str],
    method: FromApi,
    model: Chat,
    seed: int,
    store: Replies,
    explainer: str = "<explainer>",
) -> list[Draw]:
    """The questions that follow from answers, those to come included, as :func:`estimate` counts them.

    An answer that is not there is taken to decide, and an edit of a text to be as long as the text.
    """
    of_item = {question.item_id: question for question in questions}
    decision = method.decisions[0]
    found: list[Draw] = []

    def rows_of(draws: Sequence[Draw], texts: Sequence[str], method: FromApi) -> pd.DataFrame:
        known = store.known([draw.request for draw in draws])
        unknown: dict = {"model": None, "written": 0, "seconds": 0.0, "finish": None, "positions": []}
        rows = [
            _row(draw, known[place], method, model, explainer)
            if place in known
            else _row(draw, {"text": text} | unknown, method.changed(decision=None), model, explainer)
            | {"decision": decision}
            for place, (draw, text) in enumerate(zip(draws, texts, strict=True))
        ]
        return pd.DataFrame(rows, columns=ANSWERS.schema.names)

    def answer(some: Sequence[Question], method: FromApi) -> pd.DataFrame:
        draws = draws_of(some, method.changed(answers=1), model, seed, explainer)
        found.extend(draws)
        # A follow-up question has the name of its own question, the draw and the step.
        texts = [of_item[question.item_id.rsplit("/", 2)[0]].fields["text"] for question in some]
        return rows_of(draws, texts, method)

    draws = draws_of(questions, method, model, seed, explainer)
    answers = rows_of(draws, [of_item[draw.item_id].fields["text"] for draw in draws], method)
    follow_ups(followed(answers, questions, method), abouts, method, seed, answer)
    return found


def told(estimates: Mapping[str, Estimate], model: Chat, name: str) -> list[str]:
    """The lines of an estimate of what all explainers of a study ask.

    Args:
        estimates: by explainer.
        model: which is asked.
        name: of the model and the dataset, for the first line.
    """
    total = _sum(estimates.values())
    line = f"{name}: {total.questions:,} questions to {model.address}, "
    if total.left:
        line += (
            f"of which {total.questions - total.left:,} are answered; the others have about {total.read:,} tokens and "
            f"at most {total.written:,} in their answers"
        )
    else:
        line += "which are all answered"
    if total.left and model.prices:
        line += f", at most {total.cost(model.prices):,.2f} by the prices"
    lines = [f"  {each.questions:>12,}  {explainer}" for explainer, each in estimates.items()]
    shared = [f", and {each.shared:,} that are counted above" if each.shared else "" for each in estimates.values()]
    return [line, *map("".join, zip(lines, shared, strict=True))]


def check_limits(estimates: Mapping[str, Estimate], model: Chat, name: str) -> None:
    """Refuse what goes beyond the limits of a model, before anything is asked.

    Args:
        estimates: by explainer.
        model: which is asked.
        name: of the model, for the message.

    Raises:
        InputError: it does.
    """
    total, limits = _sum(estimates.values()), model.limits
    found: dict[str, float] = {"questions": total.left, "tokens": total.read + total.written}
    if model.prices:
        found["cost"] = total.cost(model.prices)
    for key, amount in found.items():
        limit = getattr(limits, key)
        if limit is not None and amount > limit:
            what = f"{amount:,.2f}" if key == "cost" else f"{amount:,} {key}"
            raise InputError(
                f"models.{name}.limits.{key}: {what} are left to be asked, more than {limit:,}; raise the limit, "
                "or ask fewer questions, draws (answers) or tokens (max_tokens)"
            )


def _sum(estimates: Collection[Estimate]) -> Estimate:
    return Estimate(*(sum(getattr(each, field.name) for each in estimates) for field in fields(Estimate)))
