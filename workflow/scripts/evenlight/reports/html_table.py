"""Self-contained HTML pages of tables with two levels of headers on both sides."""

from dataclasses import dataclass, field
from pathlib import Path

from evenlight.core.tables import replacing

INK = "#1a1a1a"


@dataclass(frozen=True)
class Cell:
    """One cell: its text, what a pointer on it tells, its background colour, and whether it stands out."""

    text: str
    title: str = ""
    background: str | None = None
    bold: bool = False


@dataclass(frozen=True)
class Table:
    """A table: columns in labelled groups, rows in labelled groups; ``corner`` names the two columns of row headers, or
    the one of rows where their groups have no label.

    ``columns``: (group, its columns) each; ``rows``: (group, (row, cells) each) each, with one cell per column.
    """

    caption: str
    corner: tuple[str, ...]
    columns: list[tuple[str, list[str]]]
    rows: list[tuple[str, list[tuple[str, list[Cell]]]]]


@dataclass(frozen=True)
class Page:
    """A page: a title, what must be read first, an introduction, a legend (example cell, meaning), tables and notes.

    The introduction has the question, the answer and how to read a cell, in at most 60 words; ``details`` has the rest,
    as (a question of a reader, its answer).
    """

    title: str
    introduction: str
    tables: list[Table]
    legend: list[tuple[Cell, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    details: list[tuple[str, str]] = field(default_factory=list)

    @property
    def said(self) -> str:
        """All words of the introduction and of the details."""
        return " ".join([self.introduction, *(words for detail in self.details for words in detail)])


TEMPLATE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ page.title }}</title>
<style>
:root { color-scheme: light; }
body { margin: 2rem; background: #ffffff; color: {{ ink }};
       font: 16px/1.45 system-ui, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.5rem; }
p, ul, dl, details { max-width: 48rem; }
.warning { padding: 0.6rem 0.8rem; border-left: 0.4rem solid #b3261e; background: #fdecea; }
.scroll { overflow-x: auto; margin: 2rem 0; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.5rem; }
th, td { padding: 0.25rem 0.6rem; border: 1px solid #d0d0d0; }
th { text-align: left; font-weight: 600; background: #f4f4f4; }
td { text-align: center; white-space: nowrap; }
thead th { text-align: center; vertical-align: bottom; }
tbody { border-top: 2px solid #707070; }
tbody th { white-space: nowrap; }
tbody th[scope=rowgroup] { vertical-align: top; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.35rem 0.8rem; }
dt { padding: 0 0.5rem; min-width: 2.5rem; text-align: center; border: 1px solid #d0d0d0; }
dd { margin: 0; }
summary { padding: 0.25rem 0; font-weight: 600; cursor: pointer; }
details p { margin: 0.25rem 0 0.75rem 1rem; }
td, dt { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
@media (max-width: 30rem) {
  body { margin: 1rem; }
  tbody th { white-space: normal; }
}
@media print {
  body { margin: 0; }
  .scroll { overflow: visible; }
  details > * { display: block; }
  /* A rule of its own: a browser that does not know the selector leaves out the whole rule. */
  details::details-content { content-visibility: visible; }
}
</style>
</head>
<body>
<main>
<h1>{{ page.title }}</h1>
{%- for warning in page.warnings %}
<p class="warning"><strong>Read this first.</strong> {{ warning }}</p>
{%- endfor %}
<p>{{ page.introduction }}</p>
{%- macro content(cell) -%}
{% if cell.bold %}<strong>{{ cell.text }}</strong>{% else %}{{ cell.text }}{% endif %}
{%- endmacro %}
{%- macro style(cell) %}{% if cell.background %} style="background: {{ cell.background }}"{% endif %}{% endmacro %}
{%- if page.legend %}
<dl>
{%- for cell, meaning in page.legend %}
<dt{{ style(cell) }}>{{ content(cell) }}</dt><dd>{{ meaning }}</dd>
{%- endfor %}
</dl>
{%- endif %}
{%- for question, answer in page.details %}
<details><summary>{{ question }}</summary><p>{{ answer }}</p></details>
{%- endfor %}
{%- for table in page.tables %}
{%- set groups = table.columns | map(attribute=0) | join(", ") %}
<div class="scroll" role="region" tabindex="0" aria-label="{{ table.caption }}, {{ groups }}">
<table>
<caption>{{ table.caption }}</caption>
<colgroup span="{{ table.corner | length }}"></colgroup>
{%- for _, columns in table.columns %}
<colgroup span="{{ columns | length }}"></colgroup>
{%- endfor %}
<thead>
<tr>
{% for name in table.corner %}<th scope="col" rowspan="2">{{ name }}</th>{% endfor %}
{%- for group, columns in table.columns %}
<th scope="colgroup" colspan="{{ columns | length }}">{{ group }}</th>
{%- endfor %}
</tr>
<tr>
{%- for _, columns in table.columns %}{% for column in columns %}
<th scope="col">{{ column }}</th>
{%- endfor %}{% endfor %}
</tr>
</thead>
{%- for group, rows in table.rows %}
<tbody>
{%- for row, cells in rows %}
<tr>
{%- if loop.first and table.corner | length > 1 %}
<th scope="rowgroup" rowspan="{{ rows | length }}">{{ group }}</th>
{%- endif %}
<th scope="row">{{ row }}</th>
{%- for cell in cells %}
<td{{ style(cell) }}{% if cell.title %} title="{{ cell.title }}"{% endif %}>{{ content(cell) }}</td>
{%- endfor %}
</tr>
{%- endfor %}
</tbody>
{%- endfor %}
</table>
</div>
{%- endfor %}
{%- if page.notes %}
<h2>Notes</h2>
<ul>
{%- for note in page.notes %}
<li>{{ note }}</li>
{%- endfor %}
</ul>
{%- endif %}
</main>
</body>
</html>
"""


def render(page: Page) -> str:
    """The page as HTML; all text is escaped."""
    # Who judges a table in Python may never ask for a page.
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(TEMPLATE).render(page=page, ink=INK)


def write_page(page: Page, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(render(page), encoding="utf-8", newline="\n")
