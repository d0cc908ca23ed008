"""The questions that a reader asks of a page of tables, in their order, and the answer of a study in numbers."""

from collections.abc import Collection

from evenlight.statistics.study import AS_OFTEN, UNDECIDABLE, UNDECIDED

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
    """How many comparisons have which answer, of those that ask a question; ``how`` open ones look.

    >>> answer(["female more often", "as often", "undecided", "not decidable"])
    'Of 4 comparisons, one group is explained better more often in 1, both are as often in 1, and 2 are open (grey). '
    >>> answer([])
    ''
    """
    if not len(verdicts):
        return ""
    alike = sum(verdict == AS_OFTEN for verdict in verdicts)
    still_open = sum(verdict in (UNDECIDED, UNDECIDABLE) for verdict in verdicts)
    return (
        f"Of {len(verdicts):,} comparisons, one group is explained better more often in "
        f"{len(verdicts) - alike - still_open:,}, both are as often in {alike:,}, and {still_open:,} "
        f"{'is' if still_open == 1 else 'are'} open{how}. "
    )
