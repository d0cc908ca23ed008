"""The browser that the tests of this folder drive."""

from pathlib import Path

import pytest

from evenlight.corpus.browser import Manners, NoBrowser, start_browser


@pytest.fixture(scope="session")
def browser(request) -> str:
    """The name of a browser that starts on this machine, for ``browser.fetching`` and the scripts' ``--browser``."""
    problems = []
    for name in ("chromium", "firefox"):
        try:
            start_browser(name, Manners()).quit()
        except NoBrowser as problem:
            problems.append(str(problem))
        else:
            return name
    shared = request.config.pluginmanager.get_plugin(str(Path(__file__).parents[1] / "conftest.py"))
    shared.unavailable(f"no browser starts here ({'; '.join(problems)})", "apt install chromium chromium-driver")
