"""What made a file: the chain from a figure, a table or an attribution file back to the sources.

Snakemake keeps a record of every file that it has made, below ``.snakemake/metadata``: the rule, its inputs, its
parameters and when it ran. An archive of a study has the same in :data:`RECORDS`. On which machine a job ran, and with
which libraries, its log says in the last line. But for costs, none of it stands in the results, which are the same byte
for byte wherever and whenever they are made.
"""

import ast
import base64
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.core.sources import SOURCES, digest
from evenlight.jobs.environment import environment_in

METADATA = Path(".snakemake", "metadata")
# Of an unpacked study, below results/<study>/.
ARCHIVE = "archive"
RECORDS = "provenance.json"


@dataclass(frozen=True)
class Record:
    """How one file was made.

    Attributes:
        rule: the rule's name.
        inputs: the files that it read, without the project's scripts.
        settings: its parameters: settings as JSON, and other texts.
        versions: of what it used, by kind (stages, explainers, ...) and name; of pages and own classes digests.
        checksums: SHA-256 of the inputs when they were read, of those of up to a megabyte.
        logs: its logs.
        started, ended: in seconds since 1970.
        environment: machine and libraries, as the log has them; empty where it has none.
        sha256: of the file itself, where it was kept.
    """

    rule: str
    inputs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    versions: dict[str, dict[str, int | str]] = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)
    logs: tuple[str, ...] = ()
    started: float = 0.0
    ended: float = 0.0
    environment: str = ""
    sha256: str = ""

    @property
    def named_versions(self) -> list[str]:
        """The same in words: ``lime 1``."""
        used = [pair for of_kind in self.versions.values() for pair in of_kind.items()]
        return [f"{name} {str(version)[:12]}" for name, version in used]

    @property
    def job(self) -> tuple:
        """What the files of one job have in common."""
        return self.rule, self.logs


class Records:
    """The records of a project: Snakemake's, and those of the studies that were unpacked in it.

    Args:
        project: the folder in which Snakemake is started.

    Attributes:
        folder: the same.
    """

    def __init__(self, project: str | Path = ".") -> None:
        self.folder = Path(project)
        self._archived: dict[str, dict[str, Record]] = {}

    def of(self, path: str) -> Record | None:
        """The record of a file, by its path from the project's folder; None of one that no rule made here."""
        made_here = (self._made_here(path, store) for store in ("", *self.stores))
        return next(filter(None, made_here), None) or self._archive_of(path).get(path)

    @cached_property
    def stores(self) -> tuple[str, ...]:
        """Addresses below which a storage (``--default-storage-provider``) keeps what was made here: s3://evenlight/."""
        stored = (address for address in recorded_paths(self.folder) if "://" in address)
        found = {address[: place.start()] for address in stored for place in re.finditer(r"(?<=/)results/", address)}
        return tuple(sorted(found))

    def address_of(self, path: str) -> str:
        """Under which address a storage keeps a file of this project; empty where none does."""
        return next((f"{store}{path}" for store in self.stores if self._made_here(path, store)), "")

    def _made_here(self, path: str, store: str = "") -> Record | None:
        try:
            text = record_path(self.folder, f"{store}{path}").read_text(encoding="utf-8")
            return self._record(json.loads(text), store)
        except (OSError, ValueError):
            return None

    def _record(self, kept: dict, store: str) -> Record | None:
        if kept.get("incomplete") or not kept.get("rule"):
            return None
        # Where a storage keeps a file, the address stands for it, or the place of its copy.
        copies = f".snakemake/storage/{store.replace('://', '/')}"

        def here(path: str) -> str:
            return path.removeprefix(store).removeprefix(copies) if store else path

        checksums = {
            here(name): value.removeprefix("sha256:") for name, value in (kept.get("input_checksums") or {}).items()
        }
        versions, settings = _versions_and_settings(kept.get("params") or [])
        logs = tuple(here(log) for log in kept.get("log") or ())
        return Record(
            rule=kept["rule"],
            inputs=tuple(here(path) for path in kept.get("input") or () if not _is_script(path)),
            settings=settings,
            versions=versions,
            checksums={path: value for path, value in checksums.items() if not _is_script(path)},
            logs=logs,
            started=kept.get("starttime") or 0.0,
            ended=kept.get("endtime") or 0.0,
            environment=next(filter(None, map(self._environment, logs)), ""),
        )

    def _environment(self, log: str) -> str:
        try:
            return environment_in((self.folder / log).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            return ""

    def _archive_of(self, path: str) -> dict[str, Record]:
        parts = Path(path).parts
        study = parts[1] if len(parts) > 2 and parts[0] == "results" else ""
        if study not in self._archived:
            kept = self.folder / "results" / study / ARCHIVE / RECORDS
            self._archived[study] = read_records(kept) if study and kept.is_file() else {}
        return self._archived[study]


def read_records(path: str | Path) -> dict[str, Record]:
    """The records of an archive, by file. Raises InputError for a file that is none of ours."""
    try:
        kept = json.loads(Path(path).read_text(encoding="utf-8"))
        return {
            name: Record(**{key: tuple(value) if isinstance(value, list) else value for key, value in record.items()})
            for name, record in kept.items()
        }
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: no records of an archive ({error}); unpack the archive again") from None


def as_text(records: dict[str, Record]) -> str:
    """Records as the text of a file that :func:`read_records` reads."""
    return json.dumps({name: asdict(records[name]) for name in sorted(records)}, indent=1, sort_keys=True) + "\n"


def record_path(project: Path, path: str) -> Path:
    """Where Snakemake has its record of a file. A long name is cut into folders, each with an @ before it."""
    longest = os.pathconf(project, "PC_NAME_MAX") - 1
    name = base64.urlsafe_b64encode(path.encode()).decode()
    parts = [name[start : start + longest] for start in range(0, len(name), longest)]
    return project.joinpath(METADATA, *(f"@{part}" for part in parts[:-1]), parts[-1])


def recorded_paths(project: Path) -> Iterator[str]:
    """The files, or their addresses in a storage, of which Snakemake has records."""
    metadata = project / METADATA
    for folder, _, files in os.walk(metadata):
        beginning = "".join(part[1:] for part in Path(folder).relative_to(metadata).parts)
        yield from (_decoded(beginning + name) for name in files)


def _decoded(name: str) -> str:
    """The path that the name of a record stands for."""
    try:
        return base64.urlsafe_b64decode(name).decode()
    except ValueError:  # no record
        return ""


def _is_script(path: str) -> bool:
    return path.startswith("workflow/scripts/") or "/workflow/scripts/" in path


def _versions_and_settings(params: Iterable[str]) -> tuple[dict[str, dict], tuple[str, ...]]:
    """Snakemake's parameters, of which it keeps the representations, told apart by what they look like."""
    versions, settings = {}, []
    for shown in params:
        try:
            value = ast.literal_eval(shown)
        except (ValueError, SyntaxError):
            value = shown
        if isinstance(value, str) and value.startswith("{") and (found := _versions_in(value)):
            versions = found
        elif value not in ("", [], None):
            settings.append(value if isinstance(value, str) else json.dumps(value, default=str))
    return versions, tuple(settings)


def _versions_in(text: str) -> dict[str, dict]:
    """The versions that a parameter has, each of which names stages; nothing of another parameter."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if "stages" in value else {}


def mixed(environments: Iterable[str]) -> list[str]:
    """Python and libraries that several versions were used of.

    >>> mixed(["host with numpy 2.4.6, torch 2.8.0", "host with numpy 2.4.6, torch 2.9.0", ""])
    ['torch 2.8.0, 2.9.0']
    """
    used: dict[str, set[str]] = {}
    for environment in environments:
        for library in environment.partition(" with ")[2].split(", "):
            name, _, version = library.partition(" ")
            used.setdefault(name, set()).add(version)
    return [f"{name} {', '.join(sorted(versions))}" for name, versions in sorted(used.items()) if len(versions) > 1]


def behind(paths: Iterable[str], of: Callable[[str], Record | None]) -> dict[str, Record | None]:
    """Files and everything that they were made of, each with its record, as ``of`` knows it."""
    known: dict[str, Record | None] = {}
    waiting = list(paths)
    while waiting:
        name = waiting.pop()
        if name not in known:
            known[name] = of(name)
            waiting.extend(known[name].inputs if known[name] else ())
    return known


def chain(path: str, records: Records) -> Iterator[tuple[str, Record | None]]:
    """A file and everything that it was made of, with their records, each after all that were made of it."""
    known = behind([path], records.of)
    made_of_it: dict[str, list[str]] = {name: [] for name in known}
    for name, record in known.items():
        for source in record.inputs if record else ():
            made_of_it[source].append(name)
    for name in TopologicalSorter(made_of_it).static_order():
        yield name, known[name]


def summed_up(paths: Iterable[str], records: Records) -> dict:
    """All that is behind some files, for a reader of their report.

    Args:
        paths: from the project's folder.
        records: of the same folder.

    Returns:
        ``jobs``: how many; where there are none, nothing else says anything. ``started``, ``ended``: times in UTC.
        ``seconds``: their wall times, added up. ``rules``: of each its ``rule``, ``jobs``, ``seconds`` and
        ``versions``. ``mixed``: libraries of which several versions were used. ``machines``: of each, and of each GPU
        that was used there, Python and libraries with versions. ``sources``: what no rule made or was downloaded, each
        with its ``path``, ``origin`` and ``sha256``, which is empty of a file that is no longer here.
    """
    known = behind(paths, records.of)
    jobs = {record.job: record for record in known.values() if record}
    by_rule: dict[str, list[Record]] = {}
    machines: dict[str, dict[str, None]] = {}
    for record in sorted(jobs.values(), key=lambda job: (job.started, job.job)):
        by_rule.setdefault(record.rule, []).append(record)
        if record.environment:
            machine, _, libraries = record.environment.partition(" with ")
            machines.setdefault(machine, {}).update(dict.fromkeys(libraries.split(", ")))
    rules = [
        {
            "rule": rule,
            "jobs": len(of_rule),
            "seconds": sum(job.ended - job.started for job in of_rule),
            "versions": list(dict.fromkeys(named for job in of_rule for named in job.named_versions)),
        }
        for rule, of_rule in by_rule.items()
    ]
    fetched = [name for name, record in known.items() if record is None or record.rule == "fetch_source"]
    return {
        "jobs": len(jobs),
        "seconds": sum(rule["seconds"] for rule in rules),
        "started": time_of(min((job.started for job in jobs.values()), default=0)),
        "ended": time_of(max((job.ended for job in jobs.values()), default=0)),
        "rules": rules,
        "mixed": mixed(record.environment for record in jobs.values()),
        "machines": {machine: list(libraries) for machine, libraries in machines.items()},
        "sources": [
            {
                "path": name,
                "origin": origin(name),
                "sha256": digest(records.folder / name) if (records.folder / name).is_file() else "",
            }
            for name in sorted(fetched)
        ],
    }


def stored_elsewhere(path: str, records: Records) -> str:
    """What to do before a file can be looked at that a storage keeps."""
    address = records.address_of(path).removesuffix(path)
    folders = ("results", "logs", "benchmarks")
    commands = "; ".join(f"aws s3 sync {address}{folder} {folder}" for folder in folders)
    fetch = f"`{commands}`" if address.startswith("s3://") else f"{', '.join(folders)} from {address}, dates included"
    return f"lies in a storage and not here; fetch the study first: {fetch}"


def time_of(seconds: float) -> str:
    """A time of the clock, in UTC.

    >>> time_of(0)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def of_content(path: Path) -> dict:
    """What a file says itself of how it was made: seed, libraries, device; empty for one that says nothing."""
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            text = (pq.read_schema(path).metadata or {}).get(b"evenlight", b"{}")
        except (OSError, pa.ArrowException):
            return {}
    elif path.name == "manifest.json":
        text = path.read_bytes()
    else:
        return {}
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return {key: said[key] for key in ("seed", "device", "threads", "libraries", "files") if key in said}


def origin(path: str) -> str:
    """Where a file comes from that no rule has made."""
    name = path.removeprefix("results/sources/")
    if name in SOURCES:
        return f"{SOURCES[name].url}, SHA-256 {SOURCES[name].sha256}"
    return "a file of this repository" if path.startswith("resources/") else "no rule made it here"


def changed(record: Record, project: Path = Path(".")) -> list[str]:
    """The inputs that are no longer what the job has read, as far as their checksums were kept."""
    return [
        path
        for path, checksum in sorted(record.checksums.items())
        if (project / path).is_file() and digest(project / path) != checksum
    ]
