"""What is found out about a study before anything long runs: every problem, and none hides another."""

import json
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from evenlight.core.errors import InputError, first_line


@dataclass
class Findings:
    """What some checks have found out.

    Attributes:
        problems: (place, dataset, problem with its remedy) each; the dataset is empty where it is the place itself.
        unchecked: what was not looked at, and why.
        notes: what is good to know and no problem.
        read: names of what can be read, by their kind, such as ``models``.
    """

    problems: list[list[str]] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    read: dict[str, list[str]] = field(default_factory=dict)

    @contextmanager
    def at(self, place: str, dataset: str = "") -> Iterator[None]:
        """Within it, what is refused becomes a problem of this place, a key of the configuration; the checks go on."""
        try:
            yield
        except InputError as error:
            self.problems += [[place, dataset, problem] for problem in error.problems]
            self.notes += [f"{place}: {note}" for note in error.notes]
        # What nobody has foreseen must not hide what others have found.
        except Exception as error:
            traceback.print_exc()
            said = f"{type(error).__name__}: {first_line(error)}; the log of this check says where"
            self.problems.append([place, dataset, said])

    def can_be_read(self, kind: str, name: str) -> None:
        """Note that something can be read."""
        self.read.setdefault(kind, []).append(name)

    def write(self, path: str | Path) -> None:
        """Keep the findings as JSON."""
        Path(path).write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def joined(paths: Iterable[str | Path]) -> Findings:
    """The findings of several checks, which :meth:`Findings.write` wrote, in their order."""
    every = Findings()
    for path in paths:
        found = Findings(**json.loads(Path(path).read_text(encoding="utf-8")))
        every.problems += found.problems
        every.unchecked += found.unchecked
        every.notes += found.notes
        for kind, names in found.read.items():
            every.read.setdefault(kind, []).extend(names)
    return every


def describe_problems(findings: Findings) -> list[str]:
    """The problems in words, a line each; what is the same on several datasets, once.

    >>> same = [["models.a", "x", "no such folder"], ["models.a", "y", "no such folder"]]
    >>> describe_problems(Findings(same))
    ['models.a on x, y: no such folder']
    """
    places: dict[tuple[str, str], list[str]] = {}
    for place, dataset, problem in findings.problems:
        places.setdefault((place, problem), []).append(dataset)
    # What other libraries say may have several lines, which look like nothing of ours in a log.
    return [" ".join(f"{place}{_on(names)}: {problem}".split()) for (place, problem), names in places.items()]


def describe_others(findings: Findings) -> list[str]:
    """All else in words, a line each.

    >>> describe_others(Findings(unchecked=["models.b, made here"], notes=["datasets.x: 2"], read={"files": ["x"]}))
    ['note: datasets.x: 2', 'not checked: models.b, made here', '1 file can be read']
    """
    notes = [f"note: {what}" for what in dict.fromkeys(findings.notes)]
    unchecked = [f"not checked: {what}" for what in dict.fromkeys(findings.unchecked)]
    counted = _counted(findings.read)
    every = f"{counted} can be read" if counted else "nothing could be read yet"
    return [*notes, *unchecked, every]


def _on(names: Iterable[str]) -> str:
    """The datasets that a problem is seen on."""
    named = ", ".join(dict.fromkeys(filter(None, names)))
    return f" on {named}" if named else ""


def _counted(read: Mapping[str, Collection[str]]) -> str:
    """How many of each kind can be read."""
    counts = {kind: len(set(names)) for kind, names in read.items()}
    return ", ".join(f"{n:,} {kind.removesuffix('s') if n == 1 else kind}" for kind, n in counts.items())
