r"""Pages of tables as LaTeX, from the same values as the HTML.

What is written compiles by itself and can also be read by another document with ``\input``: the preamble is skipped
where a document has already begun.
"""

import re
from itertools import accumulate
from pathlib import Path

from evenlight.core.tables import replacing
from evenlight.reports.html_table import Cell, Page, Table

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

BEGIN = r"""% Packages: booktabs, graphicx, multirow, and xcolor with its option table.
% Compile this file, or \input it into a document that loads them.
\makeatletter
\ifx\@nodocument\relax
  \let\EvenlightEnd\relax
\else
  \documentclass{article}
  \usepackage[a4paper,landscape,margin=15mm]{geometry}
  \usepackage{booktabs,graphicx,multirow}
  \usepackage[table]{xcolor}
  \def\EvenlightEnd{\end{document}}
  \begin{document}
\fi
\makeatother
"""
END = "\\EvenlightEnd\n"


def escaped(text: str) -> str:
    r"""``text`` as LaTeX prints it, on one line; letters beyond ASCII stay as they are, for pdflatex's UTF-8.

    >>> print(escaped("50 % of a_b: −0.1 ± 0.2"))
    50 \% of a\_b: \ensuremath{-}0.1 \ensuremath{\pm} 0.2
    """
    # Runs of hyphens and quotes, which TeX would join into dashes and quotation marks, are kept apart.
    return re.sub(r"([-'])(?=\1)", r"\1{}", re.sub(r"[ \t\r\n]+", " ", text).translate(_ESCAPES))


def latex(page: Page) -> str:
    r"""The page as LaTeX: title, warnings, introduction and details, a ``table*`` for each table, legend and notes.

    Colours, bold type and both levels of headers are those of the HTML; what a pointer would tell is left out. A
    table that is wider than the text is made smaller to fit.
    """
    legend = [f"{_swatch(cell)} {escaped(meaning)}" for cell, meaning in page.legend]
    return "\n".join(
        [
            BEGIN,
            rf"\section*{{{escaped(page.title)}}}",
            *(rf"\textbf{{Read this first.}} {escaped(warning)}" + "\n" for warning in page.warnings),
            f"{escaped(page.introduction)}\n",
            *(rf"\textit{{{escaped(question)}}} {escaped(answer)}" + "\n" for question, answer in page.details),
            *map(_table, page.tables),
            _list("Legend", legend),
            _list("Notes", list(map(escaped, page.notes))),
            END,
        ]
    )


def write_latex(page: Page, path: str | Path) -> None:
    """Write the page as LaTeX, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(latex(page), encoding="utf-8", newline="\n")


def _content(cell: Cell) -> str:
    return rf"\textbf{{{escaped(cell.text)}}}" if cell.bold else escaped(cell.text)


def _colour(command: str, cell: Cell) -> str:
    return rf"\{command}[HTML]{{{cell.background.removeprefix('#').upper()}}}" if cell.background else ""


def _swatch(cell: Cell) -> str:
    return (_colour("colorbox", cell) or r"\fbox") + rf"{{\strut {_content(cell)}}}"


def _list(title: str, entries: list[str]) -> str:
    if not entries:
        return ""
    items = "\n".join(rf"\item {entry}" for entry in entries)
    return f"\\paragraph{{{title}}}\n\\begin{{itemize}}\n{items}\n\\end{{itemize}}\n"


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _table(table: Table) -> str:
    widths = [len(columns) for _, columns in table.columns]
    ends = list(accumulate(widths, initial=2))
    corner = [rf"\multirow{{2}}{{*}}{{{escaped(name)}}}" for name in table.corner]
    groups = [
        rf"\multicolumn{{{width}}}{{c}}{{{escaped(group)}}}"
        for width, (group, _) in zip(widths, table.columns, strict=True)
    ]
    rules = [rf"\cmidrule(lr){{{end - width + 1}-{end}}}" for width, end in zip(widths, ends[1:], strict=True)]
    headings = [escaped(column) for _, columns in table.columns for column in columns]
    lines = [
        r"\begin{table*}[p]",
        r"\centering",
        rf"\caption{{{escaped(table.caption)}}}",
        r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{ll{'c' * sum(widths)}}}",
        r"\toprule",
        _row([*corner, *groups]),
        "".join(rules),
        _row(["", "", *headings]),
    ]
    for group, rows in table.rows:
        lines.append(r"\midrule")
        for number, (row, cells) in enumerate(rows):
            first = rf"\multirow{{{len(rows)}}}{{*}}{{{escaped(group)}}}" if number == 0 else ""
            lines.append(_row([first, escaped(row), *(_colour("cellcolor", cell) + _content(cell) for cell in cells)]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table*}", ""])
