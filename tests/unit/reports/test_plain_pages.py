"""Pages of tables say what they are about in few words, and the rest where a reader asks for it."""

from dataclasses import replace

from evenlight.reports.html_table import Cell, Page, Table, render
from evenlight.reports.latex_table import latex

TABLE = Table("Scores", ("Model", "Explainer"), [("", ["A"])], [("one", [("x", [Cell("1")])])])
PAGE = Page(
    "Effects",
    "Do groups differ? In 1 of 2 cells.",
    [TABLE],
    [(Cell("?"), "undecided")],
    details=[("What is in <a> cell?", "A mean & its 50 % interval."), ("How sure is it?", "Quite.")],
)


def test_details_stand_closed_between_legend_and_tables():
    text = render(PAGE)
    first = "<details><summary>What is in &lt;a&gt; cell?</summary><p>A mean &amp; its 50 % interval.</p></details>"
    places = [text.index(part) for part in ("In 1 of 2 cells", "undecided", first, "How sure is it?", "<table>")]
    assert places == sorted(places)
    assert text.count("<details>") == 2
    assert "<details" not in render(replace(PAGE, details=[]))


def test_rows_whose_groups_have_no_label_have_one_heading():
    alone = replace(TABLE, corner=("Explainer",))
    one, two = (render(replace(PAGE, tables=[table])) for table in (alone, TABLE))
    assert [text.count('scope="rowgroup"') for text in (one, two)] == [0, 1]
    assert [text.count('scope="col" rowspan="2"') for text in (one, two)] == [1, 2]


def test_details_are_paragraphs_in_latex():
    text = latex(PAGE)
    first = r"\textit{What is in \textless{}a\textgreater{} cell?} A mean \& its 50 \% interval."
    places = [
        text.index(part) for part in ("In 1 of 2 cells", f"\n{first}\n\n", r"\textit{How sure", r"\begin{table*}")
    ]
    assert places == sorted(places)
