"""What a site's robots.txt lets this program read (RFC 9309).

Python's own reader takes the first rule that fits instead of the longest and knows no ``*`` inside a path, so it would
take liberties that sites did not give.
"""

import re
from dataclasses import dataclass
from itertools import chain
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Robots:
    """The rules for one program on one host: (allowed, pattern of the path), and the delay it is asked for."""

    rules: tuple[tuple[bool, str], ...] = ()
    delay: float = 0.0  # seconds between pages

    def allows(self, url: str) -> bool:
        """Whether ``url`` may be read: the longest pattern that fits decides, of equally long ones the one that allows.

        RFC 9309, section 2.2.2.
        """
        parts = urlsplit(url)
        path = unquote(f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/")
        fitting = [(len(pattern), allowed) for allowed, pattern in self.rules if _fits(pattern, path)]
        return max(fitting)[1] if fitting else True


EVERYTHING = Robots()


def _fits(pattern: str, path: str) -> bool:
    anchored = pattern.endswith("$")
    expression = ".*".join(re.escape(part) for part in pattern.removesuffix("$").split("*"))
    return re.match(expression + ("$" if anchored else ""), path, re.DOTALL) is not None


def read_robots(text: str, program: str) -> Robots:
    """The rules of a robots.txt for the program of this name: its own groups', else those of ``*``.

    Lines that are not understood are passed over (RFC 9309, section 2.2); ``Crawl-delay`` is not part of the standard
    but of what sites ask for.
    """
    groups: list[tuple[set[str], list[tuple[str, str]]]] = []
    for line in text.splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            if not groups or groups[-1][1]:
                groups.append((set(), []))
            groups[-1][0].add(value.lower())
        elif groups and key in {"allow", "disallow", "crawl-delay"}:
            groups[-1][1].append((key, value))
    addressed = [lines for agents, lines in groups if program.lower() in agents]
    lines = list(chain.from_iterable(addressed or [lines for agents, lines in groups if "*" in agents]))
    rules = tuple((key == "allow", unquote(value)) for key, value in lines if key != "crawl-delay" and value)
    delays = [float(value) for key, value in lines if key == "crawl-delay" and re.fullmatch(r"\d+(\.\d+)?", value)]
    return Robots(rules, max(delays, default=0.0))
