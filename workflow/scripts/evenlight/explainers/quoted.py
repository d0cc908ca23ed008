"""Extractive reasons: the words of a text that a model quotes as important become scores of its tokens.

A table (CSV, JSON Lines, JSON, Parquet) has an answer in each row: the item, and a list of words or phrases, or a text
in which they stand in quotation marks. A word scores the share of the answers that name it, 0 where none does.

A phrase is found from the beginning of a word to the end of one, see :func:`evenlight.texts.matching.places_of`; every
place counts. What is not found is counted, as it is no explanation of this text.
"""

import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import regex

from evenlight.core.errors import InputError
from evenlight.datasets.rows import is_empty, name_of, named_rows
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution, Remark
from evenlight.explainers.imported import aligned
from evenlight.texts.matching import phrases_of, places_of
from evenlight.texts.predictions import Sentence

REMEDY = "correct the table, or the columns that the explainer names"
# Pairs of quotation marks; single ones only around a phrase, since they are apostrophes, too.
_QUOTED = regex.compile(
    r'"([^"\n]+)"|“([^”\n]+)[”“]|”([^”\n]+)”|„([^“”"\n]+)[“”"]|«([^»\n]+)»|»([^«\n]+)«|‹([^›\n]+)›|`([^`\n]+)`'
    r"|「([^」\n]+)」|『([^』\n]+)』|《([^》\n]+)》|＂([^＂\n]+)＂|‚([^‘’\n]+)[‘’]"
    r"|(?<!\w)'([^'\n]+)'(?!\w)|(?<!\w)‘([^’\n]+)’(?!\w)"
)


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
    quotes: dict[str, list[list[str]]] = {}
    column = words or text
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
    if isinstance(said, float) and np.isnan(said):
        return []
    if not isinstance(said, list) or not all(isinstance(phrase, str) for phrase in said):
        raise InputError(
            f'{location}: field \'{column}\' is no list of words; write ["one", "two words"], or one, two words'
        )
    return [phrase for phrase in said if phrase.strip()]


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """The words that the answers of each method's table name, for the texts that the study explains.

    Raises:
        InputError: a text has no answer.
    """
    explanations = {}
    for name, settings in methods.items():
        path, columns = Path(settings["file"]), [settings[key] for key in ("item", "words", "text")]
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
        explanations[name] = Explanations(attributions, list(_remarks(counts)))
    return explanations


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
