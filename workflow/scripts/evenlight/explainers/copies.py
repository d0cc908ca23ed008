"""Draws that are copies: answers of a store, a cache or a gateway in the place of new ones.

Draws of one question are the measure of chance only where each is an answer of its own. Copies show in two ways. At a
temperature above 0 hardly any question has two different draws. Draws of neighbouring numbers, or those beside the
first, are more alike than others, which no order can make of independent draws. Copies in any
order, of which some differ, cannot be told from a model that is sure.
"""

import numpy as np
import pandas as pd

# Fewer questions with two draws tell nothing.
LEAST_QUESTIONS = 10
# Where at most so many questions, or pairs of answers, differ, all are said to be the same.
HARDLY_ANY = 0.02
ORDERED = ("draws repeat the one before them", "draws repeat the first one")
# For each of the two orders so often would independent draws be taken for copies.
LEVEL = 0.025
# Orders of the draws of each question to which theirs is held.
ORDERS = 399
# Answers of so many words are seldom written twice by chance.
LONG_ANSWER = 8


def why_copies(draws: np.ndarray) -> str | None:
    """Why draws are taken for copies of each other; None where nothing speaks for it.

    Args:
        draws: what was answered by number, float (…, draws, questions) in the order of asking, NaN where there is none.

    >>> coin = np.random.default_rng(0).integers(0, 2, (5, 40)).astype(float)
    >>> why_copies(coin), why_copies(np.repeat(coin[:1], 5, axis=0))
    (None, 'all draws of a question are the same')
    """
    draws = np.moveaxis(draws, -2, 0).reshape(draws.shape[-2], draws[..., 0, :].size if draws.size else 0)
    known = ~np.isnan(draws)
    several = known.sum(axis=0) > 1
    draws = draws[:, several]
    if draws.shape[1] < LEAST_QUESTIONS:
        return None
    differs = np.nanmax(draws, axis=0) != np.nanmin(draws, axis=0)
    if differs.mean() <= HARDLY_ANY:
        return "all draws of a question are the same"
    varied = draws[:, differs]
    for of_first, why in zip((False, True), ORDERED, strict=True):
        if _more_alike(varied, of_first):
            return why
    return None


def _more_alike(draws: np.ndarray, of_first: bool) -> bool:
    """Whether draws are more often like the one before, or the first, than in other orders; (draws, questions).

    Of independent draws every order is as likely, whatever the model does. Where one number's are less often alike, it
    is what draws of a number have in common, as a day, that makes those of others alike.
    """
    if draws.shape[1] < LEAST_QUESTIONS:
        return False
    random = np.random.default_rng(0)
    order = np.argsort(np.isnan(draws), axis=0, kind="stable")
    real = _alike(np.take_along_axis(draws, order, axis=0), of_first)
    others = []
    for _ in range(ORDERS):
        order = np.argsort(random.random(draws.shape) + np.isnan(draws), axis=0)
        others.append(_alike(np.take_along_axis(draws, order, axis=0), of_first))
    by_chance = np.array(others)
    is_more = (1 + (by_chance.sum(axis=1) >= real.sum() - 1e-9).sum()) / (1 + ORDERS) <= LEVEL
    spread = np.maximum(by_chance.std(axis=0), 1e-12)
    return bool(is_more and ((real - by_chance.mean(axis=0)) / spread).min() > -3)


def _alike(draws: np.ndarray, of_first: bool) -> np.ndarray:
    """How often draws of each number are like the one before, or the first, (numbers,); questions weigh the same."""
    alike = draws[1:] == (draws[:1] if of_first else draws[:-1])
    return (alike / (~np.isnan(draws[1:])).sum(axis=0)).sum(axis=1)


def why_answers_are_copies(answers: pd.DataFrame) -> str | None:
    """The same of a table of answers (contract ``answers``), by texts and decisions; None at a temperature of 0."""
    answers = _drawn(answers)
    said = answers.groupby(["text", "decision"], dropna=False, sort=False).ngroup().astype(float)
    draws = answers.assign(said=said).pivot(index="draw", columns="item_id", values="said").sort_index()
    return why_copies(draws.to_numpy())


def is_repeated(answers: pd.DataFrame) -> np.ndarray:
    """Which answers repeat one of an earlier draw of their question word for word, so that they count once, bool.

    None where their order does not speak for copies, since models write some long answers twice. Nor where all draws
    are the same, of which nothing would be left. Short answers are often alike by chance.
    """
    if why_answers_are_copies(answers) not in ORDERED:
        return np.zeros(len(answers), dtype=bool)
    drawn = _drawn(answers)
    repeated = drawn.sort_values("draw", kind="stable").duplicated(["item_id", "text"])
    long = drawn["text"].str.split().str.len() >= LONG_ANSWER
    return (repeated & long).reindex(answers.index, fill_value=False).to_numpy()


def notes_on_copies(answers: pd.DataFrame) -> list[str]:
    """What a reader of the scores must know of draws that are copies, none where nothing speaks for it."""
    why, repeated = why_answers_are_copies(answers), int(is_repeated(answers).sum())
    notes = []
    if why:
        notes.append(
            f"draws look like copies of each other ({why}), so that changes of decision are not decidable; switch off "
            "caches before the model, or name the column 'temperature' where it was 0"
        )
    if repeated:
        notes.append(
            f"of {len(answers):,} answers {repeated:,} repeat an earlier one to their question word for word, and "
            "count once in changes of decision"
        )
    return notes


def _drawn(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers that were drawn; of which the temperature is not known are taken for it."""
    return answers[~(answers["temperature"] == 0)]
