"""What a classifier is, for whoever prints it."""

MOST_NAMES = 5


def in_a_line(classifier, kind: str, *more: str) -> str:
    """A classifier with ``class_names``, of some kind, and what else there is to say of it."""
    names = classifier.class_names
    listed = ", ".join(names[:MOST_NAMES]) + ", …" * (len(names) > MOST_NAMES)
    return f"<{type(classifier).__name__}: {', '.join((kind, f'{len(names)} classes ({listed})', *more))}>"
