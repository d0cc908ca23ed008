"""Logs of inspect_ai and of lm-evaluation-harness: their samples, and the scores that are in them."""

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from evenlight.core.errors import InputError
from evenlight.core.files import json_lines

# How files of logs end: of inspect_ai, and of the harness.
INSPECT, HARNESS = (".json", ".eval"), (".jsonl",)
# What scorers of inspect_ai write in the place of numbers (its `value_to_float`).
GRADES = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
# What a row of the harness has beside metrics, where it does not name these.
NO_METRICS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"}
# The name of a file of the harness: its task, and when it was written.
NAMED = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?$")


def inspect_log(path: Path) -> tuple[Mapping, list[dict]]:
    """What a log of inspect_ai says of its run (``eval``), and its samples; JSON, or packed as ``.eval``.

    Raises:
        InputError: it is no such log, or is of another version than 2.
    """
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                header = json.loads(packed.read("header.json"))
                names = sorted(name for name in packed.namelist() if name.startswith("samples/"))
                samples = [json.loads(packed.read(name)) for name in names]
        else:
            header = json.loads(path.read_text(encoding="utf-8"))
            samples = header.get("samples") or []
        if header["version"] != 2:
            raise InputError(f"{path}: version {header['version']} of inspect_ai's logs; convert it by `inspect log`")
        header["eval"]["model"].strip()
        return header["eval"], samples
    except (OSError, ValueError, KeyError, TypeError, AttributeError, NotImplementedError) as error:
        raise InputError(f"{path}: not a log of inspect_ai ({error}); convert it by `inspect log convert`") from None


def harness_rows(path: Path) -> Iterator[tuple[str, dict]]:
    """(file and row, row) of each row that ``--log_samples`` of the harness wrote.

    Raises:
        InputError: it is no such file.
    """
    for location, row in json_lines(path, "give what --log_samples wrote"):
        if not isinstance(row, dict) or not {"doc", "resps", "arguments"} <= row.keys():
            raise InputError(f"{location}: no doc, arguments and resps; give what --log_samples of version 0.4 wrote")
        yield location, row


def field_of(sample: Mapping, field: str, flag: str, location: str) -> str:
    """The value of a field of a sample as text, by a path such as ``metadata.dialect``.

    Raises:
        InputError: it is not there, or is no single value.
    """
    value = sample
    for key in field.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None or isinstance(value, Mapping | list):
        raise InputError(f"{location}: no value '{field}'; choose another field by {flag}")
    return str(value)


def log_scores(paths: Sequence[Path], fields: Mapping[str, str]) -> pd.DataFrame:
    """The scores of logs as a table: ``dataset`` (the task), ``model``, ``metric``, ``unit``, ``seed`` and ``score``.

    The unit is the number of the question in its task, the seed the epoch. Of inspect_ai a metric is a scorer, of the
    harness one of its metrics. Scores that are no numbers are missing.

    Args:
        paths: of logs, all of one kind.
        fields: further columns, paths such as ``metadata.dialect`` or ``doc.question_id``, and by which argument each
            is named.

    Raises:
        InputError: a file is no such log, or a field is not there.
    """
    rows: list[dict] = []
    for path in paths:
        read = _of_harness if path.suffix.lower() in HARNESS else _of_inspect
        rows += read(path, fields)
    if not rows:
        raise InputError(f"{', '.join(map(str, paths))}: no sample has a score; give logs of runs that were scored")
    return pd.DataFrame(rows)


def _of_inspect(path: Path, fields: Mapping[str, str]) -> Iterator[dict]:
    run, samples = inspect_log(path)
    for number, sample in enumerate(samples):
        location = f"{path}, sample {number} (from 0)"
        if not isinstance(sample, dict) or not {"id", "epoch"} <= sample.keys():
            raise InputError(f"{location}: no id and epoch as inspect_ai 0.3 writes them; give its log")
        named = {"dataset": str(run.get("task", path.stem)), "model": run["model"], "unit": str(sample["id"])}
        named |= {field: field_of(sample, field, f"{flag}=", location) for field, flag in fields.items()}
        for scorer, score in (sample.get("scores") or {}).items():
            value = score.get("value") if isinstance(score, dict) else score
            parts = value if isinstance(value, dict) else {"": value}
            for part, of_part in parts.items():
                metric = f"{scorer} {part}".strip()
                yield named | {"metric": metric, "seed": str(sample["epoch"]), "score": _graded(of_part)}


def _graded(value: object) -> float:
    """A value of a scorer as a number; NaN where it is none.

    >>> _graded("C"), _graded(0.25), _graded("7"), _graded(["C"])
    (1.0, 0.25, 7.0, nan)
    """
    if isinstance(value, str) and value.strip().lower() in GRADES:
        return GRADES[value.strip().lower()]
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def _of_harness(path: Path, fields: Mapping[str, str]) -> Iterator[dict]:
    rows = list(harness_rows(path))
    several = len({row.get("filter", "none") for _, row in rows}) > 1
    name = NAMED.match(path.stem)
    task = name["task"] if name else path.stem
    for location, row in rows:
        if "doc_id" not in row:
            raise InputError(f"{location}: no doc_id; give what --log_samples of version 0.4 wrote")
        named = {"dataset": task, "model": path.parent.name, "unit": str(row["doc_id"])}
        named |= {field: field_of(row, field, f"{flag}=", location) for field, flag in fields.items()}
        for metric in _metrics(row):
            label = f"{metric} ({row['filter']})" if several else metric
            yield named | {"metric": label, "seed": "0", "score": _graded(row.get(metric))}


def _metrics(row: Mapping) -> Iterable[str]:
    """The metrics that a row names, or all that it has numbers for."""
    if isinstance(row.get("metrics"), list):
        return [name for name in row["metrics"] if name in row]
    return [name for name, value in row.items() if name not in NO_METRICS and isinstance(value, int | float)]
