"""Warm starts: one process per run imports the large libraries, and forks for every job on this machine.

A command that asks a model needs seconds for imports before it works. Here a command becomes a client
(:func:`hand_over`) of a server that the Snakefile starts (:func:`start`) and that ends with it. The server gives each
job to a *forker*: a process that has the job's environment since before it imported anything, so that libraries read
the same variables as in a process of its own. The forker imports what jobs of that stage need, once, and forks; the
fork runs the command with the client's arguments, folder, umask and open files. The library ``evenlight`` is never
imported before the fork, so that edited code counts. No process forks that has a second thread or has touched a GPU.

Where anything differs (another Python, another user, no server, not Linux), the client runs the command itself.
This file is also the server's program; it imports the standard library only.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import selectors
import shutil
import signal
import socket
import struct
import sys
from collections import namedtuple
from pathlib import Path

SOCKET_VARIABLE = "EVENLIGHT_WARM_START_SOCKET"
SWITCH_VARIABLE = "EVENLIGHT_WARM_START"

# What the commands of a stage (the folder of the command) import of others' code. What is missing here, a job imports
# itself; what is too much costs the first job of the stage.
TABLES = ("pandas", "pyarrow.parquet", "pyarrow.compute")
STATISTICS = (*TABLES, "scipy.stats", "statsmodels.stats.power", "statsmodels.stats.multitest")
FIGURES = (*TABLES, "jinja2", "matplotlib.figure", "matplotlib.backends.backend_svg", "matplotlib.backends.backend_pdf")
MODELS = (
    *TABLES,
    "safetensors.torch",
    "tokenizers",
    "torch",
    "transformers.masking_utils",
    "transformers.modeling_utils",
    "transformers.models.auto.modeling_auto",
    "transformers.models.bert.modeling_bert",
    "transformers.models.camembert.modeling_camembert",
    "transformers.models.roberta.modeling_roberta",
    "transformers.models.xlm_roberta.modeling_xlm_roberta",
    "transformers.tokenization_utils_tokenizers",
)
LIBRARIES = {
    "corpus": TABLES,
    "datasets": TABLES,
    "models": MODELS,
    "explanations": MODELS,
    # No network is here: whoever has a table of answers, or asks for them, waits for no torch.
    "answers": TABLES,
    "results": STATISTICS,
    "figures": FIGURES,
    "checks": MODELS,
}

# Variables that Python and the system's loader read when a process starts: these must be the server's own.
READ_AT_START = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "GLIBC_")
# Variables that no library reads when it is imported, so that jobs that differ in them have a forker together.
READ_LATE = {"TMPDIR", "TMP", "TEMP", "TEMPDIR", "PWD", "OLDPWD", "SHLVL", "_"}
# A forker has some hundred megabytes. Snakemake's jobs differ in their number of threads at most.
MOST_FORKERS = 4

FORWARDED_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
SIGNALS_AFTER_STOP = (signal.SIGTSTP, signal.SIGCONT)
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
NUMBER_OF_FILES = 4  # the request, and the standard input, output and error


# The client ------------------------------------------------------------------------------------------


def hand_over() -> None:
    """Let the run's server do the command in ``sys.argv``, and end as it ends; return where it must be done here."""
    path = os.environ.get(SOCKET_VARIABLE)
    server = _connected(path) if path else None
    if server is None:
        return
    signals = {*FORWARDED_SIGNALS, *SIGNALS_AFTER_STOP}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    with server, server.makefile("rb") as replies:
        started = _asked(server) and replies.readline()
        if started:
            _forward_signals(server)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        if started:
            _end_like(replies.readline())


def _connected(path: str) -> socket.socket | None:
    """A connection to the server, which must be the user's own and in a folder that nobody else can enter."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        folder = os.stat(os.path.dirname(path))
        server.connect(path)
        if folder.st_uid == os.getuid() and not folder.st_mode & 0o077 and _peer(server)[1] == os.getuid():
            return server
    except OSError:
        pass
    server.close()
    return None


def _peer(connection: socket.socket) -> tuple[int, int]:
    """Process and user at the other end."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    process, user, _ = struct.unpack("3i", credentials)
    return process, user


def _asked(server: socket.socket) -> bool:
    """Whether the command could be sent."""
    request = {
        "interpreter": interpreter(),
        "argv": sys.argv,
        "path": sys.path,
        "folder": os.getcwd(),
        "umask": _umask(),
        "variables": dict(os.environ),
    }
    with open(os.memfd_create("job"), "w+b") as written:
        written.write(json.dumps(request).encode())
        written.flush()
        try:
            socket.send_fds(server, [b"j"], [written.fileno(), 0, 1, 2])
        except OSError:
            return False
    return True


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def interpreter() -> list:
    """What must be equal for a fork of one Python to stand for the start of another; nothing that JSON changes."""
    variables = {name: value for name, value in os.environ.items() if name.startswith(READ_AT_START)}
    return [sys.executable, sys.version, sys.prefix, list(sys.flags), sys.warnoptions, sys._xoptions, variables]


def _forward_signals(server: socket.socket) -> None:
    def forward(number: int, frame: object) -> None:
        with contextlib.suppress(OSError):
            server.send(bytes([signal.SIGSTOP if number == signal.SIGTSTP else number]))
        if number == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)

    for number in (*FORWARDED_SIGNALS, *SIGNALS_AFTER_STOP):
        # A signal that is ignored here (`nohup`) is so in a process that is started here.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, forward)


def _end_like(reply: bytes) -> None:
    """End as the job has ended."""
    if not reply:
        sys.exit(
            "error: the process that starts this run's jobs has ended, and this job with it; run the workflow again "
            f"({SWITCH_VARIABLE}=0 does without that process)"
        )
    status = int(reply)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    sys.exit(os.waitstatus_to_exitcode(status))


# What the Snakefile does -------------------------------------------------------------------------------


def start(measure=None):
    """Start a server for the jobs of this process, Snakemake's; None where that is switched off or cannot be.

    The server ends when its standard input does, so with this process, however that ends. ``measure`` is given a
    function from the number of a process to those of its jobs, for whoever measures what they take.
    """
    import subprocess
    import tempfile

    python = shutil.which("python")  # what rules call
    if os.environ.get(SWITCH_VARIABLE) == "0" or sys.platform != "linux" or not python:
        return None
    folder = Path(tempfile.mkdtemp(prefix="evenlight-"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            listener.bind(str(folder / "socket"))
        except OSError:  # the path is too long for a socket
            folder.rmdir()
            return None
        listener.listen(128)
        command = [python, __file__, str(folder), str(listener.fileno())]
        # A group of its own, so that Ctrl-C reaches the jobs once, through their clients.
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, pass_fds=[listener.fileno()], process_group=0, cwd="/"
        )
    os.environ[SOCKET_VARIABLE] = str(folder / "socket")
    if measure:
        measure(lambda client: _jobs_of(folder, client))
    return server


def _jobs_of(folder: Path, client: int) -> list[int]:
    """The process of a client's job, which is no child of the command that its rule calls; none of other processes."""
    try:
        return [int(os.readlink(folder / str(client)))]
    except OSError:
        return []


# The server ------------------------------------------------------------------------------------------


def _serve(folder: Path, listener: socket.socket) -> socket.socket:
    """Give jobs to forkers until the standard input ends; in a new forker, return what it gets its jobs from."""
    forkers: dict[tuple, socket.socket] = {}
    waiting = select.poll()
    waiting.register(0)
    waiting.register(listener, select.POLLIN)
    while True:
        for file, _ in waiting.poll():
            if file == 0:
                shutil.rmtree(folder, ignore_errors=True)
                os._exit(0)
            connection, _ = listener.accept()
            with connection:
                channel = _passed_on(connection, forkers)
                if channel:
                    listener.close()
                    return channel


def _passed_on(connection: socket.socket, forkers: dict[tuple, socket.socket]) -> socket.socket | None:
    """Give one job to its forker. In a new forker, return its channel; who is refused just sees the end."""
    connection.settimeout(10)
    if _peer(connection)[1] != os.getuid():
        return None
    files: list[int] = []
    try:
        _, files, _, _ = socket.recv_fds(connection, 1, NUMBER_OF_FILES)
        request = _request(files)
        connection.settimeout(None)
        if request.get("interpreter") != interpreter():
            return None
        variables = request["variables"]
        environment = frozenset((name, value) for name, value in variables.items() if name not in READ_LATE)
        likeness = (environment, tuple(request["path"]))
        if likeness not in forkers:
            if len(forkers) == MOST_FORKERS:
                return None
            forkers[likeness], channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            if os.fork() == 0:
                for inherited in forkers.values():
                    inherited.close()
                _become_like(request)
                return channel
            channel.close()
        try:
            socket.send_fds(forkers[likeness], [b"j"], [connection.fileno(), *files])
        except OSError:  # that forker is gone
            del forkers[likeness]
    except (OSError, ValueError):  # the client is gone
        pass
    finally:
        for file in files:
            os.close(file)
    return None


def _request(files: list[int]) -> dict:
    return json.loads(os.pread(files[0], os.fstat(files[0]).st_size, 0)) if len(files) >= NUMBER_OF_FILES else {}


def _become_like(request: dict) -> None:
    """Take on the variables and the import path of a job, before anything is imported."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.environ.clear()
    os.environ.update(request["variables"])
    # Arrow's second allocator, which nothing uses, would start a thread when it is loaded.
    os.environ.setdefault("JE_ARROW_MALLOC_CONF", "background_thread:false")
    sys.path[:] = request["path"]


# One job of a forker: its process, a file that tells of its end, and its client.
Job = namedtuple("Job", ("process", "end", "client"))


def _fork_jobs(folder: Path, channel: socket.socket) -> tuple[dict, list[int]]:
    """Fork for every job until the channel ends; in a job, return its request and its files."""
    waiting = selectors.PollSelector()
    waiting.register(channel, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            if key.fd not in waiting.get_map():
                continue  # ended in this very round
            job = key.data
            if job is None:
                _, files, _, _ = socket.recv_fds(channel, 1, NUMBER_OF_FILES + 1)
                if not files:
                    for group in {key.data for key in waiting.get_map().values()} - {None}:
                        _kill_group(group)
                    os._exit(0)
                request = _request(files[1:])
                os.close(files[1])
                if _forked(request, socket.socket(fileno=files[0]), folder, waiting):
                    return request, files[2:]
                for file in files[2:]:
                    os.close(file)
            elif key.fileobj is job.client:
                _heed(job, waiting)
            else:
                _report_end(job, folder, waiting)


def _forked(request: dict, client: socket.socket, folder: Path, waiting: selectors.PollSelector) -> bool:
    """Fork for one job; whether this is the fork. Where it would not be safe, the client just sees the end."""
    _load(LIBRARIES.get(Path(request["argv"][0]).parent.name, ()))
    forker = os.getpid()
    process = os.fork() if _may_fork() else None
    if process == 0:
        # Until the job's own code begins, an interrupt ends it without a word.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        _die_with(forker)
        for key in list(waiting.get_map().values()):
            key.fileobj.close() if isinstance(key.fileobj, socket.socket) else os.close(key.fd)
        client.close()
        return True
    if process is None:
        client.close()
        return False
    with contextlib.suppress(OSError):
        os.setpgid(process, process)  # here and in the job, as either may be first
    job = Job(process, os.pidfd_open(process), client)
    waiting.register(job.end, selectors.EVENT_READ, job)
    waiting.register(client, selectors.EVENT_READ, job)
    with contextlib.suppress(OSError):
        client.send(b"started\n")
    # For the benchmark only; one that is left of a client with the same number may be in its way.
    with contextlib.suppress(OSError):
        os.symlink(str(process), folder / str(_peer(client)[0]))
    return False


def _heed(job: Job, waiting: selectors.PollSelector) -> None:
    """Pass on the signals that a client got; a client that is gone takes its job with it."""
    try:
        numbers = job.client.recv(64)
    except OSError:
        numbers = b""
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(job.end, number)
    if not numbers:
        _kill_group(job)
        waiting.unregister(job.client)


def _report_end(job: Job, folder: Path, waiting: selectors.PollSelector) -> None:
    """Tell the client how its job has ended."""
    _, status = os.waitpid(job.process, 0)
    with contextlib.suppress(OSError):
        (folder / str(_peer(job.client)[0])).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        job.client.send(f"{status}\n".encode())
    waiting.unregister(job.end)
    os.close(job.end)
    with contextlib.suppress(KeyError):
        waiting.unregister(job.client)
    job.client.close()


def _kill_group(job: Job) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job.process, signal.SIGKILL)


def _load(libraries: tuple[str, ...]) -> None:
    """Import what is not there yet; what cannot be imported, the job itself will report."""
    missing = [name for name in libraries if name not in sys.modules]
    for name in missing:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    if missing:
        gc.collect()
        gc.freeze()  # else each fork would copy all pages when it first collects garbage


def _may_fork() -> bool:
    """Whether a fork is like a new process: no second thread, and nothing of a GPU, which a fork cannot use."""
    if _threads() > 1:
        # OpenBLAS ends its threads when a process forks, and starts them when it needs them again.
        if (process := os.fork()) == 0:
            os._exit(0)
        os.waitpid(process, 0)
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    return _threads() == 1 and not (cuda and cuda.is_initialized())


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _die_with(parent: int) -> None:
    """Become a process group that is killed when the parent ends."""
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _take_over(request: dict, files: list[int]) -> None:
    """Give this process what the client has: files, folder, umask, variables and arguments."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())
    os.chdir(request["folder"])
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["variables"])
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None  # else what TMPDIR was for another job
    sys.argv[:] = request["argv"]
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end() -> None:
    """End as Python does, but leave everything where it is: to take it down would copy the pages of another process."""
    import atexit
    import threading

    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    FOLDER = Path(sys.argv[1])
    CHANNEL = _serve(FOLDER, socket.socket(fileno=int(sys.argv[2])))
    _take_over(*_fork_jobs(FOLDER, CHANNEL))
    runpy.run_path(sys.argv[0], run_name="__main__")
    from evenlight.jobs.environment import print_environment

    print_environment()
    _end()
