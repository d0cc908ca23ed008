"""The questions that a reader asks of a page of tables, in their order."""

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
