"""Which addresses texts and keys may be sent to, and which may be written down."""

import ipaddress
import re
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from evenlight.core.errors import InputError

# What names a key in an address, and what a value looks like that is one: letters and digits without a word in it.
_NAMES_SECRET = re.compile(
    r"(?:^|api|access|subscription|secret|private|auth|user|function|service)(?:key|keyid)\d?$"
    r"|(?:^|api|access|auth|id|bearer|refresh|session|security|sas|user|hf)tokens?$"
    r"|(?:secret|password|passwd|pwd|passphrase|signature|credentials?|authorization)$|^(?:auth|sig|code|pass|sas|jwt|bearer)$"
)
_IS_SECRET = re.compile(r"(?i)^(?:sk|pk|hf|ghp|gsk|xai)[-_]\w{8}|(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{20}|^AIza")


def names_secret(name: str) -> bool:
    """Whether what stands under a name is a key, a token or a password.

    >>> [names_secret(name) for name in ("api_key", "X-Amz-Signature", "api-version", "min_tokens")]
    [True, True, False, False]
    """
    return bool(_NAMES_SECRET.search(re.sub("[^a-z0-9]", "", name.lower())))


def secrets_in(address: str) -> list[str]:
    """The names of what an address has behind ``?`` or ``#`` that is a key, or looks like one.

    >>> secrets_in("https://host/a?api-version=2024-10-21&api_key=x"), secrets_in("https://host/a?v=2")
    (['api_key'], [])
    """
    parts = urlsplit(address)
    given = [pair for part in (parts.query, parts.fragment) for pair in parse_qsl(part, keep_blank_values=True)]
    return [name for name, value in given if value and (names_secret(name) or _IS_SECRET.search(value))]


def without_secrets(address: str) -> str:
    """An address as it may be written: without a name, a password and what is behind ``?`` or ``#``.

    >>> without_secrets("https://me:mine@host:80/a?key=x")
    'https://host:80/a'
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return address.partition("?")[0].partition("#")[0].rpartition("@")[2]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def checked_address(address: str, plain_http: bool = False) -> str:
    """The address of a service, if texts and a key may be sent there.

    Args:
        address: of the service.
        plain_http: whether everybody on the way may read them. Without it, HTTP without encryption leads no further
            than this machine.

    Raises:
        InputError: it is no address of HTTP, has a password or a key in it, or would send the texts unencrypted.

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
    if secrets := secrets_in(address):
        raise InputError(
            f"has a key in it ({secrets[0]}), which would stand in every result; take it out and name the variable "
            "that holds it (asking.key_variable), and the header that it is sent in (asking.key_header)"
        )
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
