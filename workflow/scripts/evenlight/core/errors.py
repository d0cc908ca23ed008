"""The one exception that a user is meant to read, and what it says of others."""

from collections.abc import Callable, Mapping


class InputError(Exception):
    """Input that cannot be used: a file, a configuration value or a model.

    The message names the file (or the configuration key), the field and the remedy. Commands print it
    alone, without a traceback, and end with status 1. Where several things are wrong, each has a message. What is
    good to know beside them and no fault is added by :meth:`add_note`.
    """

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, each with its remedy."""
        return tuple(map(str, self.args))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is good to know, and no fault."""
        return tuple(getattr(self, "__notes__", ()))

    def __str__(self) -> str:
        """All of it, a line each."""
        return "\n".join(self.problems)


def all_of(made: Mapping[str, Callable[[], object]]) -> dict:
    """What each function gives, by its name.

    Raises:
        InputError: some are refused; it says why each of them is.
    """
    given, problems = {}, []
    for name, make in made.items():
        try:
            given[name] = make()
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(*problems)
    return given


def unless(work: Callable, refused: Callable[[], Exception | None]) -> Callable:
    """``work``, before which ``refused`` is asked each time; what it then gives is raised, and nothing is done."""

    def asked_first(*arguments, **named):
        if error := refused():
            raise error
        return work(*arguments, **named)

    return asked_first


def reworded(work: Callable, kind: type[Exception], other: Callable[[], Exception | None]) -> Callable:
    """``work``, of which errors of a kind are raised as what ``other`` then gives; as they are where it gives None."""

    def in_other_words(*arguments, **named):
        try:
            return work(*arguments, **named)
        except kind:
            if error := other():
                raise error from None
            raise

    return in_other_words


def first_line(said: Exception | str) -> str:
    """What an error of another library says, in a line; of one without words, its name.

    >>> first_line(ValueError("no such file.\\nlook elsewhere")), first_line(KeyError())
    ('no such file', 'KeyError')
    """
    return (str(said).strip() or type(said).__name__).splitlines()[0].rstrip(".")
