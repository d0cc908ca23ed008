"""One explained text as a piece of HTML: every word in the colour of its score, with the number above it."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from evenlight.core.tables import replacing
from evenlight.reports.text import signed

# Light enough for black letters; orange and blue are told apart with any colour vision, and the number has the sign.
FOR = (86, 180, 233)
AGAINST = (230, 159, 0)


WHOLE = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ max-width: 70rem; margin: 1rem auto; padding: 0 1rem; background: #ffffff; color: #1b1f24;
       font-family: system-ui, sans-serif; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.25rem; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{content}
</main>
</body>
</html>
"""


class WordScoresPage(str):
    """HTML that a notebook shows, a part of its page; :meth:`write` makes a page of its own."""

    def _repr_html_(self) -> str:
        return str(self)

    def write(self, path: str | Path, title: str = "Explained texts", language: str = "en") -> None:
        """Write it as a whole page, for any browser and any screen.

        Args:
            path: of the file.
            title: of the page.
            language: of title and texts, as HTML names it.
        """
        whole = WHOLE.format(title=escape(title), language=escape(language), content=self)
        with replacing(path) as temporary:
            Path(temporary).write_text(whole, encoding="utf-8")


def word_scores_page(words: Sequence[str], scores: np.ndarray, title: str) -> WordScoresPage:
    """The words of a text, the colour as strong as the score: blue speaks for the explained class, orange against it.

    Args:
        words: of the text.
        scores: signed, one per word; divided here by the largest absolute one.
        title: stands above the text.

    >>> print(word_scores_page(["She", "sails"], np.array([0.5, 0.0]), "lime, female"))
    <figure style="margin: 0.5em 0"><figcaption>lime, female</figcaption><p style="line-height: 2.6"><ruby \
style="background: rgb(86 180 233 / 1.00); padding: 0.15em; white-space: nowrap">She<rt>1.00</rt></ruby> <ruby \
style="background: rgb(86 180 233 / 0.00); padding: 0.15em; white-space: nowrap">sails<rt>0.00</rt></ruby></p></figure>
    """
    largest = np.abs(scores).max(initial=0.0)
    shares = scores / largest if largest > 0 else np.zeros(len(words))
    marked = " ".join(_marked(word, share) for word, share in zip(words, shares, strict=True))
    return WordScoresPage(
        f'<figure style="margin: 0.5em 0"><figcaption>{escape(title)}</figcaption>'
        f'<p style="line-height: 2.6">{marked}</p></figure>'
    )


def rows_of_pages(rows: Sequence[Sequence[WordScoresPage]]) -> WordScoresPage:
    """Texts below each other, those of a row side by side where the screen is wide enough; one alone as it is.

    >>> print(rows_of_pages([["a", "b"]]))
    <div style="display: flex; flex-wrap: wrap; gap: 0 2em"><div style="flex: 1 1 20em">a</div>\
<div style="flex: 1 1 20em">b</div></div>
    """
    return WordScoresPage("".join(row[0] if len(row) == 1 else _side_by_side(row) for row in rows))


def _side_by_side(pages: Sequence[WordScoresPage]) -> str:
    columns = "".join(f'<div style="flex: 1 1 20em">{page}</div>' for page in pages)
    return f'<div style="display: flex; flex-wrap: wrap; gap: 0 2em">{columns}</div>'


def _marked(word: str, share: float) -> str:
    red, green, blue = FOR if share >= 0 else AGAINST
    return (
        f'<ruby style="background: rgb({red} {green} {blue} / {abs(share):.2f}); padding: 0.15em; white-space: nowrap">'
        f"{escape(word)}<rt>{signed(share)}</rt></ruby>"
    )
