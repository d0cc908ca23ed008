"""What an explainer gives back, and the file that holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evenlight.core.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from evenlight.texts.predictions import Sentence


@dataclass(frozen=True)
class Attribution:
    """The explanation of one sentence.

    Attributes:
        token_score: signed score of each token, special ones included, not normalised; float64 (tokens,).
        forward_rows: rows that went through the model for it, those shared with other explainers included.
        completeness_gap: sum of scores minus the difference that the method says they add up to, where it
            says so.
        pairs: pairs of words with their interaction, the strongest first, as (first word, second word, interaction);
            empty where the explainer tells none.
        fit_miss: by how much a function that was fitted to the model's answers misses one of them at most, as a share
            of the largest; 0 where none is fitted.
    """

    token_score: np.ndarray
    forward_rows: int
    completeness_gap: float | None = field(default=None)
    pairs: tuple[tuple[int, int, float], ...] = ()
    fit_miss: float = 0.0


@dataclass(frozen=True)
class Remark:
    """What a reader of the scores must know.

    An attribution file keeps with each item what is said of it, and :func:`note_of` adds it up.

    Attributes:
        text: one sentence, the same whatever the items are that are explained together: a file may have been made in
            groups, at different times. In a text with counts ``{name}`` is a count, ``{share[name]}`` its share of the
            sum of all counts, and ``{items}`` the number of items.
        counts: numbers that add up over items, one for each item, (items,).
    """

    text: str
    counts: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def holds(self, item: int) -> bool:
        """Whether it says anything of an item: not where it counts none, but where it tells shares."""
        return not self.counts or "{share[" in self.text or any(numbers[item] for numbers in self.counts.values())

    def on(self, item: int) -> dict:
        """What is said of one item, as an attribution file keeps it."""
        counts = [{"name": name, "number": float(numbers[item])} for name, numbers in self.counts.items()]
        return {"text": self.text, "counts": counts}


def remarks_on_items(remarks: Iterable[Remark], items: int) -> list[list[dict]]:
    """What remarks on a group of items say of each."""
    remarks = list(remarks)
    return [[remark.on(item) for remark in remarks if remark.holds(item)] for item in range(items)]


def note_of(on_items: Iterable[Sequence[Mapping]]) -> str:
    """One text of what is said of each item, see :meth:`Remark.on`.

    A remark without counts that is not on all items says of how many it holds.

    >>> rare = Remark("{missed:.0f} of {items} items missed the bound", {"missed": [1, 0, 1]})
    >>> note_of(remarks_on_items([rare], 3) + remarks_on_items([Remark("no ReLU here")], 1))
    '2 of 4 items missed the bound; no ReLU here (1 of 4 items)'
    """
    items = 0
    counts: dict[str, Counter] = {}
    holds: Counter = Counter()
    for said_of_item in on_items:
        items += 1
        for remark in said_of_item:
            numbers = {each["name"]: each["number"] for each in remark["counts"]}
            counts.setdefault(remark["text"], Counter()).update(numbers)
            holds[remark["text"]] += 1
    said = []
    for text, numbers in counts.items():
        if numbers:
            total = sum(numbers.values()) or 1.0
            share = {name: number / total for name, number in numbers.items()}
            said.append(text.format(items=items, share=share, **numbers))
        else:
            said.append(text if holds[text] == items else f"{text} ({holds[text]} of {items} items)")
    return "; ".join(said)


def attribution_table(
    sentences: Sequence[Sentence],
    attributions: Sequence[Attribution],
    remarks: Iterable[Remark] = (),
    explained_again: Mapping[str, Mapping] | None = None,
) -> pa.Table:
    """One row per sentence, in the contract ``attributions``.

    Args:
        sentences: what was explained.
        attributions: of each.
        remarks: on them.
        explained_again: how other draws agree, by the ``item_id`` of those that were explained twice.

    Raises:
        InputError: a score is not a finite number, from which every metric would make a number that is.
    """
    import numpy as np
    import pyarrow as pa

    from evenlight.core.contracts.explanations import ATTRIBUTIONS, PAIR

    for sentence, attribution in zip(sentences, attributions, strict=True):
        if not np.isfinite(attribution.token_score).all():
            raise InputError(
                f"a score of item {sentence.item_id} is not a finite number; the model's outputs are too large, train "
                "it with a lower trainings.<training>.learning_rate"
            )
    rows = [
        {
            "item_id": sentence.item_id,
            "token_score": attribution.token_score.tolist(),
            "completeness_gap": attribution.completeness_gap,
            "forward_rows": attribution.forward_rows,
            "pairs": [dict(zip(PAIR, pair, strict=True)) for pair in attribution.pairs] or None,
            "remarks": said,
            "explained_again": (explained_again or {}).get(sentence.item_id),
        }
        for sentence, attribution, said in zip(
            sentences, attributions, remarks_on_items(remarks, len(sentences)), strict=True
        )
    ]
    return pa.Table.from_pylist(rows, schema=ATTRIBUTIONS.schema)
