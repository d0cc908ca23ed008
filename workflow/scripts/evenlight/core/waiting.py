"""How long a server asks to be left alone."""

import sys


def asked_wait(header: str | None) -> float | None:
    """The seconds of a header Retry-After (RFC 9110, section 10.2.3), None without one or with one that says nothing.

    >>> asked_wait("7"), asked_wait("Wed, 01 Jan 2020 00:00:00 -0000"), asked_wait("soon"), asked_wait(None)
    (7.0, 0.0, None, None)
    """
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    if header is None:
        return None
    try:
        # Whether to wait so long is for the caller to say.
        return float(Retry(retry_after_max=sys.maxsize).parse_retry_after(header))
    except (InvalidHeader, ValueError):
        return None
