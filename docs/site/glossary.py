"""Links from the first place of each term on a page to its line in the glossary, with the meaning at the pointer."""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx.addnodes import desc_signature

PAGE = "docs/glossary"
ROW = re.compile(r'^\| <a id="(?P<anchor>[^"]*)"></a>\*\*(?P<names>.+?)\*\*.*? \| (?P<meaning>.*?) \|', re.MULTILINE)

# The pages have these words in their everyday sense, too.
EVERYDAY = """
as often, cell, proposed method, concept, contract, effect, exploratory, factor, family, for these trained models, item,
metric, note, predictions, primary, undecided, unit
"""

# Where a link would stand in another, or change what is quoted.
CLOSED = (nodes.reference, nodes.literal, nodes.title, nodes.math, nodes.raw, desc_signature)


class Term(NamedTuple):
    """A term of the glossary."""

    anchor: str
    meaning: str


def terms(text: str) -> dict[str, Term]:
    """The terms that have one meaning everywhere, by their names in small letters."""
    named = [(name.casefold(), row) for row in ROW.finditer(text) for name in row["names"].split(", ")]
    count = Counter(name for name, _ in named)
    everyday = set(re.split(r",\s", EVERYDAY.strip()))
    plain = str.maketrans("", "", "*`")
    return {
        name: Term(row["anchor"], row["meaning"].translate(plain))
        for name, row in named
        if count[name] == 1 and name not in everyday
    }


def note_anchors(app, doctree: nodes.document) -> None:
    """Let other pages link to what has an anchor in HTML."""
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for raw in doctree.findall(nodes.raw):
        for anchor in re.findall(r'<a id="([^"]*)">', raw.astext()):
            slugs.setdefault(anchor, (raw.line, anchor, anchor))


def link_terms(app, doctree: nodes.document, docname: str) -> None:
    """Make the first place of each term on a page a link."""
    if docname == PAGE:
        return
    left = terms((Path(app.srcdir) / f"{PAGE}.md").read_text(encoding="utf-8"))
    if not left:
        return
    names = "|".join(re.escape(name) for name in sorted(left, key=len, reverse=True))
    term = re.compile(rf"\b({names})(?:s|es)?\b", re.IGNORECASE)
    page = app.builder.get_relative_uri(docname, PAGE)
    for text in [text for paragraph in doctree.findall(nodes.paragraph) for text in paragraph.findall(nodes.Text)]:
        if not any(isinstance(parent, CLOSED) for parent in parents(text)):
            text.parent.replace(text, list(linked(text.astext(), term, left, page)))


def parents(node: nodes.Node):
    """What a node stands in, from the inside."""
    while node := node.parent:
        yield node


def linked(text: str, term: re.Pattern, left: dict[str, Term], page: str):
    """The text in parts, with a link where a term stands that is left; it is left no more."""
    end = 0
    for match in term.finditer(text):
        if found := left.pop(match[1].casefold(), None):
            yield nodes.Text(text[end : match.start()])
            uri = f"{page}#{found.anchor}"
            yield nodes.reference("", match[0], refuri=uri, internal=True, classes=["term"], reftitle=found.meaning)
            end = match.end()
    yield nodes.Text(text[end:])


def setup(app) -> dict:
    """What Sphinx calls."""
    app.connect("doctree-read", note_anchors)
    app.connect("doctree-resolved", link_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
