"""How the benchmark talks to its workers: one JSON object a line, asked and answered in turn.

Needs the standard library only, because workers run in environments of their own.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def serve(tasks: dict[str, Callable[[list[dict]], dict]]) -> None:
    """Answer requests on standard input until it ends.

    A request names a task and gives sentences (``words``, ``target``); the answer is what the task returns
    (``scores`` and, where known, ``rows``) with the ``seconds`` that it took, those of the processor, and the process's
    peak memory in MiB.
    """
    answers = sys.stdout
    # What libraries print must not mix with the answers.
    sys.stdout = sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        started, worked = time.perf_counter(), time.process_time()
        answer = tasks[request["task"]](request["sentences"])
        answer["seconds"] = time.perf_counter() - started
        answer["processor_seconds"] = time.process_time() - worked
        answer["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


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

    def ask(self, task: str, sentences: list[dict]) -> dict:
        """One task's answer; RuntimeError with the place of the log where the worker ended instead."""
        self.process.stdin.write(json.dumps({"task": task, "sentences": sentences}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker ended at task {task}; see {self.log}")
        return json.loads(line)

    def stop(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait()
