"""A language model behind an address, asked by the chat API that most servers speak: each question once.

The shape of requests and answers is that of OpenAI's ``/v1/chat/completions``, as vLLM, llama.cpp, Ollama and others
serve it.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenlight.models.architectures.chat import AskingForAnswers, Chat
from evenlight.models.services.asking import Limit, ask_each
from evenlight.models.services.client import Client
from evenlight.models.services.shapes import ADDRESS, UnusableAnswer, prefix
from evenlight.models.services.store import Replies

# Settings of a model that say whose answers they are.
IDENTITY = ("address", "called", "version")
# Of how many tokens from the beginning the probabilities are kept, and of each those of how many others are asked for;
# no service gives more.
POSITIONS, ALTERNATIVES = 16, 20
# Why an answer ended, where a filter took it away or let no question pass.
WITHHELD = "content_filter"


def kept_replies(model: Chat, folder: str | Path) -> Replies:
    """The answers of a model that were given before."""
    return Replies(folder, {"chat": [getattr(model, name) for name in IDENTITY]})


def request_of(
    messages: Sequence[Mapping],
    model: Chat,
    seed: int,
    max_tokens: int,
    temperature: float | None = None,
    stop: Sequence[str] = (),
    with_probabilities: bool = False,
) -> dict:
    """All that is asked in one request: ``body`` and ``seed``, by which draws differ where no server takes it."""
    body = {"model": model.called, "messages": list(messages), model.tokens_field: max_tokens}
    if temperature is not None:
        body["temperature"] = temperature
    if stop:
        body["stop"] = list(stop)
    if with_probabilities:
        body |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
    if model.seed_field:
        body[model.seed_field] = seed
    return {"body": body | model.extra, "seed": seed}


def reply_of(answer: Any, seconds: float, with_probabilities: bool = False) -> dict:
    """What is kept of an answer, JSON values.

    Returns:
        ``text``, which may be empty; ``finish``, why it ended, ``model``, as the service calls it, ``read`` and
        ``written``, its numbers of tokens, each None where nothing says so; ``seconds``; ``positions``, of the first
        tokens each with its ``token`` and ``top``, logarithms of probabilities by token.

    Raises:
        UnusableAnswer: it has no message.
    """
    kept = {"text": "", "finish": WITHHELD, "model": None, "read": None, "written": None, "seconds": seconds}
    kept["positions"] = []
    if _is_withheld(answer):
        return kept
    choice = next(iter(_at(answer, "choices", list) or []), None)
    message = _at(choice, "message", dict)
    if message is None:
        said = f"it gives no message (choices[0].message): {prefix(answer)}"
        raise UnusableAnswer(said, f"look whether {ADDRESS} speaks the chat API")
    text = _text_of(message)
    if with_probabilities and text:
        kept["positions"] = _positions(_at(_at(choice, "logprobs", dict), "content", list), answer)
    usage = _at(answer, "usage", dict)
    return kept | {
        "text": text,
        "finish": _at(choice, "finish_reason", str),
        "model": _at(answer, "model", str),
        "read": _at(usage, "prompt_tokens", int),
        "written": _at(usage, "completion_tokens", int),
    }


def _at(value: Any, key: str, kind: type) -> Any:
    """What an object has under a key, if it is of this kind."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, kind) else None


def _text_of(message: dict) -> str:
    """The words of a message, a refusal among them; of a message in parts those that are text."""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(_at(part, "text", str) or "" for part in content)
    if content is not None and not isinstance(content, str):
        raise UnusableAnswer(f"the content of its message is no text: {prefix(content)}")
    # Half of a pair of UTF-16, which JSON may have, is no character that a table could hold.
    whole = (content or _at(message, "refusal", str) or "").encode("utf-16", "surrogatepass")
    return whole.decode("utf-16", "replace")


def _positions(content: list | None, answer: Any) -> list[dict]:
    """The first tokens, each with the logarithms of the probabilities of what could stand there."""
    found = []
    for entry in (content or [])[:POSITIONS]:
        listed = [entry, *(_at(entry, "top_logprobs", list) or [])]
        top = {_at(each, "token", str): _logarithm(each) for each in reversed(listed)}
        if None in top or None in top.values():
            break
        found.append({"token": entry["token"], "top": top})
    if not found:
        raise UnusableAnswer(
            f"it gives no probabilities of tokens (logprobs), by which the decision was to be found: {prefix(answer)}",
            "ask for a pattern or a field (explainers.<explainer>.decision)",
        )
    return found


def _logarithm(entry: Any) -> float | None:
    """The logarithm of a token's probability; None where it is none."""
    value = entry.get("logprob") if isinstance(entry, dict) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) and value <= 1e-6 else None


def _is_withheld(answer: Any) -> bool:
    """Whether a filter of the service has refused the question, as Azure's does."""
    error = _at(answer, "error", dict)
    return error is not None and WITHHELD in (error.get("code"), error.get("type"))


def _is_answer(status: int, content: bytes) -> bool:
    """Whether a failure says that a filter withheld the answer: refusing is an answer, too."""
    try:
        return status == 400 and _is_withheld(json.loads(content))
    except (ValueError, RecursionError):
        return False


class CachedChat:
    """Answers requests, those that were answered before without asking.

    Args:
        model: who is asked.
        folder: of the answers of all services.
        policy: how it is asked.
        on_answers: called after every answer that was asked for.

    Attributes:
        asked: requests that it answered, those that were kept not counted.
    """

    def __init__(
        self,
        model: Chat,
        folder: str | Path,
        policy: AskingForAnswers,
        on_answers: Callable[[], None] | None = None,
    ):
        self.store = kept_replies(model, folder)
        before = Limit(self.store, policy.requests_per_minute).wait
        self.client = Client(model.address, policy, model.plain_http, before, _is_answer)
        self.asked, self.on_answers = 0, on_answers

    def replies(self, requests: Sequence[Mapping]) -> list[dict]:
        """The reply to each request, see :func:`reply_of`.

        Raises:
            InputError: it does not answer, or says nothing that can be used; answers until then are kept.
        """
        if len(self.store.known(requests)) < len(requests):
            with self.store.alone():
                # Another job may have asked meanwhile.
                known = self.store.known(requests)
                left = [request for place, request in enumerate(requests) if place not in known]
                # One alone shows what is wrong before others are on their way.
                for some in (left[:1], left[1:]):
                    ask_each(self.client, iter(some), self._ask, self._keep)
        known = self.store.known(requests)
        return [known[place] for place in range(len(requests))]

    def _ask(self, request: Mapping) -> dict:
        asked = request["body"]

        def read(answer: Any, seconds: float) -> dict:
            return reply_of(answer, seconds, asked.get("logprobs", False))

        return self.client.ask(asked, read)

    def _keep(self, request: Mapping, reply: dict) -> None:
        self.store.keep(request, reply)
        self.asked += 1
        if self.on_answers:
            self.on_answers()
