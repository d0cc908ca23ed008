"""Texts that are longer than a network reads, in windows of whole words.

The windows of a text overlap, each has the special tokens of the whole text around its words, and positions begin again
in each. The logits of the text are the mean of those of its windows. A mean of logits is linear: gradients, paths and
relevance go through it as through any layer, and scores add up to what they add up to in a text of one window. Scores
that are linear in the logits, such as sums of gradients of a logit or of a contrast, are the mean over all windows of
the score in each, 0 where the token is not read: a token in two of three windows counts in both, as it does for the
logits. Sizes of gradients (``l1``, ``l2``) and the output ``probability`` are not linear: they are taken of the mean
logits. The probabilities are the geometric mean of the windows', brought to sum to 1 (the logarithmic opinion pool;
Genest & Zidek 1986). Sun et al. 2019 ("How to fine-tune BERT for text classification?") take means over the parts of a
long text, too, of what the last layer makes of each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from evenlight.core.errors import InputError
from evenlight.models.devices import sent
from evenlight.texts.rows import FIRST, MOST_WINDOWS, PADDING, windows_of

# Of a mark, those that say in which windows a token is read.
WINDOW_BITS = 2**PADDING - 2**FIRST
# Of places between tokens, which are shares of a text.
ROUNDING = 1e-9


def windows_of_text(word_id: np.ndarray, most: int, overlap: int, part: Sequence[int] | None = None) -> np.ndarray:
    """In which windows each token of a text is read: the first and the last of them, int64 (tokens, 2).

    The windows begin and end between words, none has more than ``most`` tokens, special ones included, and neighbours
    have at least ``overlap`` tokens in common. They are the fewest of which that is true, and of about one length.
    Special tokens, and those of a prompt, are in all.

    Args:
        word_id: the word of each token, negative for special ones and those of a prompt; (tokens,).
        most: tokens that the network reads.
        overlap: in tokens.
        part: of each word of a text of two parts, of which the longer is divided and the other is in all windows.

    Raises:
        InputError: there are no such windows, since a word is too long, or what is in all windows leaves no room.
    """
    is_special = word_id < 0
    if part is not None:
        of_token = np.append(part, -1)[np.maximum(word_id, -1)]
        shorter = int((of_token == 1).sum() <= (of_token == 0).sum())
        is_special = is_special | (of_token == shorter)
    words = word_id[~is_special]
    # Between which of them a window may begin or end.
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(words)) + 1, [len(words)]])
    room = most - int(is_special.sum())
    if room < len(words) and room <= overlap:
        raise InputError(
            f"of the {most} tokens of a window, {most - room} are for what stands in each (special tokens, the "
            f"template of a prompt, the shorter part of two), which leaves {max(0, room)}, and {overlap} of them would "
            "be those of the window before; raise models.<model>.max_tokens, lower overlap, shorten the template or "
            "the part, or set long_items to 'drop'"
        )
    starts, ends = _spans(bounds, room, overlap)
    token = np.arange(len(words))
    result = np.zeros((len(word_id), 2), dtype=np.int64)
    result[is_special, 1] = len(starts) - 1
    result[~is_special, 0] = np.searchsorted(ends, token, side="right")
    result[~is_special, 1] = np.searchsorted(starts, token, side="right") - 1
    return result


def _spans(bounds: np.ndarray, room: int, overlap: int) -> tuple[np.ndarray, np.ndarray]:
    """The first tokens of windows and those behind their last; ``room`` is for all tokens, or for more than overlap."""
    tokens = bounds[-1]
    if tokens <= room:
        return bounds[:1], bounds[-1:]

    def before(place: float) -> int:
        """The last bound that is not behind a place."""
        return int(bounds[np.searchsorted(bounds, max(place, 0) + ROUNDING, side="right") - 1])

    def behind(place: float) -> int:
        """The first bound that is not before it."""
        return int(bounds[np.searchsorted(bounds, max(place, 0) - ROUNDING)])

    # Windows that end as late as they can are the fewest.
    latest = [before(room)]
    while latest[-1] < tokens:
        latest.append(before(before(latest[-1] - overlap) + room))
        if latest[-1] <= latest[-2] or len(latest) > MOST_WINDOWS:
            raise InputError(
                f"its {tokens} tokens cannot be divided between words into windows that have {room} tokens and "
                f"{overlap} in common; raise models.<model>.max_tokens, lower overlap, or set long_items to 'drop'"
            )
    number = len(latest)
    # So early may each begin and end, if those behind it are to reach the end of the text.
    earliest = [(behind(tokens - room), tokens)]
    while len(earliest) < number:
        end = behind(earliest[0][0] + overlap)
        earliest.insert(0, (behind(end - room), end))
    # Windows of one length would begin and end there; these do between words, on the outer side where there is room.
    length = (tokens + (number - 1) * overlap) / number
    starts, ends = [], []
    for window, (first, last) in enumerate(earliest):
        start = window * (length - overlap)
        starts.append(min(max(before(start), first), before(ends[-1] - overlap) if ends else 0))
        ends.append(min(max(behind(start + length), last), before(starts[-1] + room)))
    return np.array(starts), np.array(ends)


@dataclass(frozen=True)
class Windows:
    """Windows of some texts, as rows for the network.

    Attributes:
        weight: what each window counts for the logits of each text, (texts, windows); 0 for those of others.
        text: the text of each window, (windows,).
        column: the place in the row of its text of each token of a window, −1 for padding; (windows, longest).
        mask: 0 for padding, else that of the token without its windows; (windows, longest), in main memory.
    """

    weight: torch.Tensor
    text: torch.Tensor
    column: torch.Tensor
    mask: torch.Tensor

    def on(self, device: torch.device) -> "Windows":
        """The same, for values on ``device``."""
        return replace(self, **{name: sent(getattr(self, name), device) for name in ("weight", "text", "column")})

    def taken(self, values: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        """What of the texts' values (texts, tokens, …) each window has, (windows, longest, …).

        ``padding`` (…) stands where it has nothing.
        """
        rows = torch.cat([values.flatten(0, 1), padding[None]])
        place = torch.where(self.column < 0, len(rows) - 1, self.text[:, None] * values.shape[1] + self.column)
        return rows[place]

    def joined(self, logits: torch.Tensor) -> torch.Tensor:
        """Logits (texts, classes) of those of windows, (windows, classes)."""
        return self.weight.to(logits) @ logits

    def joined_scores(self, score: torch.Tensor, tokens: int) -> torch.Tensor:
        """Scores of the tokens of texts, (texts, ``tokens``), of those in windows, (windows, longest)."""
        inside = self.column >= 0
        # Padding counts as nothing at the first token, since to leave it out a device would have to be asked for it.
        share = torch.where(inside, self.weight.sum(0)[:, None] * score, 0)
        texts = score.new_zeros(len(self.weight), tokens)
        window = self.text[:, None].expand_as(self.column)
        return texts.index_put((window, self.column.clamp(min=0)), share.to(texts), accumulate=True)


def are_marked(mask: torch.Tensor) -> bool:
    """Whether a mask (rows, tokens) says more of any token than that it is there."""
    return bool(mask.numel()) and int(mask.max()) > 1


def are_windowed(mask: torch.Tensor) -> bool:
    """Whether any row of a mask (rows, tokens) is a text in windows."""
    return are_marked(mask) and bool((((mask - 1).clamp(min=0) & WINDOW_BITS) > 0).any())


def split(mask: torch.Tensor, places: Callable[[Sequence[int]], np.ndarray], equal_lengths: bool) -> list[Windows]:
    """The windows of some texts, in the order of the texts.

    Args:
        mask: one more than each token's mark, 0 for padding; (texts, tokens).
        places: lengths to where rows stand in a batch and padding does not, ``ModelInputs.places``.
        equal_lengths: whether windows that go through the network together must be of one length.

    Returns:
        Those that go through the network together; the logits of a text are the sum of what :meth:`Windows.joined`
        says of each.
    """
    first, last = windows_of((mask - 1).clamp(min=0))
    number = torch.arange(int(last.max()) + 1, device=mask.device)[:, None]
    reads = (mask > 0)[:, None] & (first[:, None] <= number) & (number <= last[:, None])
    # A window that lost all of its tokens, special ones included, counts no more.
    is_there = reads.any(-1)
    text, _ = is_there.nonzero(as_tuple=True)
    reads = reads[is_there]
    weight = torch.zeros(len(mask), len(text), dtype=torch.float64, device=mask.device)
    weight[text, torch.arange(len(text), device=mask.device)] = 1 / is_there.sum(1)[text].double()
    lengths = reads.sum(1)
    chosen = [lengths == length for length in lengths.unique()] if equal_lengths else [lengths > 0]
    return [_of(mask, text[some], reads[some], weight[:, some], places) for some in chosen]


def _of(mask: torch.Tensor, text: torch.Tensor, reads: torch.Tensor, weight: torch.Tensor, places) -> Windows:
    inside = torch.from_numpy(places(reads.sum(1).tolist())).to(mask.device)
    column = torch.full(inside.shape, -1, device=mask.device)
    column[inside] = reads.nonzero()[:, 1]
    of_text = (mask[text] - 1 & ~WINDOW_BITS) + 1
    return Windows(weight, text, column, torch.where(inside, of_text.gather(1, column.clamp(min=0)), 0))
