"""The questions that a reader asks of a page of tables, in their order, and the answer of a study in numbers."""

from collections.abc import Collection

from evenlight.reports.text import too_small

CELL = "What is in a cell?"
HOLDS = "For what does it hold?"
SURE = "How sure is it?"
ELSE = "What else is on the page?"
LIMITS = "What can the page not say?"
# A page knows no address of the documentation.
READ = (
    "How do I read a verdict?",
    "The page docs/read_a_verdict.md of the documentation says it with examples, and docs/glossary.md explains words.",
)


def answered(*details: tuple[str, str]) -> list[tuple[str, str]]:
    """Those of the (question, answer) that this study has an answer to.

    >>> answered(("Why?", " Because. "), ("Since when?", ""))
    [('Why?', 'Because.')]
    """
    return [(question, answer.strip()) for question, answer in details if answer.strip()]


def answer(verdicts: Collection[str], how: str = " (grey)") -> str:
    """How many cells have which answer, of those that ask a question; ``how`` open ones look.

    >>> answer(["disparity for these trained models", "equivalent", "undecided", "not decidable"])
    'Of 4 cells, a disparity is confirmed in 1, one that matters is ruled out in 1, and 2 are open (grey). '
    >>> answer([])
    ''
    """
    if not len(verdicts):
        return ""
    names = ("disparity", "equivalent", "negligible")
    confirmed, excluded, small = (sum(name in verdict for verdict in verdicts) for name in names)
    still_open = len(verdicts) - confirmed - excluded
    return (
        f"Of {len(verdicts):,} cells, a disparity is confirmed in {confirmed:,}{too_small(small)}, one that matters is "
        f"ruled out in {excluded:,}, and {still_open:,} {'is' if still_open == 1 else 'are'} open{how}. "
    )
