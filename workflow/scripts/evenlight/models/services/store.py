"""Every answer of a service, kept on the disk by the text that it is about.

One SQLite file for each service: an answer is there as soon as its request is, or not at all, however the job ends.
What is asked stands in it as its SHA-256 only. Answers of a language model stand in it in words, and may quote what
was asked.
"""

import fcntl
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ClassVar

import numpy as np

from evenlight.core.errors import InputError

# How many texts one query names; SQLite has a limit.
_AT_ONCE = 500


class Store:
    """The answers of one service, in its table ``answers``.

    Args:
        folder: of the answers of all services.
        service: what the answers depend on, JSON values: they are those of this service and no other.

    Attributes:
        tables: of the file, beside the description of the service.
    """

    tables: ClassVar[tuple[str, ...]]

    def __init__(self, folder: str | Path, service: Mapping):
        description = json.dumps(service, sort_keys=True)
        self.path = Path(folder) / f"{hashlib.sha256(description.encode()).hexdigest()[:16]}.sqlite"
        self._description = description

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The file in one transaction, which makes what is not there; what is written within is kept as a whole.

        That a file exists says nothing of its tables: another job may just be making them, or was killed before.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=60)) as opened, opened:
                # At once, since SQLite refuses without waiting where two who read want to write.
                opened.execute("BEGIN IMMEDIATE")
                for table in ("service (description TEXT)", *self.tables):
                    opened.execute(f"CREATE TABLE IF NOT EXISTS {table}")
                if not opened.execute("SELECT * FROM service").fetchone():
                    opened.execute("INSERT INTO service VALUES (?)", [self._description])
                yield opened
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"{self.path}: the answers of a service cannot be kept there ({error}); make room, or "
                "move the file away"
            ) from None

    def found(self, digests: Sequence[bytes], column: str) -> dict[bytes, object]:
        """What the answers have in a column, by the digest that is their key; those that are not there are left out."""
        if not self.path.exists():
            return {}
        found = {}
        with self._opened() as opened:
            for start in range(0, len(digests), _AT_ONCE):
                some = digests[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                found |= opened.execute(f"SELECT text, {column} FROM answers WHERE text IN ({marks})", some)
        return found

    def __len__(self) -> int:
        """How many answers there are."""
        if not self.path.exists():
            return 0
        with self._opened() as opened:
            return opened.execute("SELECT count(*) FROM answers").fetchone()[0]

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Within it, no other job asks this service: none asks what is being asked, and requests do not add up.

        The kernel ends it with the process.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock_file.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @property
    def _lock_file(self) -> Path:
        return self.path.with_suffix(".lock")

    @property
    def last_request(self) -> float:
        """When the service was sent a request last, by any job; seconds since 1970, 0 for never."""
        return self._lock_file.stat().st_mtime if self._lock_file.exists() else 0.0

    def note_request(self) -> None:
        """A request is sent now."""
        os.utime(self._lock_file)


class Answers(Store):
    """The answers of a classifier: probabilities by label, of each text."""

    tables = (
        "labels (place INTEGER PRIMARY KEY, label TEXT)",
        "answers (text BLOB PRIMARY KEY, probability BLOB, asked REAL) WITHOUT ROWID",
    )

    @property
    def labels(self) -> list[str]:
        """The labels of the service, none before its first answer."""
        if not self.path.exists():
            return []
        with self._opened() as opened:
            return [label for (label,) in opened.execute("SELECT label FROM labels ORDER BY place")]

    def known(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """The answers there are to ``texts``: probabilities, float64 (labels,), by text."""
        by_digest = {_digest(text): text for text in texts}
        found = self.found(list(by_digest), "probability")
        return {by_digest[digest]: np.frombuffer(value) for digest, value in found.items()}

    def keep(self, answers: Mapping[str, Mapping[str, float]]) -> None:
        """Keep probabilities by label, by text; the labels of all are the same."""
        labels = self.labels or list(next(iter(answers.values())))
        rows = [
            (_digest(text), np.array([of_text[label] for label in labels]).tobytes(), time.time())
            for text, of_text in answers.items()
        ]
        with self._opened() as opened:
            opened.executemany("INSERT OR IGNORE INTO labels VALUES (?, ?)", enumerate(labels))
            opened.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", rows)


class Replies(Store):
    """The answers of a language model: a JSON value to each request, which is known by all that was asked.

    The column ``text`` has the digest of the request.
    """

    tables = ("answers (text BLOB PRIMARY KEY, reply TEXT, asked REAL) WITHOUT ROWID",)

    def known(self, requests: Sequence[Mapping]) -> dict[int, dict]:
        """The replies there are, each by the place of its request."""
        digests = [_digest(json.dumps(request, sort_keys=True)) for request in requests]
        found = self.found(digests, "reply")
        return {place: json.loads(found[digest]) for place, digest in enumerate(digests) if digest in found}

    def keep(self, request: Mapping, reply: Mapping) -> None:
        """Keep the reply to a request."""
        row = (_digest(json.dumps(request, sort_keys=True)), json.dumps(reply), time.time())
        with self._opened() as opened:
            opened.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", row)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
