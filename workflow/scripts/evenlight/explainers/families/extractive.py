"""Extractive reasons: the words of a text that a model quotes as important become scores of its tokens.

A table (CSV, JSON Lines, JSON, Parquet) has an answer in each row: the item, and a list of words or phrases, or a text
in which they stand in quotation marks. A word scores the share of the answers that name it, 0 where none does.

A phrase is found from the beginning of a word to the end of one, see :func:`evenlight.texts.matching.places_of`; every
place counts. What is not found is counted, as it is no explanation of this text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import regex
from pydantic import Field, model_validator

from evenlight.core.errors import InputError, present
from evenlight.explainers.attribution import Attribution, Remark
from evenlight.explainers.base import Context, Explainer, Explanations
from evenlight.explainers.families.imported import aligned
from evenlight.explainers.fields import FileOfRun, column
from evenlight.settings import Text, refusal
from evenlight.texts.matching import phrases_of, places_of

if TYPE_CHECKING:
    from evenlight.texts.predictions import Sentence

REMEDY = "correct the table, or the columns that the explainer names"
# Pairs of quotation marks; single ones only around a phrase, since they are apostrophes, too.
_QUOTED = regex.compile(
    r'"([^"\n]+)"|“([^”\n]+)[”“]|”([^”\n]+)”|„([^“”"\n]+)[“”"]|«([^»\n]+)»|»([^«\n]+)«|‹([^›\n]+)›|`([^`\n]+)`'
    r"|「([^」\n]+)」|『([^』\n]+)』|《([^》\n]+)》|＂([^＂\n]+)＂|‚([^‘’\n]+)[‘’]"
    r"|(?<!\w)'([^'\n]+)'(?!\w)|(?<!\w)‘([^’\n]+)’(?!\w)"
)


class Extractive(Explainer):
    """The words of a text that a language model quotes as its reasons, read from a table with an answer in each row.

    A word scores the share of the answers that name it. What is not in the text is counted.
    """

    title: ClassVar[str] = "Quoted words"
    needs_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False
    draws: ClassVar[bool | None] = None
    external: ClassVar[bool] = True

    method: Literal["extractive"]
    file: FileOfRun = Field(
        description=(
            "Path of a table (.csv, .jsonl, .json or .parquet). `{dataset}`, `{model}` and `{seed}` in it stand for "
            "the names of the run."
        )
    )
    item: Text = Field(description="Column with the `item_id` of the text. A text may have several answers.")
    words: Text | None = column(
        "a list of words or phrases of the text: a list, one in JSON, or phrases with commas between them."
    )
    text: Text | None = column("an answer in words, in which phrases of the text stand in quotation marks.")

    @model_validator(mode="after")
    def _names_one_column(self) -> Self:
        if (self.words is None) == (self.text is None):
            raise refusal((("words",), "exactly one of words and text must name a column, by which words are found"))
        return self

    def rows(self, sentence: Sentence) -> float:
        """None."""
        return 0

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """The words that the answers of the table name, for the texts that the study explains.

        Raises:
            InputError: a text has no answer.
        """
        import numpy as np

        path, columns = Path(self.file), (self.item, self.words, self.text)
        quotes = context.once((path, *columns), partial(read_quotes, path, *columns))
        attributions, counts = [], []
        for sentence in sentences:
            answers = quotes.get(sentence.item_id)
            if answers is None:
                raise InputError(
                    f"{path}: no answer to item '{sentence.item_id}' ({' '.join(sentence.words)}); every text that the "
                    "study explains needs one"
                )
            named = [[_named(phrase, sentence.words) for phrase in phrases] for phrases in answers]
            counts.append(_counted(named))
            score = np.zeros(len(sentence.words))
            for of_answer in named:
                score[sorted(set().union(*of_answer))] += 1 / len(answers)
            row = {"words": list(sentence.words), "scores": score.tolist()}
            attributions.append(Attribution(aligned(sentence, row, path), forward_rows=0))
        return Explanations(attributions, list(_remarks(counts)))


def quoted_in(text: str) -> list[str]:
    """The phrases that stand in quotation marks, in their order.

    >>> quoted_in("I say “kind”, since 'very good' and \\"good\\" don't sound like it's bad.")
    ['kind', 'very good', 'good']
    """
    return ["".join(found) for found in _QUOTED.findall(text)]


def read_quotes(path: Path, item: str, words: str | None, text: str | None) -> dict[str, list[list[str]]]:
    """The phrases of each answer to each item, from the columns of a table.

    Raises:
        InputError: the table cannot be read, or a row has no item, or no list.
    """
    from evenlight.texts.table_rows import is_empty, name_of, named_rows

    quotes: dict[str, list[list[str]]] = {}
    column = present(words or text)
    for location, row in named_rows(path, [item, column], REMEDY):
        if is_empty(row[item]):
            raise InputError(f"{location}: field '{item}' (item) is empty; {REMEDY}")
        said = row[column]
        if isinstance(said, str) and text is not None:
            phrases = quoted_in(said)
        else:
            phrases = [] if said is None else _listed(said, column, location)
        quotes.setdefault(name_of(row[item]), []).append(phrases)
    return quotes


def _listed(said: object, column: str, location: str) -> list[str]:
    """A list of phrases as a cell has it: a list, one in JSON, or phrases with commas between them."""
    if isinstance(said, str):
        try:
            said = json.loads(said) if said.lstrip().startswith("[") else phrases_of(said)
        except ValueError:
            said = None
    if isinstance(said, float) and math.isnan(said):
        return []
    if not isinstance(said, list) or not all(isinstance(phrase, str) for phrase in said):
        raise InputError(
            f'{location}: field \'{column}\' is no list of words; write ["one", "two words"], or one, two words'
        )
    return [phrase for phrase in said if phrase.strip()]


def _named(phrase: str, words: Sequence[str]) -> set[int]:
    return {place for run in places_of(phrase, words) for place in run}


def _counted(named: Sequence[Sequence[set[int]]]) -> tuple[int, int, int]:
    """How many phrases there are, how many of them are not in the text, and whether none is; of one text."""
    found = [bool(places) for of_answer in named for places in of_answer]
    return len(found), len(found) - sum(found), not any(found)


def _remarks(counts: Sequence[tuple[int, int, int]]) -> Iterable[Remark]:
    """What a reader of the scores must know: what was named and is not there."""
    every, missed, without = map(list, zip(*counts, strict=True))
    yield Remark("{missed:.0f} of {every:.0f} quoted phrases are not in their text", {"missed": missed, "every": every})
    if any(without):
        yield Remark(
            "{without:.0f} of {items} items have no quoted word, so that all scores are 0", {"without": without}
        )
