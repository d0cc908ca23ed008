"""The review page: one HTML file with the sentences, their drafted forms and all it needs to work on them.

An annotator opens it in a browser, without server or network; what the browser exports in the end is described in
``config/schemas/review_export.schema.yaml``.
"""

from pathlib import Path

from jinja2 import Environment, StrictUndefined

from evenlight.core.tables import replacing
from evenlight.corpus.annotation.review_content import REASONS, content_digest

# A file of its own, unlike the smaller pages: the rule names it as its input, so that a change remakes the page.
TEMPLATE = Path(__file__).with_name("review.html")


def render(sentences: list[dict], title: str, language: str) -> str:
    """The page for ``sentences`` as :func:`review_content.review_sentences` gives them.

    ``language`` (a tag such as ``en``) tells browsers and screen readers how to read the sentences; the page itself
    is in English. All text is escaped; the sentences lie in the page as JSON in ASCII.
    """
    content = {
        "digest": content_digest(sentences),
        "language": language,
        "reasons": REASONS,
        "sentences": sentences,
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(title=title, content=content)


def write_review_page(sentences: list[dict], title: str, language: str, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(render(sentences, title, language), encoding="utf-8", newline="\n")
