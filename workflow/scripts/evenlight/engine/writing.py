"""Answers that a decoder writes behind prompts, in full batches, token by token.

Answers to one prompt read it once, and what all prompts begin with is read once for all. Each answer has random numbers
of its own, so that it depends on its prompt and on them, and on no other answer.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from evenlight.core.errors import InputError
from evenlight.engine.full_batches import FullBatches
from evenlight.models.decoder import Decoder, Prefix
from evenlight.models.devices import sent
from evenlight.models.language_model import DECODER, Prompt
from evenlight.texts.rows import common_prefix

# How many logits may be there at once where those of many tokens are wanted, numbers of float32.
LOGITS = 2**26
# What fills a graphics card, and what a processor keeps up with: tokens of prompts and answers that are kept at once.
TOKENS_ON_CUDA, TOKENS_ON_CPU = 65536, 8192
# Why an answer ends: by itself or at a text that it is told to stop at, or since it may have no more tokens.
STOPPED, CUT_OFF = "stop", "length"


@dataclass(frozen=True)
class Asked:
    """An answer that is wanted.

    Attributes:
        prompt: token ids, int64 (tokens,).
        chance: random numbers from 0 to 1, a token is drawn by each, float64 (at least the most tokens of an answer,);
            None takes the most probable token.
    """

    prompt: np.ndarray
    chance: np.ndarray | None = None


@dataclass(frozen=True)
class Written:
    """An answer.

    Attributes:
        token_id: what was written, without the token that ends it, (tokens,).
        text: the same in words, up to the text at which it stops.
        finish: ``stop``, or ``length`` where it was cut off.
        seconds: its share of the time that its batch took.
    """

    token_id: tuple[int, ...]
    text: str
    finish: str
    seconds: float


class Writer(FullBatches):
    """Writes answers by one decoder and one way to choose tokens.

    Args:
        decoder: the model.
        most_tokens: of an answer.
        temperature: by which logits are divided; it counts where answers have random numbers.
        top_p: of the most probable tokens so many may be drawn that their probabilities add up to this.
        stop: texts at which an answer ends; they are no part of it.
        tokens_per_batch: most tokens that are kept at once, padding included; 0 is what suits the device.
        on_answers: called with the number of answers of every batch.
    """

    def __init__(
        self,
        decoder: Decoder,
        most_tokens: int,
        temperature: float = 1.0,
        top_p: float = 1.0,
        stop: Sequence[str] = (),
        tokens_per_batch: int = 0,
        on_answers: Callable[[int], None] | None = None,
    ):
        suits = TOKENS_ON_CUDA if decoder.device.type == "cuda" else TOKENS_ON_CPU
        super().__init__(tokens_per_batch or suits, (tokens_per_batch or suits) if decoder.keeps else 0)
        self.decoder, self.most_tokens = decoder, most_tokens
        self.temperature, self.top_p, self.stop = temperature, top_p, tuple(stop)
        self.on_answers = on_answers

    def refuse_too_long(self, prompts: Sequence[np.ndarray], names: Sequence[str]) -> None:
        """Refuse prompts that leave no room for an answer.

        Raises:
            InputError: with the longest of them.
        """
        length, longest = [len(prompt) for prompt in prompts], self.decoder.longest
        most = max(length, default=0)
        if most + self.most_tokens > longest:
            raise InputError(
                f"explainers.<explainer>.max_tokens is {self.most_tokens}, and the prompt of item "
                f"{names[length.index(most)]} has {most} tokens: together more than the {longest} that the model "
                "reads; lower max_tokens, make template shorter, or leave long texts out"
            )

    @torch.inference_mode()
    def written(self, asked: Sequence[Asked]) -> list[Written]:
        """An answer to each, in their order."""
        prefix = self._prefix([each.prompt for each in asked])

        def compute(batch: np.ndarray) -> list[Written]:
            started = time.monotonic()
            rows, finish = self._written([asked[index] for index in batch], prefix)
            seconds = (time.monotonic() - started) / len(batch)
            if self.on_answers:
                self.on_answers(len(batch))
            texts = [self._text(row) for row in rows]
            return [Written(tuple(row), text, why, seconds) for row, text, why in zip(rows, texts, finish, strict=True)]

        # Equal prompts side by side, so that they share a batch.
        order = sorted(range(len(asked)), key=lambda index: (len(asked[index].prompt), asked[index].prompt.tobytes()))
        asked = [asked[index] for index in order]
        found = self.in_batches([len(each.prompt) + self.most_tokens for each in asked], compute)
        return [found[place] for place in np.argsort(order, kind="stable")]

    def _prefix(self, prompts: Sequence[np.ndarray], last: int = 1) -> Prefix | None:
        """What all prompts begin with, read once; each has ``last`` tokens behind it."""
        shortest = min(map(len, prompts), default=0)
        return self.decoder.read_prefix(common_prefix(prompts)[: max(0, shortest - last)])

    def _written(self, asked: list[Asked], prefix: Prefix | None) -> tuple[list[list[int]], list[str]]:
        """Of each answer its token ids, and why it ends."""
        decoder, rows, finish = self.decoder, [[] for _ in asked], [CUT_OFF] * len(asked)
        distinct: dict[bytes, int] = {each.prompt.tobytes(): number for number, each in enumerate(asked)}
        prompt = {name: place for place, name in enumerate(distinct)}
        kept, logits = decoder.read([asked[number].prompt for number in distinct.values()], prefix)
        of_row = sent([prompt[each.prompt.tobytes()] for each in asked], decoder.device)
        kept, logits = kept.of_rows(of_row), logits[of_row, 0]
        # Which answers go on, by number.
        open_rows = np.arange(len(asked))
        for step in range(self.most_tokens):
            token = self._chosen(logits, [asked[number] for number in open_rows], step)
            goes_on = []
            for place, (number, one) in enumerate(zip(open_rows, token.tolist(), strict=True)):
                if one in decoder.ends:
                    finish[number] = STOPPED
                    continue
                rows[number].append(one)
                if self.stop and self._stops(rows[number]):
                    finish[number] = STOPPED
                else:
                    goes_on.append(place)
            if not goes_on or step == self.most_tokens - 1:
                break
            if len(goes_on) < len(open_rows):
                chosen = sent(goes_on, decoder.device)
                open_rows, kept, token = open_rows[goes_on], kept.of_rows(chosen), token[chosen]
            kept, logits = decoder.go_on(kept, token)
        return rows, finish

    def _chosen(self, logits: torch.Tensor, asked: list[Asked], step: int) -> torch.Tensor:
        """The next token of each row, (rows,)."""
        token = logits.argmax(-1)
        drawn = [place for place, each in enumerate(asked) if each.chance is not None]
        if drawn:
            chance = sent([float(asked[place].chance[step]) for place in drawn], logits.device, torch.float64)
            places = sent(drawn, logits.device)
            token[places] = drawn_tokens(logits[places], chance, self.temperature, self.top_p)
        return token

    def _decoded(self, token_id: Sequence[int]) -> str:
        return self.decoder.tokenizer.decode(token_id, skip_special_tokens=True, clean_up_tokenization_spaces=False)

    def _stops(self, token_id: Sequence[int]) -> bool:
        text = self._decoded(token_id)
        return any(stop in text for stop in self.stop)

    def _text(self, token_id: Sequence[int]) -> str:
        text = self._decoded(token_id)
        return text[: min((text.index(stop) for stop in self.stop if stop in text), default=len(text))]

    # Label words -----------------------------------------------------------------------------------------------------

    @torch.inference_mode()
    def class_logits(
        self, prompts: Sequence[np.ndarray], label_tokens: Sequence[Sequence[tuple[int, ...]]]
    ) -> np.ndarray:
        """Of each prompt the logits of classes by their label words, float64 (prompts, classes).

        The logit of a class is log Σ p(w | prompt) over its words w, as of a model of the architecture ``prompted``
        without a prior.

        ``label_tokens`` has of each class its words, of each word its token ids.
        """
        of_class = tuple(tuple(map(tuple, words)) for words in label_tokens)
        prompt = Prompt(DECODER, of_class, -1, None, (), (0.0,) * len(of_class))
        words = np.zeros((len(prompts), len(prompt.words)))
        for given, read in prompt.passes.items():
            rows = [np.concatenate([row, np.array(given, dtype=np.int64)]) for row in prompts]
            last = len(given) + 1
            prefix = self._prefix(rows, last)

            def compute(batch: np.ndarray, rows=rows, read=read, last=last, prefix=prefix) -> tuple[torch.Tensor]:
                _, logits = self.decoder.read([rows[index] for index in batch], prefix, last)
                log_probability = logits.log_softmax(-1)
                return (torch.stack([log_probability[:, place, token] for place, token, _ in read], dim=1),)

            for row, (found,) in enumerate(self.fetched([len(row) for row in rows], compute)):
                for (_, _, number), value in zip(read, found, strict=True):
                    words[row, number] += value
        of_word = np.array([number for number, _ in prompt.words])
        return np.stack(
            [np.logaddexp.reduce(words[:, of_word == number], axis=1) for number in range(len(of_class))], 1
        )

    @torch.inference_mode()
    def log_probabilities(self, prompts: Sequence[np.ndarray], token_id: Sequence[int]) -> np.ndarray:
        """Of each prompt the logarithm of the probability of every token of one answer, given those before it.

        The answer has one or more tokens.

        Returns:
            float64 (prompts, tokens).
        """
        last, device = len(token_id), self.decoder.device
        wanted = sent(list(token_id), device)[None, :, None]
        rows = [np.concatenate([row, np.array(token_id[:-1], dtype=np.int64)]) for row in prompts]
        prefix, found = self._prefix(rows, last), []
        several = max(1, LOGITS // (last * self.decoder.network.config.get_text_config().vocab_size))
        for start in range(0, len(rows), several):
            some = rows[start : start + several]

            def compute(batch: np.ndarray, some=some) -> tuple[torch.Tensor]:
                _, logits = self.decoder.read([some[index] for index in batch], prefix, last)
                return (logits.log_softmax(-1).gather(-1, wanted.expand(len(batch), -1, -1))[..., 0],)

            found += [value for (value,) in self.fetched([len(row) for row in some], compute)]
        return np.array(found, dtype=float)


def drawn_tokens(logits: torch.Tensor, chance: torch.Tensor, temperature: float, top_p: float) -> torch.Tensor:
    """Tokens (rows,) drawn by random numbers from 0 to 1 (rows,), from logits (rows, vocabulary).

    A number finds the token in whose part of the summed probabilities it lies, in the order of the vocabulary. With
    ``top_p`` below 1 only the most probable tokens count, up to the first with which their probabilities reach it
    (Holtzman et al. 2020).
    """
    probability = (logits.double() / temperature).softmax(-1)
    if top_p < 1:
        ordered, order = probability.sort(dim=-1, descending=True, stable=True)
        is_beyond = ordered.cumsum(-1) - ordered >= top_p
        probability = torch.zeros_like(probability).scatter(-1, order, ordered.masked_fill(is_beyond, 0))
    total = probability.cumsum(-1)
    found = torch.searchsorted(total, chance[:, None] * total[:, -1:], right=True)
    # The last token that has a part, where rounding goes beyond it.
    return torch.minimum(found, torch.searchsorted(total, total[:, -1:].contiguous()))[:, 0]
