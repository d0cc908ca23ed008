"""The review page: one HTML file with the sentences, their drafted forms and all it needs to work on them.

An annotator opens it in a browser, without server or network; what the browser exports in the end is described in
``config/schemas/review_export.schema.yaml``.
"""

import hashlib
import json
from collections import defaultdict
from pathlib import Path

from evenlight.core.contracts.corpus import CANDIDATES, DRAFTS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_arrow, replacing
from evenlight.corpus.annotation import GROUPS, SCOPES

FORMS = tuple((scope, group) for scope in SCOPES for group in GROUPS)  # in the order in which they are shown

# Offered to annotators, who may write others.
REASONS = (
    "not about the plot",
    "broken or incomplete sentence",
    "heading, quotation or citation",
    "subject is no person",
    "subject or verb wrongly found",
    "makes no sense in another gender",
    "the same as another sentence",
)


def review_sentences(candidates: str | Path, drafts: str | Path) -> list[dict]:
    """The sentences to review, in the order of the table of candidates.

    Each has ``sentence_id``, ``words``, ``glued`` (the words, from 0, with no space before them), ``root`` (a word),
    ``subject`` (words, the head first) and ``forms``, each with ``scope``, ``group``, ``words`` and ``ground_truth``,
    one per word of the source; an empty word says that nothing stands there. Raises InputError where the tables are of
    different sentences.
    """
    forms: dict[str, list[dict]] = defaultdict(list)
    for form in read_arrow(drafts, DRAFTS).to_pylist():
        forms[form.pop("sentence_id")].append(form)
    columns = CANDIDATES.only("sentence_id", "text", "words", "root", "subject")
    rows = read_arrow(candidates, columns).to_pylist()
    if not rows:
        raise InputError(f"{candidates}: no sentence to review; give more pages, or filter less")
    if different := {row["sentence_id"] for row in rows} ^ forms.keys():
        raise InputError(
            f"{drafts}: sentence '{min(different)}' is only there, or only in {candidates}; delete the file and run "
            f"the workflow again, rule {DRAFTS.rule} makes it"
        )
    return [
        {
            "sentence_id": row["sentence_id"],
            "words": row["words"],
            "glued": _glued(row["text"], row["words"]),
            "root": row["root"],
            "subject": row["subject"],
            "forms": sorted(forms[row["sentence_id"]], key=lambda form: FORMS.index((form["scope"], form["group"]))),
        }
        for row in rows
    ]


def content_digest(sentences: list[dict]) -> str:
    """SHA-256 (hexadecimal) of what is reviewed; equal for everybody who reviews the same sentences and drafts."""
    text = json.dumps(sentences, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _glued(text: str, words: list[str]) -> list[int]:
    """The words that stand in ``text`` without a space before them; none where the words are not those of the text."""
    glued, position = [], 0
    for index, word in enumerate(words):
        start = text.find(word, position)
        if start < 0 or text[position:start].strip():
            return []
        if index and start == position:
            glued.append(index)
        position = start + len(word)
    return glued


# A file of its own, unlike the smaller pages: the rule names it as its input, so that a change remakes the page.
TEMPLATE = Path(__file__).with_name("review.html")


def render(sentences: list[dict], title: str, language: str) -> str:
    """The page for ``sentences`` as :func:`review_sentences` gives them.

    ``language`` (a tag such as ``en``) tells browsers and screen readers how to read the sentences; the page itself
    is in English. All text is escaped; the sentences lie in the page as JSON in ASCII.
    """
    from jinja2 import Environment, StrictUndefined

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
