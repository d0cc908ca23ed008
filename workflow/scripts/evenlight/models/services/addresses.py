"""Which addresses texts and keys may be sent to."""

import ipaddress
from urllib.parse import urlsplit

from evenlight.core.errors import InputError


def checked_address(address: str, plain_http: bool = False) -> str:
    """The address of a service, if texts and a key may be sent there.

    Args:
        address: of the service.
        plain_http: whether everybody on the way may read them. Without it, HTTP without encryption leads no further
            than this machine.

    Raises:
        InputError: it is no address of HTTP, has a password in it, or would send the texts unencrypted.

    >>> checked_address("http://127.0.0.1:8080/predict")
    'http://127.0.0.1:8080/predict'
    """
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(f"is no address ({error}); write one such as https://host/path") from None
    if parts.scheme not in ("https", "http") or not host or any(mark.isspace() for mark in address):
        raise InputError("is no address of HTTP; write one such as https://host/path")
    if parts.username is not None or parts.password is not None:
        raise InputError("has a name or a password in it; take it out and name the variable that holds the key")
    if parts.scheme == "http" and not plain_http and not is_loopback(host):
        raise InputError(
            "sends texts and key unencrypted to another machine; write https, or permit it by plain_http: true"
        )
    return address


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or number.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("127.0.0.1.org")
    (True, True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
