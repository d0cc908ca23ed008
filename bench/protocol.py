"""How the benchmark talks to its workers: one JSON object a line, asked and answered in turn.

Needs the standard library only, because workers run in environments of their own; torch is asked about a graphics card
only where a worker has it anyway.
"""

import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def serve(tasks: dict[str, Callable[[list[dict]], dict]]) -> None:
    """Answer requests on standard input until it ends.

    A request names a task and gives sentences (``words``, ``target``); the answer is what the task returns
    (``scores`` and, where known, ``rows``) with the ``seconds`` that it took, those of the processor, and the process's
    peak memory in MiB, on a graphics card that of the card. A request that is ``watched`` has the ``busy`` seconds of
    the card, too, and takes longer for it.
    """
    answers = sys.stdout
    # What libraries print must not mix with the answers.
    sys.stdout = sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        cuda = _cuda()
        if cuda:
            cuda.reset_peak_memory_stats()
        with _watched(bool(cuda and request.get("watched"))) as busy:
            started, worked = time.perf_counter(), time.process_time()
            answer = tasks[request["task"]](request["sentences"])
            if cuda:
                cuda.synchronize()
            answer["seconds"] = time.perf_counter() - started
            answer["processor_seconds"] = time.process_time() - worked
        answer["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if cuda:
            answer |= busy | {"peak_mib": cuda.max_memory_allocated() / 2**20}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _cuda():
    """What torch says of the graphics card, where this process has used it."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    return cuda if cuda and cuda.is_initialized() else None


@contextmanager
def _watched(is_watched: bool) -> Iterator[dict]:
    """A mapping that has the seconds in which the card worked, ``busy``, once this ends; empty where nobody watches."""
    busy = {}
    if not is_watched:
        yield busy
        return
    profiler = importlib.import_module("torch.profiler")
    with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as profile:
        yield busy
    kernels = [event for event in profile.events() if event.device_type.name == "CUDA"]
    busy["busy"] = sum(event.time_range.elapsed_us() for event in kernels) / 1e6


class Worker:
    """A worker in a process of its own, started once, so that what is timed is the work and no import."""

    def __init__(self, python: str | Path, script: Path, *arguments: str, log: Path):
        self.log = log
        self.process = subprocess.Popen(
            [str(python), str(script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
        )

    def ask(self, task: str, sentences: list[dict], **request: object) -> dict:
        """One task's answer; RuntimeError with the place of the log where the worker ended instead."""
        self.process.stdin.write(json.dumps({"task": task, "sentences": sentences, **request}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker ended at task {task}; see {self.log}")
        return json.loads(line)

    def stop(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait()
