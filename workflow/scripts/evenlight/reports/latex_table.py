r"""Pages of tables as LaTeX, from the same values as the HTML.

What is written compiles by itself and can also be read by another document with ``\input``: the preamble is skipped
where a document has already begun.
"""

import re
from pathlib import Path

from evenlight.core.tables import replacing
from evenlight.reports.html_table import HERE, Page, templates

# Characters that LaTeX reads as commands, and those that pdflatex does not print in its default encoding.
_MATHEMATICS = {
    **{"±": r"\pm", "−": "-", "×": r"\times", "·": r"\cdot", "∞": r"\infty", "≤": r"\leq", "≥": r"\geq", "≠": r"\neq"},
    **{"≈": r"\approx", "←": r"\leftarrow", "→": r"\rightarrow", "↑": r"\uparrow", "↓": r"\downarrow", "√": r"\surd"},
    **{"α": r"\alpha", "δ": r"\delta", "ε": r"\varepsilon", "κ": r"\kappa", "λ": r"\lambda", "τ": r"\tau"},
    **{"Δ": r"\Delta", "Φ": r"\Phi", "Σ": r"\Sigma"},
}
_TEXT = {
    **{character: f"\\{character}" for character in "{}$&#%_"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", '"': r"\textquotedblright{}", "`": r"\textasciigrave{}"},
    # In braces, since after \\ and \item a bracket begins an argument.
    **{"[": "{[}", "]": "{]}", "\N{NO-BREAK SPACE}": "~", "–": r"\textendash{}", "—": r"\textemdash{}"},
    **{"‘": r"\textquoteleft{}", "’": r"\textquoteright{}", "“": r"\textquotedblleft{}", "”": r"\textquotedblright{}"},
    **{"…": r"\ldots{}", "′": r"\ensuremath{'}"},
}
_ESCAPES = str.maketrans(_TEXT | {character: rf"\ensuremath{{{name}}}" for character, name in _MATHEMATICS.items()})

# Braces, hashes and percent signs are LaTeX's own.
_SYNTAX = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
    "trim_blocks": True,
    "lstrip_blocks": True,
}


def escaped(text: str) -> str:
    r"""``text`` as LaTeX prints it, on one line; letters beyond ASCII stay as they are, for pdflatex's UTF-8.

    >>> print(escaped("50 % of a_b: −0.1 ± 0.2"))
    50 \% of a\_b: \ensuremath{-}0.1 \ensuremath{\pm} 0.2
    """
    # Runs of hyphens and quotes, which TeX would join into dashes and quotation marks, are kept apart.
    return re.sub(r"([-'])(?=\1)", r"\1{}", re.sub(r"[ \t\r\n]+", " ", text).translate(_ESCAPES))


def latex(page: Page) -> str:
    """The page as LaTeX: title, warnings, introduction and details, a ``table*`` for each table, legend and notes.

    Colours, bold type and both levels of headers are those of the HTML; what a pointer would tell is left out. A
    table that is wider than the text is made smaller to fit.
    """
    environment = templates(HERE, autoescape=False, **_SYNTAX)
    environment.filters["tex"] = escaped
    return environment.get_template("table_page.tex").render(page=page)


def write_latex(page: Page, path: str | Path) -> None:
    """Write the page as LaTeX, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(latex(page), encoding="utf-8", newline="\n")
