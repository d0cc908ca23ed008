"""Which libraries there are; and where a job has run, on which GPU, and with which of them: the last line of its log.

The log alone has that, so that results are the same byte for byte wherever they are made.
"""

import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Iterable

# Those that numbers can depend on; a job names the ones that it, or the process that it was forked from, has imported.
LIBRARIES = ("numpy", "pandas", "pyarrow", "scipy", "statsmodels", "matplotlib", "torch", "transformers", "tokenizers")
# Those that a model's weights and scores depend on, which files record.
OF_MODELS = ("torch", "transformers", "tokenizers", "numpy")
_BEGINNING = "made on "


def library_versions(names: Iterable[str] = OF_MODELS) -> dict[str, str]:
    """Versions of installed libraries, by default those that a model's weights and scores depend on."""
    return {name: importlib.metadata.version(name) for name in names}


def installed_versions() -> dict[str, str]:
    """The same of those that are installed: models may run in an environment of their own."""
    return library_versions(name for name in OF_MODELS if importlib.util.find_spec(name))


def print_environment() -> None:
    """Print the line, to where messages go."""
    system = os.uname()
    python = ".".join(map(str, sys.version_info[:3]))
    versions = [f"{name} {version}" for name in LIBRARIES if (version := _version(name))]
    named = ", ".join([f"Python {python}", *versions])
    machine = f"{system.nodename} ({system.sysname} {system.machine}{_gpu()})"
    print(f"{_BEGINNING}{machine} with {named}", file=sys.stderr, flush=True)


def _gpu() -> str:
    # Only a GPU that the job has used: asking for others would take memory there.
    torch = sys.modules.get("torch")
    return f", {torch.cuda.get_device_name()}" if torch and torch.cuda.is_initialized() else ""


def _version(name: str) -> str | None:
    return getattr(sys.modules.get(name), "__version__", None)


def environment_in(log: str) -> str:
    """What the line says in the text of a log; empty where it has none.

    >>> environment_in("4 comparisons\\nmade on host (Linux x86_64) with Python 3.11.7\\n")
    'host (Linux x86_64) with Python 3.11.7'
    """
    lines = [line for line in log.splitlines() if line.startswith(_BEGINNING)]
    return lines[-1].removeprefix(_BEGINNING) if lines else ""
