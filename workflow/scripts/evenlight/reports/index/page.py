"""The page of a study as one HTML file that needs no server and no network."""

import base64
import hashlib
import zlib
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from evenlight.core.tables import replacing
from evenlight.reports.index.charts import charts, scripts
from evenlight.reports.index.store import Store

HERE = Path(__file__).parent


def render(content: dict, store: Store) -> str:
    """The page of :func:`evenlight.reports.index.content.study_content`.

    No text of the data is markup in it: the tree is JSON in ASCII, arrays are compressed, and only those scripts run
    whose digests the page names.
    """
    code = [_inside_a_script(text) for text in (scripts(), _file("page.js"))]
    parts = [(kind, base64.b64encode(zlib.compress(part, 9)).decode("ascii")) for kind, part in store.parts]
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    # Names stand in the order in which they are offered.
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    return environment.from_string(_file("page.html")).render(
        content=content | {"charts": charts(len(content["explainers"]))},
        parts=parts,
        style=_file("page.css"),
        scripts=code,
        digests=[base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") for text in code],
    )


def write_page(content: dict, store: Store, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(render(content, store), encoding="utf-8", newline="\n")


def _file(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _inside_a_script(text: str) -> str:
    """The text of a script, which must not end its element, nor begin one that hides its end."""
    assert "</script" not in text.lower(), "a script of the page holds what would end it"
    assert "<!--" not in text, "a script of the page holds a comment of HTML"
    return text
