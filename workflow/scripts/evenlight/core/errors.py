"""The one exception that a user is meant to read, and what it says of others."""

import difflib
import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")


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
    given: dict[str, object] = {}
    problems: list[str] = []
    for name, make in made.items():
        try:
            given[name] = make()
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(*problems)
    return given


def present(value: Value | None) -> Value:
    """The value, which is there by what was checked before."""
    assert value is not None
    return value


# What a disk or its rights say where nothing can be written, and what a reader does about it.
_UNWRITABLE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room, or move the project to a larger disk"),
    errno.EFBIG: "write to a file system that takes files of this size",
    **dict.fromkeys((errno.EACCES, errno.EPERM), "give yourself the right to read and write there"),
    errno.EROFS: "write to a disk that is not read-only",
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "a file stands where a folder is needed; move it away"),
    errno.EIO: "the disk fails; write to another one",
}


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """What a block writes to ``path``; where the disk does not take it, an :class:`InputError` says so.

    Libraries that write hide the number of the error in their words, or raise errors of their own.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if (said := unwritable(error, path)) is None:
            raise
        raise InputError(said) from None


def unwritable(error: Exception, path: str | Path = "") -> str | None:
    """What is said of an error of the disk: the path, the cause and the remedy; None for any other error.

    >>> unwritable(OSError(28, "No space left on device"), "a.parquet").partition("; make room")[0]
    'a.parquet: No space left on device'
    >>> unwritable(FileNotFoundError(2, "No such file or directory", "b"), "a") is None
    True
    """
    for number, remedy in _UNWRITABLE.items():
        words = os.strerror(number)
        if getattr(error, "errno", None) == number or words in str(error):
            place = path or getattr(error, "filename", None) or "a file of this job"
            return f"{place}: {words}; {remedy}, and give the same command again"
    return None


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


def suggestion(name: object, candidates: Iterable) -> str:
    """Which of ``candidates`` may have been meant: those that end so, or the nearest, whatever the case of letters.

    >>> suggestion("comprehensiveness", ["soft_comprehensiveness", "gini", "aopc_comprehensiveness"])
    '; did you mean soft_comprehensiveness or aopc_comprehensiveness?'
    >>> suggestion("Gini", ["soft_gini", "gini"]), suggestion("oclusion", ["occlusion"]), suggestion("x", ["lime"])
    ('; did you mean gini?', '; did you mean occlusion?', '')
    """
    meant, known = str(name).lower(), {str(each).lower(): str(each) for each in candidates}
    same = [each for each in known if each == meant] or [each for each in known if each.endswith(f"_{meant}")]
    close = same or difflib.get_close_matches(meant, known, n=1)
    return f"; did you mean {' or '.join(known[each] for each in close)}?" if close else ""
