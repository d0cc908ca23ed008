"""Measure many types of models, each in a process of its own and with a file of its own, and put them into a table.

So a crash ends one type alone, and a second call goes on where the first one ended.
"""

import json
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from evenlight.models.classifier import Classifier

# The name of a type and an empty folder to what is found out about it.
Measure = Callable[[str, Path], dict]


def named(name: str) -> dict:
    """What a row says of its name: the type, and the kind where that stands behind a dot."""
    return dict(zip(("type", "kind"), name.split("."), strict=False))


def line(error: BaseException) -> str:
    """An error in a line, or two where the first one only announces the other."""
    first, *others = (str(error).strip() or "-").splitlines()
    return f"{type(error).__name__}: {' '.join([first, *(others[:1] if first.endswith(':') else [])])}"


def where(error: BaseException) -> str:
    """The last call of ours, and the last of all, in the trace of an error."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "evenlight" in frame.filename]
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in (frames[-1], *ours[-1:]))


def in_child(name: str, measured: Measure, output: Path) -> int:
    """Start a process that measures a type and writes what it finds; its id."""
    child = os.fork()
    if child:
        return child
    started = time.monotonic()
    # Who is ended from outside has found out nothing.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        torch.set_num_threads(1)
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        sys.stderr = open(output.with_suffix(".log"), "w")  # noqa: SIM115
        with TemporaryDirectory(prefix=f"{name}.") as folder:
            row = measured(name, Path(folder))
    except BaseException as error:
        row = named(name) | {"outcome": "traceback", "reason": line(error), "where": where(error)}
    write_row(row | {"seconds": round(time.monotonic() - started, 1)}, output)
    os._exit(0)


def write_row(row: dict, output: Path) -> None:
    """Write what was found out about a type."""
    unfinished = output.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(row, indent=1, default=float))
    unfinished.replace(output)


def sweep(
    names: Sequence[str],
    measured: Measure,
    folder: Path,
    jobs: int,
    limit: float,
    say: Callable[[str], None] = print,
) -> None:
    """Measure what has no file in ``folder`` yet, ``jobs`` at a time, each for at most ``limit`` seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [name for name in names if not (folder / f"{name}.json").exists()]
    running: dict[int, tuple[str, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop(0)
            running[in_child(name, measured, folder / f"{name}.json")] = name, time.monotonic()
        time.sleep(0.05)
        for child, (name, started) in list(running.items()):
            output = folder / f"{name}.json"
            if os.waitpid(child, os.WNOHANG)[0]:
                del running[child]
                if not output.exists():
                    write_row(named(name) | {"outcome": "traceback", "reason": "the process crashed"}, output)
                row = json.loads(output.read_text())
                say(f"{name}: {row['outcome']} {row.get('reason', '')[:150]} ({row.get('seconds')} s)")
            elif time.monotonic() - started > limit:
                os.kill(child, signal.SIGKILL)
                write_row(named(name) | {"outcome": "traceback", "reason": f"took longer than {limit:.0f} s"}, output)


def works(classifier: Classifier) -> dict[str, str]:
    """What a row says of a classifier that could be made."""
    return {
        "outcome": "works",
        "padding": "none" if classifier.model_inputs.reads_padding else "left" if classifier.pads_left else "right",
        "model_inputs": "embeddings and ids" if classifier.model_inputs.stand_ins else "embeddings",
    }


def asked_of(row: dict) -> dict[str, str]:
    """How a type that works is asked, for a file of comma-separated values."""
    return {
        "type": row["type"],
        "tokenizer": row["tokenizer"] if row["has_fast_tokenizer"] else f"({row['tokenizer']})",
        "padding": row["padding"],
        "by": "ids too" if row["model_inputs"] == "embeddings and ids" else "embeddings",
    }


def told(answer: dict) -> str:
    """What a file says of explanations without a text: nothing where they hold."""
    return {"holds": "", "traceback": "error"}.get(answer["verdict"], answer["verdict"])


def markdown(heading: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    """A table."""
    cells = [heading, ["---"] * len(heading), *lines]
    return ["| " + " | ".join(str(cell).replace("|", r"\|") for cell in line) + " |" for line in cells]


# What a reason says of one type alone, and its remedy, which a table leaves out.
OF_ONE_TYPE = (
    (r"^models\.<model>[.\w]*: ", ""),
    (r"; (set it to|choose another|it cannot be explained).*$", ""),
    (r"\. Place the files by hand.*$", ""),
    (r"the tokenizer puts \S+ behind", "the tokenizer puts a token behind"),
    (r"\ban? \S+ model (?=does not give|has no table|cannot be trained|with these)", "the model "),
)


def refusals(rows: Iterable[dict], *keys: str) -> list[tuple[str, ...]]:
    """A line of a table for all types that are alike in these keys, the outcome and the reason."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        reason = row["reason"]
        for pattern, words in OF_ONE_TYPE:
            reason = re.sub(pattern, words, reason)
        alike.setdefault((*(row[key] for key in keys), row["outcome"], reason), []).append(f"`{row['type']}`")
    return [(", ".join(types), *what) for what, types in alike.items()]


def machine() -> str:
    """The processor that torch computes with."""
    models = [text.split(":")[1] for text in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in text]
    return f"{models[0].strip() if models else 'a processor'}, torch {torch.__version__}"
