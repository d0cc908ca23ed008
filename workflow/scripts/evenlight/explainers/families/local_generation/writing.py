"""Answers in words that a decoder writes here, each from its question and a random generator of its own."""

import time
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from evenlight.core.contracts.explanations import ANSWERS, FOLLOW_UPS, KEPT_NAMES
from evenlight.core.seeds import generator_for
from evenlight.engine.writing import Asked, Writer, Written
from evenlight.explainers.answering import (
    Question,
    decided,
    digest_of,
    messages_of,
    most_probable,
    seed_of,
)
from evenlight.explainers.contributions import log_odds, shares, word_contributions
from evenlight.explainers.families.local_generation import LocalGeneration
from evenlight.explainers.follow_ups import ASKED, CONTRIBUTIONS, Followed, as_table, follow_ups
from evenlight.models.decoder import Decoder
from evenlight.texts.matching import begins_with, is_begun

# A question and the number of an answer to it.
Draw = tuple[Question, int]


class Generator:
    """Writes answers to questions as one explainer asks for them.

    Args:
        decoder: the model.
        entry: the explainer.
        seed: of the study.
        model: its name.
        **flags: of :class:`evenlight.engine.writing.Writer`.
    """

    def __init__(self, decoder: Decoder, entry: LocalGeneration, seed: int, model: str, **flags):
        self.entry, self.seed, self.model, self.flags = entry, seed, model, flags
        self.writer = Writer(decoder, entry.max_tokens, entry.temperature, entry.top_p, entry.stop, **flags)

    def prompts(self, questions: Sequence[Question]) -> list[np.ndarray]:
        """Token ids of what the model reads of each question, int64 (tokens,).

        Raises:
            InputError: a prompt leaves no room for an answer, or cannot be made.
        """
        rows = self.writer.decoder.rows(self._rendered(questions))
        self.writer.refuse_too_long(rows, [question.item_id for question in questions])
        return rows

    def _rendered(self, questions: Sequence[Question]) -> list[str]:
        return self.writer.decoder.rendered(
            [messages_of(question, self.entry.template, self.entry.system) for question in questions]
        )

    def probabilities(self, questions: Sequence[Question]) -> list[dict[str, float]]:
        """The probability of each decision among all, by the label words with which the answer to a question begins."""
        rendered = self._rendered(questions)
        decoder, words = self.writer.decoder, self.entry.label_words
        tokens = [[decoder.label_tokens(rendered, word) for word in its] for its in words.values()]
        logits = self.writer.class_logits(decoder.rows(rendered), tokens)
        share = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
        return [dict(zip(words, row, strict=True)) for row in share.tolist()]

    def answers(self, draws: Sequence[Draw]) -> pa.Table:
        """The answers that some draws ask for, in their order (contract ``answers``, without what rows are made of)."""
        questions = list({question.item_id: question for question, _ in draws}.values())
        prompts = dict(zip([each.item_id for each in questions], self.prompts(questions), strict=True))
        decisions = {}
        if self.entry.label_words:
            found = map(most_probable, self.probabilities(questions))
            decisions = dict(zip(prompts, found, strict=True))
        written = self.writer.written([Asked(prompts[each.item_id], self._chance(each, draw)) for each, draw in draws])
        rows = [
            self._row(question, draw, answer, decisions.get(question.item_id))
            for (question, draw), answer in zip(draws, written, strict=True)
        ]
        fields = [field for field in ANSWERS.schema if field.name not in KEPT_NAMES]
        return pa.Table.from_pylist(rows, pa.schema(fields))

    def follow_ups(self, those: Sequence[Followed], abouts: Collection[str]) -> pa.Table:
        """What the model says to the questions that follow from answers, without what rows are made of.

        See :func:`evenlight.explainers.follow_ups.follow_ups`.
        """

        def answer(questions: Sequence[Question], entry: LocalGeneration) -> pd.DataFrame:
            writing = Generator(self.writer.decoder, entry, self.seed, self.model, **self.flags)
            return writing.answers([(question, 0) for question in questions]).to_pandas()

        table = follow_ups(those, [about for about in abouts if about in ASKED], self.entry, self.seed, answer)
        if CONTRIBUTIONS in abouts:
            table = as_table([*table.to_dict("records"), *map(self._contributions, those)])
        fields = [field for field in FOLLOW_UPS.schema if field.name not in KEPT_NAMES]
        return pa.Table.from_pandas(table, pa.schema(fields), preserve_index=False)

    def _contributions(self, each: Followed) -> dict:
        """What each word of the text adds to the decision of an answer, and to the reason behind it."""
        started = time.monotonic()
        token_id, begins = self._reason(each)

        def values(texts: Sequence[str]) -> np.ndarray:
            questions = [
                Question(f"{each.question.item_id}/{number}", {**each.question.fields, "text": text})
                for number, text in enumerate(texts)
            ]
            decided = np.log([[share[each.decision]] for share in self.probabilities(questions)])
            if begins == len(token_id):
                return log_odds(decided)
            written = self.writer.log_probabilities(self.prompts(questions), token_id)
            return log_odds(np.concatenate([decided, written[:, begins:]], axis=1))

        generator = generator_for("contributions", seed_of(self.seed, each.question.item_id, each.draw))
        orders = self.entry.follow_ups.orders
        found = word_contributions(each.question.fields["text"], orders, generator, values)
        return {
            "item_id": each.question.item_id,
            "draw": each.draw,
            "about": CONTRIBUTIONS,
            "expected": [],
            "text": "",
            "model": self.model,
            "seconds": time.monotonic() - started,
            "of_decision": shares(found[:, :1]).tolist(),
            "of_reason": shares(found[:, 1:]).tolist() if begins < len(token_id) else None,
        }

    def _reason(self, each: Followed) -> tuple[list[int], int]:
        """The tokens of an answer, and at which of them the reason begins: behind the word that says the decision."""
        tokenizer = self.writer.decoder.tokenizer
        token_id = tokenizer(each.text, add_special_tokens=False, verbose=False)["input_ids"]
        prefixes = [
            str(tokenizer.decode(token_id[:count], clean_up_tokenization_spaces=False)).strip()
            for count in range(1, len(token_id) + 1)
        ]
        whole = prefixes[-1] if prefixes else ""
        # A drawn answer may begin with another decision than the most probable one.
        every = [word for words in self.entry.label_words.values() for word in words]
        for words in (self.entry.label_words[each.decision], every):
            begun = [word for word in words if begins_with(whole, word)]
            for count, said in enumerate(prefixes, start=1):
                if any(is_begun(said, word) for word in begun):
                    return token_id, count
        return token_id, 0

    def _chance(self, question: Question, draw: int) -> np.ndarray | None:
        """Random numbers of one answer, one for each token; None where the most probable one is written."""
        if not self.entry.temperature:
            return None
        return generator_for("generated", seed_of(self.seed, question.item_id, draw)).random(self.writer.most_tokens)

    def _row(self, question: Question, draw: int, answer: Written, by_words: str | None) -> dict:
        text, decision = decided(answer.text, self.entry.decision)
        return {
            "item_id": question.item_id,
            "draw": draw,
            "decision": by_words if self.entry.label_words else decision,
            "text": text,
            "model": self.model,
            "prompt": digest_of(messages_of(question, self.entry.template, self.entry.system)),
            "temperature": self.entry.temperature,
            "seed": seed_of(self.seed, question.item_id, draw) if self.entry.temperature else None,
            "tokens": len(answer.token_id),
            "seconds": answer.seconds,
            "finish": answer.finish,
        }
