"""Pages as LaTeX: nothing in a text can be a command, the tables are whole, and it compiles."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.latex_table import escaped, latex, write_latex

HARD = r"""\{}$&#%_~^|<>"`'[]–—−±×·∞≤≥≠≈←→↑↓√αδεκλτΔΦΣ‘’“”…′""" + "\N{NO-BREAK SPACE}"
# What stands for a character, from the manuals of LaTeX (Lamport, Appendix on symbols) and not from the module.
MEANS = {
    r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textbar{}": "|",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textquotedblright{}": "”", r"\textasciigrave{}": "`",
    r"\textendash{}": "–", r"\textemdash{}": "—", r"\textquoteleft{}": "‘", r"\textquoteright{}": "’",
    r"\textquotedblleft{}": "“", r"\ldots{}": "…", "{[}": "[", "{]}": "]", "~": "\N{NO-BREAK SPACE}",
    r"\ensuremath{'}": "′", r"\ensuremath{\pm}": "±", r"\ensuremath{-}": "−", r"\ensuremath{\times}": "×",
    r"\ensuremath{\cdot}": "·", r"\ensuremath{\infty}": "∞", r"\ensuremath{\leq}": "≤", r"\ensuremath{\geq}": "≥",
    r"\ensuremath{\neq}": "≠", r"\ensuremath{\approx}": "≈", r"\ensuremath{\leftarrow}": "←",
    r"\ensuremath{\rightarrow}": "→", r"\ensuremath{\uparrow}": "↑", r"\ensuremath{\downarrow}": "↓",
    r"\ensuremath{\surd}": "√", r"\ensuremath{\alpha}": "α", r"\ensuremath{\delta}": "δ",
    r"\ensuremath{\varepsilon}": "ε", r"\ensuremath{\kappa}": "κ", r"\ensuremath{\lambda}": "λ",
    r"\ensuremath{\tau}": "τ", r"\ensuremath{\Delta}": "Δ", r"\ensuremath{\Phi}": "Φ", r"\ensuremath{\Sigma}": "Σ",
    r"\{": "{", r"\}": "}", r"\$": "$", r"\&": "&", r"\#": "#", r"\%": "%", r"\_": "_", "{}": "",
}  # fmt: skip
PIECE = re.compile("|".join(sorted(map(re.escape, MEANS), key=len, reverse=True)) + "|(?P<plain>.)", re.DOTALL)


def read(text: str) -> str:
    """What LaTeX prints for ``text``; fails at anything that is a command and not one of those above."""
    read = []
    for piece in PIECE.finditer(text):
        assert piece["plain"] is None or piece["plain"] not in r"\{}$&#%_^`<>|[]", text
        read.append(MEANS.get(piece[0], piece[0]))
    return "".join(read)


def page(text: str = "50 % of a_b") -> Page:
    columns = [("Faithfulness: ↑", [text, "B"]), ("Complexity", ["C"])]
    cells = [Cell("−0.1 ± 0.2", background="#7db8e8"), Cell(text, bold=True), Cell("–")]
    table = Table(
        text, ("Model", "Explainer"), columns, [("one", [("x", cells), ("y", cells)]), (text, [("z", cells)])]
    )
    return Page(text, text, [table, table], [(cells[0], text), (cells[1], "bold")], [text, "[1] a note"])


@given(st.text(alphabet=st.sampled_from(HARD + "a1 -,é")))
def test_every_text_is_printed_as_it_is(text):
    # LaTeX has one upright double quote only as a closing one, and prints runs of spaces as one space.
    assert read(escaped(text)) == re.sub(" +", " ", text).replace('"', "”")


def test_runs_of_hyphens_and_quotes_are_no_dashes():
    assert escaped("--flag ---") == "-{}-flag -{}-{}-"
    assert escaped("''") == "'{}'"


def test_a_paragraph_ends_no_caption():
    assert escaped("one\n\n two\tthree") == "one two three"


def test_a_table():
    text = latex(page())
    lines = text.splitlines()
    assert text.count(r"\begin{table*}") == text.count(r"\end{table*}") == 2
    assert r"\cmidrule(lr){3-4}\cmidrule(lr){5-5}" in lines
    assert (
        r"\multirow{2}{*}{Model} & \multirow{2}{*}{Explainer} & "
        r"\multicolumn{2}{c}{Faithfulness: \ensuremath{\uparrow}} & \multicolumn{1}{c}{Complexity} \\" in lines
    )
    first = (
        r"x & \cellcolor[HTML]{7DB8E8}\ensuremath{-}0.1 \ensuremath{\pm} 0.2 & \textbf{50 \% of a\_b} & \textendash{}"
    )
    assert rf"\multirow{{2}}{{*}}{{one}} & {first} \\" in lines
    assert rf" & y{first[1:]} \\" in lines
    assert r"\item \colorbox[HTML]{7DB8E8}{\strut \ensuremath{-}0.1 \ensuremath{\pm} 0.2} 50 \% of a\_b" in lines
    assert r"\item \fbox{\strut \textbf{50 \% of a\_b}} bold" in lines
    assert r"\item {[}1{]} a note" in lines


def test_every_row_has_every_column():
    body = re.findall(r"\\begin{tabular}{(ll(c+))}\n(.*?)\\bottomrule", latex(page(HARD)), re.DOTALL)
    assert [columns for columns, _, _ in body] == ["llccc", "llccc"]
    for _, _, rows in body:
        inner = [line for line in rows.splitlines() if line.endswith(r"\\")]
        assert [len(re.findall(r"(?<!\\)&", line)) for line in inner] == [3, 4, 4, 4, 4]


@pytest.mark.parametrize("text", ["plain", HARD])
def test_braces_and_environments_are_closed(text):
    found = latex(page(text))
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*([{}])", re.sub("(?m)^%.*", "", found)):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0
    begun = re.findall(r"\\begin{(.*?)}", found)
    assert sorted(begun) == sorted(re.findall(r"\\end{(.*?)}", found))


def compiled(path) -> bytes:
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-3000:]
    return path.with_suffix(".pdf").read_bytes()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_it_compiles_alone_and_in_another_document(tmp_path):
    write_latex(page(f"a{HARD}é -- 50 %"), tmp_path / "tables.tex")
    assert compiled(tmp_path / "tables.tex").startswith(b"%PDF")
    preamble = r"\documentclass[twocolumn]{article}\usepackage{booktabs,graphicx,multirow}\usepackage[table]{xcolor}"
    body = r"\begin{document}Before \input{tables} after\end{document}"
    (tmp_path / "paper.tex").write_text(preamble + body)
    assert compiled(tmp_path / "paper.tex").startswith(b"%PDF")
