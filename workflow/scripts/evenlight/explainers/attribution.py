"""What an explainer gives back, and the file that holds it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from evenlight.core.contracts.explanations import ATTRIBUTIONS
from evenlight.core.errors import InputError
from evenlight.texts.predictions import Sentence


@dataclass(frozen=True)
class Attribution:
    """The explanation of one sentence.

    Attributes:
        token_score: signed score of each token, special ones included, not normalised; float64 (tokens,).
        forward_rows: rows that went through the model for it, those shared with other explainers included.
        completeness_gap: sum of scores minus the difference that the method says they add up to, where it
            says so.
    """

    token_score: np.ndarray
    forward_rows: int
    completeness_gap: float | None = field(default=None)


@dataclass(frozen=True)
class Remark:
    """What a reader of the scores must know.

    An attribution file is computed in groups of items, and remarks on them are added up by :func:`note_of`.

    Attributes:
        text: one sentence, the same for every group. In a text with counts ``{name}`` is a count,
            ``{share[name]}`` its share of the sum of all counts, and ``{items}`` the number of items.
        counts: numbers that add up over groups.
    """

    text: str
    counts: dict[str, float] = field(default_factory=dict)


def note_of(groups: Iterable[tuple[Iterable[Remark], int]]) -> str:
    """One text of the remarks on groups of items, given with the number of items in each.

    A remark without counts that some groups do not have says of how many items it holds.

    >>> rare = Remark("{missed:.0f} of {items} items missed the bound", {"missed": 2})
    >>> note_of([([rare], 10), ([rare, Remark("no ReLU here")], 10)])
    '4 of 20 items missed the bound; no ReLU here (10 of 20 items)'
    """
    groups = list(groups)
    items = sum(size for _, size in groups)
    counts: dict[str, Counter] = {}
    holds: Counter = Counter()
    for remarks, size in groups:
        for remark in remarks:
            counts.setdefault(remark.text, Counter()).update(remark.counts)
            holds[remark.text] += size
    said = []
    for text, numbers in counts.items():
        if numbers:
            total = sum(numbers.values()) or 1.0
            share = {name: number / total for name, number in numbers.items()}
            said.append(text.format(items=items, share=share, **numbers))
        else:
            said.append(text if holds[text] == items else f"{text} ({holds[text]} of {items} items)")
    return "; ".join(said)


def attribution_table(sentences: Sequence[Sentence], attributions: Sequence[Attribution]) -> pa.Table:
    """One row per sentence, in the contract ``attributions``.

    Raises:
        InputError: a score is not a finite number, from which every metric would make a number that is.
    """
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
        }
        for sentence, attribution in zip(sentences, attributions, strict=True)
    ]
    return pa.Table.from_pylist(rows, schema=ATTRIBUTIONS.schema)
