"""Golden outputs: what each method gives on small fixed inputs, kept as text in ``tests/golden``, with its versions.

The folders are the kinds of method. A file has the ``versions`` that its numbers were made with and the ``output``:
mappings and lists of numbers and texts, numbers with six significant digits, null where there is none.

Two numbers are the same that differ by less than :data:`ABSOLUTE` and :data:`RELATIVE` of the largest number beside
them. That is three times and more what another processor makes of the same float32 networks. Kernels of torch without
vector instructions were tried (``ATEN_CPU_CAPABILITY=default``), and those of OpenBLAS for the oldest processors. Draws
have their seeds.
"""

import json
import math
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parents[1] / "golden"
DIGITS = 6
RELATIVE, ABSOLUTE = 1e-4, 1e-5
# Says that outputs are to be written; `make golden` sets it.
VARIABLE = "EVENLIGHT_GOLDEN"


def plain(value):
    """A value as its file has it.

    >>> plain({"a": np.array([1 / 3, np.nan]), "b": (2, None)})
    {'a': [0.333333, None], 'b': [2, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, pd.DataFrame):
        return {str(name): plain(list(value[name])) for name in value.columns}
    if is_dataclass(value):
        return plain(asdict(value))
    if isinstance(value, np.ndarray | list | tuple | pd.Series):
        return [plain(each) for each in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None if math.isnan(value) else str(value)
    return None if value is None or value is pd.NA or value is pd.NaT else str(value)


def text_of(value, indent: int = 0) -> str:
    """JSON with a line for each list of numbers or texts, so that a difference shows where it is."""
    inner = "  " * (indent + 1)
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {text_of(value[key], indent + 1)}" for key in value]
        return "{\n" + ",\n".join(lines) + "\n" + "  " * indent + "}"
    if isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        lines = [inner + text_of(each, indent + 1) for each in value]
        return "[\n" + ",\n".join(lines) + "\n" + "  " * indent + "]"
    return json.dumps(value, ensure_ascii=False)


def differences(kept, found, where: str = "", beside: float = 0.0) -> Iterator[str]:
    """What differs between a kept and a found value, one line each, beyond rounding; ``beside`` is the largest number.

    >>> list(differences({"a": [1.0, 2.0]}, {"a": [1.00001, 2.1]}))
    ['a[1]: 2.0 was kept, 2.1 is found']
    """
    if isinstance(kept, dict) and isinstance(found, dict):
        for key in kept.keys() ^ found.keys():
            yield f"{where}.{key} is {'new' if key in found else 'gone'}".lstrip(".")
        for key in (key for key in kept if key in found):
            yield from differences(kept[key], found[key], f"{where}.{key}".lstrip("."))
    elif isinstance(kept, list) and isinstance(found, list):
        if len(kept) != len(found):
            yield f"{where}: {len(kept)} values were kept, {len(found)} are found"
        largest = max((abs(each) for each in kept if isinstance(each, float)), default=0.0)
        for place, (one, other) in enumerate(zip(kept, found, strict=False)):
            yield from differences(one, other, f"{where}[{place}]", largest)
    elif not same(kept, found, beside):
        yield f"{where}: {kept!r} was kept, {found!r} is found"


def same(kept, found, beside: float = 0.0) -> bool:
    """Whether two single values are the same, of floats but for rounding."""
    if {type(kept), type(found)} != {float}:
        return kept == found
    return abs(kept - found) <= ABSOLUTE + RELATIVE * max(abs(kept), beside)


def problem_of(name: str, versions: Mapping[str, int], output, folder: Path = FOLDER) -> str:
    """What is wrong with an output beside its file; empty where nothing is. Where it shall be written, it is.

    Args:
        name: kind and name of the method, as its file is called: ``explainers/lime``.
        versions: by what a message calls them; the first is the method's own, others are of stages it depends on.
        output: what the method gives.
        folder: of all outputs.
    """
    path, found, writes = folder / f"{name}.json", plain(output), os.environ.get(VARIABLE) == "write"
    command = f"`make golden ONLY={name}`"
    if not path.exists():
        return _write(path, versions, found) if writes else f"{name} has no golden output; {command} writes it"
    file = json.loads(path.read_text(encoding="utf-8"))
    kept, parts = file["output"], file["output"].keys() & found.keys()
    changed = list(differences(_only(kept, parts), _only(found, parts)))
    raised = [each for each, version in versions.items() if file["versions"].get(each) != version]
    own = next(iter(versions))
    if changed and not raised:
        return (
            f"{name} gives other numbers, and no version says so ({changed[0]}; {len(changed)} such differences). "
            f"Mend what you did not mean to change; else raise the version of {own} by one, and {command} writes the "
            "new output"
        )
    if own in raised and own in file["versions"] and not changed:
        return (
            f"the version of {own} was raised, and {name} gives the same numbers, so that jobs would be made again for "
            "nothing; lower it, or let the fixed inputs show what is different"
        )
    if not raised and kept.keys() == found.keys():
        return ""
    if not writes:
        return f"{name} has other versions ({', '.join(raised)}) or other choices; {command} writes the new output"
    return _write(path, versions, found)


def _only(output: Mapping, parts: Collection[str]) -> dict:
    """Some parts of an output: a choice that came or went changes no other."""
    return {key: value for key, value in output.items() if key in parts}


def _write(path: Path, versions: Mapping[str, int], output) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of({"versions": dict(versions), "output": output}) + "\n", encoding="utf-8")
    return ""
