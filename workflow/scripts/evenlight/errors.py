"""The one exception that a user is meant to read, and what it says of others."""


class InputError(Exception):
    """Input that cannot be used: a file, a configuration value or a model.

    The message names the file (or the configuration key), the field and the remedy. Commands print it
    alone, without a traceback, and end with status 1.
    """


def first_line(said: Exception | str) -> str:
    """What an error of another library says, in a line; of one without words, its name.

    >>> first_line(ValueError("no such file.\\nlook elsewhere")), first_line(KeyError())
    ('no such file', 'KeyError')
    """
    return (str(said).strip() or type(said).__name__).splitlines()[0].rstrip(".")
