"""Explanations as a notebook has them: in a line, as a table, and drawn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenlight.core.errors import InputError
from evenlight.metrics.explanations import Explanation
from evenlight.notebook.word_scores import WordScoresPage, rows_of_pages, word_scores_page

# So many are drawn where a list ends a cell, and so many words of a text stand in a line about it.
MOST_DRAWN, MOST_WORDS = 20, 8
# So many texts are named in a note.
MOST_NAMED = 3


@dataclass(frozen=True, repr=False)
class TextExplanation(Explanation):
    """An explanation that knows the names of what it is about.

    Attributes:
        text: number of the text among those that were explained together.
        class_name: of the class that was explained.
        probability: of this class.
        tokens: as the tokenizer's vocabulary has them; (tokens,).
        pairs: pairs of words with their interaction, see :class:`evenlight.explainers.attribution.Attribution`.
    """

    text: int = 0
    class_name: str = ""
    probability: float = float("nan")
    tokens: tuple[str, ...] = ()
    pairs: tuple[tuple[int, int, float], ...] = ()

    @property
    def title(self) -> str:
        """What was explained, and by which explainer."""
        return f"{self.origin.explainer}, {self.class_name} ({self.probability:.2f})"

    def __repr__(self) -> str:
        """The beginning of the text, and what was explained."""
        beginning = " ".join(self.words[:MOST_WORDS]) + " …" * (len(self.words) > MOST_WORDS)
        return f"<{self.title}: {beginning}>"

    def _repr_html_(self) -> str:
        return plot(self)


class Explanations(list[TextExplanation]):
    """Explanations of several texts, by one explainer or several; parts and sums of such lists are such lists."""

    def __add__(self, others: Iterable[Explanation]) -> "Explanations":
        """Those of both."""
        return Explanations([*self, *others])

    def __getitem__(self, place):
        """One of them, or some."""
        found = super().__getitem__(place)
        return Explanations(found) if isinstance(place, slice) else found

    def __repr__(self) -> str:
        """How many there are, and by which explainers."""
        explainers = dict.fromkeys(each.origin.explainer for each in self)
        return f"<{len(self)} explanations{' by ' if explainers else ''}{', '.join(explainers)}>"

    def _repr_html_(self) -> str:
        return plot(self[:MOST_DRAWN]) if self else repr(self)

    def to_frame(self, per: str = "token") -> pd.DataFrame:
        """A row for each token, for each word, or for each pair of words that was kept, of every text.

        Args:
            per: ``token``, whose ``word`` is missing for special tokens and those of a prompt; ``word``, which is the
                sum over its tokens; or ``pair``, of explainers with ``pairs``, the strongest first.

        Returns:
            ``text`` (its number), ``explainer``, ``class``, ``position`` in the text, ``token`` (as the vocabulary has
            it) and ``word``, or ``word`` alone, and ``score``. Of pairs ``first`` and ``second`` (words),
            ``first_position``, ``second_position`` and ``interaction``.

        Raises:
            InputError: of another ``per``.
        """
        if per not in ("token", "word", "pair"):
            raise InputError(f"per: found {per!r}; allowed are 'token', 'word' and 'pair'")
        return pd.concat([_rows(each, per) for each in self], ignore_index=True) if self else pd.DataFrame()


def _rows(explanation: TextExplanation, per: str) -> pd.DataFrame:
    columns = {"text": explanation.text, "explainer": explanation.origin.explainer, "class": explanation.class_name}
    if per == "word":
        scores = explanation.sentence.word_sums(explanation.token_score)
        return pd.DataFrame(columns | {"position": range(len(scores)), "word": explanation.words, "score": scores})
    if per == "pair":
        places = pd.DataFrame(explanation.pairs, columns=["first_position", "second_position", "interaction"])
        first, second = (places[name].map(explanation.words.__getitem__) for name in places.columns[:2])
        return pd.DataFrame(columns | {"first": first, "second": second}, index=places.index).join(places)
    words = [explanation.words[word] if word >= 0 else None for word in explanation.word_id]
    tokens = {"position": range(len(words)), "token": explanation.tokens, "word": pd.Series(words, dtype=object)}
    return pd.DataFrame(columns | tokens | {"score": explanation.token_score})


def note_on_undefined(metric: str, explanations: Sequence[Explanation], scores: np.ndarray) -> str:
    """What is said where a metric has no score of some explanations, and which of these have no word; else nothing."""
    undefined = [each for each, score in zip(explanations, scores, strict=True) if np.isnan(score)]
    if not undefined:
        return ""
    empty = list(dict.fromkeys(each.item_id for each in undefined if each.is_special.all()))
    listed = ", ".join(empty[:MOST_NAMED]) + " …" * (len(empty) > MOST_NAMED)
    why = f"; the tokenizer reads no word of {listed}" * bool(empty)
    return f"{metric} is undefined (NaN) for {len(undefined)} of {len(explanations)} explanations{why}"


def plot(
    explanations: Explanation | Iterable[Explanation], beside: Explanation | Iterable[Explanation] = ()
) -> WordScoresPage:
    """Explained texts, each word in the colour of its score, the sum over its tokens; shown by notebooks.

    Args:
        explanations: one, or several, which stand below each other.
        beside: as many others, each of which stands to the right of its neighbour: of another explainer, or of
            another form of the text.

    Raises:
        InputError: there are none, or other things, or not as many beside them.
    """
    left, right = (
        explanations_given(name, given, "plot shows")
        for name, given in (("explanations", explanations), ("beside", beside))
    )
    if not left:
        raise InputError("explanations is empty; give at least one, such as explanations[0]")
    if right and len(right) != len(left):
        raise InputError(f"beside has {len(right)} explanations for {len(left)}; give one for each")
    return rows_of_pages(
        [[_page(each) for each in row] for row in (zip(left, right, strict=True) if right else zip(left))]
    )


def explanations_given(name: str, given: Explanation | Iterable[Explanation], wants: str) -> list[Explanation]:
    """The explanations of the argument ``name``, one or several; ``wants`` says what for, such as ``plot shows``."""
    given = [given] if isinstance(given, Explanation) or not isinstance(given, Iterable) else list(given)
    for each in given:
        if not isinstance(each, Explanation):
            raise InputError(
                f"{name}: found {type(each).__name__}; {wants} what explain gives, such as explanations[0]"
            )
    return given


def _page(explanation: Explanation) -> WordScoresPage:
    title = getattr(explanation, "title", f"{explanation.origin.explainer}, class {explanation.target}")
    scores = explanation.sentence.word_sums(explanation.token_score)
    return word_scores_page(explanation.words, scores, title)
