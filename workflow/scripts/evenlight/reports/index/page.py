"""The page of a study as one HTML file that needs no server and no network, and its words as JSON and Markdown."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from evenlight.core.kinds import SCORES
from evenlight.core.tables import replacing
from evenlight.reports.html_table import templates
from evenlight.reports.index.charts import charts, scripts
from evenlight.reports.index.content import Content
from evenlight.reports.index.document import CLAIM, percentage, ratio
from evenlight.reports.index.store import Store
from evenlight.reports.questions import READ

HERE = Path(__file__).parent
# What Markdown or HTML would take for markup.
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")
# Of these the page names the version that wrote it.
LIBRARIES = ("evenlight", "numpy", "pandas", "scipy", "pyarrow")


def render(content: Content, store: Store) -> str:
    """The page of :func:`evenlight.reports.index.content.study_content`.

    No text of the data is markup in it: the tree is JSON in ASCII, arrays are compressed, and only those scripts run
    whose digests the page names.
    """
    code = [_inside_a_script(text) for text in (scripts(), _file("page.js"))]
    parts = [(kind, base64.b64encode(zlib.compress(part, 9)).decode("ascii")) for kind, part in store.parts]
    environment = templates(HERE, autoescape=True)
    # Names stand in the order in which they are offered.
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    return environment.get_template("page.html").render(
        told=content.told,
        tree=content.tree | {"charts": charts(len(content.tree["explainers"]))},
        sections=_sections(content),
        parts=parts,
        style=_file("page.css"),
        scripts=code,
        digests=[base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") for text in code],
        libraries=[f"{name} {_version(name)}" for name in LIBRARIES],
        read=READ[1],
        claim=CLAIM,
        percentage=percentage,
        ratio=ratio,
        percent=lambda share, of=1: f"{share / of:.1%}" if of else "–",
    )


def _sections(content: Content) -> list[tuple[str, str]]:
    """The sections that the page has, by the place of their heading."""
    told = content.told
    sections = {
        "answer": ("Answer", True),
        "questions": ("Every question", True),
        "since": ("Since the last audit", told["since"]),
        "texts": ("Units" if SCORES in content.tree["modalities"] else "Texts", True),
        "decisions": ("Decisions", told["decisions"] or told["decision_rates"]),
        "sure": ("How sure is it?", told["error"]),
        "untested": ("Not tested", told["not_tested"]),
        "notes": ("Notes", told["notes"]),
        "audit": ("This audit", told["frame"]),
        "evidence": ("Evidence", told["evidence"]),
    }
    return [(f"{place}-title", name) for place, (name, there) in sections.items() if there]


def card(told: Mapping) -> str:
    """The words of the page as a section of a model card, in Markdown; names of the study are no markup in it.

    No text of the data stands there.
    """
    return templates(HERE, autoescape=False).get_template("card.md").render(**told, plain=plain, claim=CLAIM)


def plain(text: str) -> str:
    r"""A text in which Markdown finds no markup.

    >>> plain("a_b | <i>")
    'a\\_b \\| \\<i\\>'
    """
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def write_page(content: Content, store: Store, html: str | Path, as_json: Path | None, markdown: Path | None) -> None:
    """Write the page and, where they are named, its words as JSON and as Markdown, each whole or not at all."""
    made = {
        html: lambda: render(content, store),
        as_json: lambda: json.dumps(content.told, indent=1) + "\n",
        markdown: lambda: card(content.told),
    }
    for path, text in made.items():
        if path is not None:
            with replacing(path) as temporary:
                temporary.write_text(text(), encoding="utf-8", newline="\n")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "of this folder"


def _file(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _inside_a_script(text: str) -> str:
    """The text of a script, which must not end its element, nor begin one that hides its end."""
    assert "</script" not in text.lower(), "a script of the page holds what would end it"
    assert "<!--" not in text, "a script of the page holds a comment of HTML"
    return text
