"""An audit as one HTML file without scripts, as JSON, and as a section for a model card."""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from evenlight.core.tables import replacing
from evenlight.reports.questions import READ
from evenlight.reports.scored import NOTHING, joined
from evenlight.reports.text import signed, three_digits
from evenlight.reports.verdict_words import numbers_of, won_of_hundred
from evenlight.reports.word_scores import word_scores_html

HERE = Path(__file__).parent
# What Markdown or HTML would take for markup.
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")


def page(content: Mapping) -> str:
    """The page of :func:`evenlight.reports.audit.content.audit_content`; no text of the data is markup in it."""
    several_factors = len({entry["factor"] for entry in content["found"]}) > 1

    def named(of: Mapping) -> str:
        in_brackets = f" ({of['factor']})" if several_factors else ""
        return f"{of['model']} on {of['dataset']}: {' and '.join(of['levels'])}{in_brackets}"

    return _template("tokens.html").render(**content, **_common(), named=named, coloured=_coloured)


def _template(name: str) -> Template:
    """A page, in which no text of the data is markup, or a section of a card, which marks its texts itself."""
    escapes = name.endswith(".html")
    loader = FileSystemLoader(HERE)
    return Environment(
        autoescape=escapes, undefined=StrictUndefined, keep_trailing_newline=True, loader=loader
    ).get_template(name)


def _common() -> dict:
    """What the pages of all audits are given beside their content."""
    return {
        "style": _file("page.css"),
        "signed": _signed,
        "interval": _interval,
        "counted": _counted,
        "share": _share,
        "difference": _difference,
        "read": READ[1],
    }


def card(content: Mapping) -> str:
    """The audit as a section of a model card, in Markdown; names of the study are no markup in it.

    No text of the data stands there.
    """
    return _template("card.md").render(**content, plain=plain)


def plain(text: str) -> str:
    r"""A text in which Markdown finds no markup.

    >>> plain("a_b | <i>")
    'a\\_b \\| \\<i\\>'
    """
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def answers_page(content: Mapping) -> str:
    """The page of :func:`evenlight.reports.audit.answers.answers_content`; no text of the data is markup in it."""
    return _template("answers.html").render(
        **content,
        **_common(),
        found=content["compared"],
        named=lambda of: f"{of['model']} on {of['dataset']}, {of['explainer']}: {' and '.join(of['levels'])}",
        percent=lambda share, of=1: f"{share / of:.1%}" if of else "–",
    )


def answers_card(content: Mapping) -> str:
    """The audit of answers as a section of a model card, in Markdown; names of the study are no markup in it."""
    return _template("answers.md").render(**content, plain=plain)


def scores_page(content: Mapping) -> str:
    """The page of :func:`evenlight.judging.audited.scores_audit`; no text of the data is markup in it."""
    return _template("scores.html").render(**content, **_common(), named=_named_scores)


def scores_card(content: Mapping) -> str:
    """The audit of scores as a section of a report, in Markdown; names of the study are no markup in it."""
    return _template("scores.md").render(**content, plain=plain, named=_named_scores)


def _named_scores(of: Mapping) -> str:
    """What a part of an audit of scores is about; columns that the table does not have say nothing."""
    place = joined(of["model"], of["dataset"], by=" on ")
    return joined(place or NOTHING, " and ".join(of["levels"]), by=": ")


# What an audit is of, with how its page and its section of a card are made.
TOKENS, ANSWERS, SCORES = (page, card), (answers_page, answers_card), (scores_page, scores_card)


def write_audit(content: Mapping, html: str | Path, as_json: str | Path, markdown: str | Path, of=TOKENS) -> None:
    """Write the three files, each whole or not at all; :data:`TOKENS`, :data:`ANSWERS` or :data:`SCORES`."""
    as_page, as_card = of
    texts = {html: as_page(content), as_json: json.dumps(content, indent=1) + "\n", markdown: as_card(content)}
    for path, text in texts.items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")


def _coloured(text: Mapping) -> str:
    """One text of a pair, its words coloured; :func:`word_scores_html` escapes them."""
    title = f"{text['level']}: {text['score']:.3g}"
    return word_scores_html(text["words"], text["shares"], title)


def _signed(number: float | None) -> str:
    return "–" if number is None else signed(number)


def _counted(row: Mapping, part: str = "") -> str:
    """Who wins how often in a row, or in a ``part`` of a row beyond random."""
    numbers = (row[f"{part}{name}"] for name in ("wins", "losses", "ties", "share"))
    return numbers_of(*(math.nan if value is None else value for value in numbers))


def _share(row: Mapping) -> str:
    """How often the first level wins of 100 decided pairs, with limits for all comparisons at once."""
    return won_of_hundred(row["share"], row["family_low"], row["family_high"])


def _difference(row: Mapping) -> str:
    """The mean difference in the metric's units, with its interval."""
    if row["difference"] is None:
        return "–"
    ends = [row[f"difference_{end}"] for end in ("low", "high")]
    said = "" if None in ends else f" [{three_digits(ends[0])},\N{NO-BREAK SPACE}{three_digits(ends[1])}]"
    return three_digits(row["difference"]) + said


def _interval(value: Mapping[str, float | None] | None) -> str:
    """A value with its interval, where it has one."""
    if value is None or value["mean"] is None:
        return "–"
    ends = "" if value["low"] is None else f" [{signed(value['low'])},\N{NO-BREAK SPACE}{signed(value['high'])}]"
    return signed(value["mean"]) + ends


def _file(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
