"""The one exception that a user is meant to read."""


class InputError(Exception):
    """Input that cannot be used: a file, a configuration value or a model.

    The message names the file (or the configuration key), the field and the remedy. Commands print it
    alone, without a traceback, and end with status 1.
    """
