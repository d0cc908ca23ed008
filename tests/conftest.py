"""What tests of every folder share: the data that is never committed, and what its absence means."""

import gc
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest
from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("evenlight", deadline=None, max_examples=40)
settings.load_profile("evenlight")

# Commands that the tests start find the library of this working tree, whatever is installed.
LIBRARY = str(Path(__file__).parents[1] / "workflow" / "scripts")
os.environ["PYTHONPATH"] = os.pathsep.join([LIBRARY, *filter(None, [os.environ.get("PYTHONPATH")])])

# Tests of one room take what tests of others have made.
sys.path += sorted({str(path.parent) for path in Path(__file__).parent.glob("unit/*/test_*.py")})

# What is compiled once is kept, though Python may be asked not to.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The models of the tests are tiny: threads that wait for each other would cost more than they compute.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# shap compiles for five seconds what then takes some hundredths of one.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole studies before single functions, so that in the end no process is left alone with a study."""
    items.sort(key=lambda item: item.path.is_relative_to(Path(__file__).parent / "unit"))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """What is imported is never garbage, which statsmodels has searched for at each adjustment of p."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def unavailable(reason: str, remedy: str) -> NoReturn:
    """Skip the test, saying why and what would let it run; in continuous integration fail it instead."""
    message = f"{reason}. Remedy: {remedy}"
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(f"{message} (with CI=true this is a failure, not a skip)", pytrace=False)
    pytest.skip(message)


def folder_named_by(variable: str, holds: str, default: Path | None = None) -> Path:
    """The absolute path of the folder that the environment variable names, else of ``default``."""
    remedy = f"set {variable} to the folder that holds {holds}"
    named = os.environ.get(variable)
    if not named and default is None:
        unavailable(f"{variable} is not set", remedy)
    folder = Path(named).resolve() if named else default
    if not folder.is_dir():
        origin = variable if named else f"{variable} is not set, and its default"
        unavailable(f"{origin}, {folder}, is not a folder", remedy)
    return folder


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The mirror of the published datasets; the test is skipped where there is none."""
    return folder_named_by("EVENLIGHT_MIRROR", "the published datasets (geco/ and others)")


@pytest.fixture(scope="session")
def peer_data() -> Path:
    """What other tools recorded, to be held against our results; by default the mirror's neighbour ``golden``."""
    mirrored = os.environ.get("EVENLIGHT_MIRROR")
    default = Path(mirrored).resolve().parent / "golden" if mirrored else None
    return folder_named_by("EVENLIGHT_PEER_DATA", "the recorded results of other tools", default)


def interpreter_of(name: str) -> Path:
    """The interpreter of the environment ``.venv-<name>``, which the Makefile makes, or of the one that is named."""
    variable = f"EVENLIGHT_{name.upper()}_PYTHON"
    python = Path(os.environ.get(variable, Path(__file__).parents[1] / f".venv-{name}" / "bin" / "python"))
    if not python.is_file():
        unavailable(f"{python} is not there", f"`make .venv-{name}/ready`, or name another in {variable}")
    return python


@pytest.fixture(scope="session")
def archive_python() -> str:
    """The interpreter of the environment that packs studies and validates crates."""
    return str(interpreter_of("archive"))


@pytest.fixture(scope="session")
def kubernetes_python() -> Path:
    """The interpreter of the environment that sends jobs to Kubernetes."""
    return interpreter_of("kubernetes")


@pytest.fixture(scope="session")
def snakesee() -> str:
    """The command that shows how far a run is; see the Makefile."""
    default = Path(__file__).parents[1] / ".venv-progress" / "bin" / "snakesee"
    command = Path(os.environ.get("EVENLIGHT_SNAKESEE", default))
    if not command.is_file():
        unavailable(f"{command} is not there", "`make .venv-progress/ready`, or name another in EVENLIGHT_SNAKESEE")
    return str(command)


@pytest.fixture(scope="session")
def docs_python() -> str:
    """The interpreter of the environment that makes the documentation's site."""
    return str(interpreter_of("docs"))


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, from its environment: it finds what keeps people from using a page."""
    [script] = interpreter_of("axe").parents[1].glob("lib/python*/site-packages/axe_playwright_python/axe.min.js")
    return script.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def notebooks() -> ModuleType:
    """What runs the notebooks of the documentation: bench/notebooks.py, and the kernel that it asks for."""
    try:
        import ipykernel  # noqa: F401
        import notebooks
    except ModuleNotFoundError as missing:
        unavailable(f"{missing.name} is not installed", "`make .venv/ready-for-tests`, or envs/tests.txt")
    return notebooks


@pytest.fixture(scope="session")
def browser() -> str:
    """The name of a browser that starts on this machine, for ``browser.fetching`` and the scripts' ``--browser``."""
    from evenlight.corpus.browser import CrawlPolicy, NoBrowser, start_browser

    problems = []
    for name in ("chromium", "firefox"):
        try:
            start_browser(name, CrawlPolicy()).quit()
        except NoBrowser as problem:
            problems.append(str(problem))
        else:
            return name
    unavailable(f"no browser starts here ({'; '.join(problems)})", "apt install chromium chromium-driver")


@pytest.fixture(scope="session")
def chromium(browser):
    """A browser that keeps what is logged and asked of the network."""
    if browser != "chromium":
        pytest.skip("needs Chromium, which tells what it asks of the network and what screen readers get")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.binary_location = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def driver(chromium):
    """The same one, which has forgotten the screens of the tests before."""
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    return chromium


@pytest.fixture(scope="session")
def slurm_programs() -> None:
    """Slurm is installed on this machine, and a test may start it."""
    programs = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "srun")
    # Daemons lie where the paths of users do not always lead.
    paths = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
    if missing := [name for name in programs if not shutil.which(name, path=paths)]:
        unavailable(f"no {', '.join(missing)} here", "apt install slurm-wlm munge")
