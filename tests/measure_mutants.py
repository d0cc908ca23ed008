"""Change the code in small ways, one at a time, and count which changes no test notices (mutation testing).

It runs in an environment with mutmut (docs/mutation.md). Each module is changed in a copy of the library below
``--folder``, against the test files that concern it (:data:`TESTS`), and only by those tests that reach the changed
function, so that most mutants cost less than a second. Results are kept there: a second call tests again what no test
noticed, after new tests.
Written are ``mutants.csv``, one row per module that was run in this folder, now or before, and ``survivors.txt`` with
the differences that no test noticed. mutmut changes what is inside functions; tables of constants stay as they are, and
so do functions with decorators.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
LIBRARY = REPOSITORY / "workflow" / "scripts" / "evenlight"
# What tests read besides the library.
NEEDED = ("tests", "config", "docs", "resources", "rules", "envs", "workflow", "bench")
# Variables that the tests must not see: a path to the library that is not changed; and published data, of which every
# mutant would read much again, with a result that depends on the machine.
HIDDEN = ("PYTHONPATH", "EVENLIGHT_MIRROR", "EVENLIGHT_PEER_DATA", "CI")

# The files of tests/unit that concern a module, without `test_` and `.py`, where they are not that of its own name.
TESTED_BY = {
    "statistics/comparisons/verdict_tables": ("effects",),
    "statistics/comparisons/verdicts": ("effects",),
    "statistics/comparisons/wins": ("effects",),
    "statistics/comparisons/mean_effects": ("effects", "beyond_random"),
    "statistics/analyses/faithfulness": ("changed_questions",),
    "statistics/arrays/rank_sum": ("rank_sum", "strata"),
    "metrics/explanations": ("metrics",),
    "metrics/answered": ("changed_questions",),
    "metrics/base": ("metrics", "configuration", "planned_rows"),
    "metrics/families/answers/scored": ("text_metrics",),
    "metrics/families/faithfulness/__init__": ("metrics", "aopc_of_words"),
    "metrics/families/soft/__init__": ("soft_metrics",),
    "metrics/families/worst_change/__init__": ("sensitivity",),
    "metrics/families/reasons/__init__": ("changed_questions", "reasons"),
    "metrics/families/follow_ups/__init__": ("follow_ups",),
    "metrics/families/complexity": ("metrics",),
    "metrics/families/correctness/__init__": ("metrics", "plausibility"),
    "metrics/families/correctness/words": ("plausibility",),
    "metrics/families/faithfulness/curves": ("metrics", "aopc_of_words"),
    "metrics/perturbed_inputs": ("sensitivity",),
    "metrics/questions": ("served_models",),
    "metrics/families/reasons/of_questions": ("changed_questions",),
    "metrics/families/follow_ups/scored": ("follow_ups",),
    "statistics/arrays/change": ("audit_changes",),
    "statistics/arrays/resamples": ("compared_strategies", "mean"),
    "texts/items": ("items", "cells"),
    "statistics/comparisons/files": ("score_files", "model_quality"),
    "statistics/comparisons/study": ("study", "cells", "model_quality"),
    "statistics/analyses/base": ("results", "looks"),
    "statistics/arrays/blocks": ("multiple_testing",),
    "statistics/arrays/exact_tests": ("sign_test", "worst"),
    "statistics/arrays/units": ("units", "rounding"),
    "statistics/arrays/multiple_testing": ("multiple_testing", "looks"),
    "statistics/comparisons/reading": ("cells", "strata", "some_datasets"),
    "statistics/arrays/intervals": ("intervals", "strata"),
    "statistics/comparisons/compared": ("compared_strategies",),
    "statistics/analyses/concept_summary": ("concept_tables", "concepts"),
    "statistics/analyses/draws": ("answers",),
    "statistics/analyses/decision_counts": ("page_of_answers",),
    "statistics/comparisons/strategies": ("compared_strategies",),
    "statistics/analyses/strategy_summary": ("compared_strategies",),
    "statistics/comparisons/cells": ("cells", "disparity", "answers"),
    "statistics/arrays/jackknife": ("covariate_adjusted",),
    "statistics/comparisons/chance_level": ("model_quality",),
    "statistics/analyses/definitions": ("definitions",),
    "statistics/comparisons/look_plans": ("looks",),
    "statistics/analyses/look_records": ("looks",),
    "statistics/analyses/judged_texts": ("interim_analyses",),
    "statistics/analyses/text_counts": ("page_words",),
    "statistics/analyses/without_words": ("page_words",),
    "statistics/comparisons/explained_words": ("page_views", "page_words"),
    "metrics/__init__": ("metrics",),
    "metrics/families/soft/thinned": ("soft_metrics",),
    "metrics/families/answers/__init__": ("text_metrics",),
    "metrics/families/answers/draws": ("text_metrics",),
    "metrics/families/answers/languages": ("text_metrics",),
    "metrics/families/answers/lexicons": ("text_metrics",),
    "metrics/families/answers/readability": ("text_metrics",),
    "metrics/families/answers/reading": ("text_metrics",),
    "metrics/families/answers/sentiment": ("text_metrics",),
    "metrics/families/answers/variety": ("text_metrics",),
    "metrics/families/worst_change/balls": ("sensitivity",),
    "metrics/families/flip_area/__init__": ("sensitivity",),
    "metrics/families/flip_area/corrected": ("sensitivity",),
    "metrics/families/flip_area/released": ("sensitivity",),
}


def modules() -> list[str]:
    """Every module of metrics and statistics that has functions, and two that all of them rest on; small ones first."""
    paths = [path for part in ("metrics", "statistics") for path in (LIBRARY / part).rglob("*.py")]
    paths = [path for path in paths if "def " in path.read_text()]
    paths += [LIBRARY / "core" / "tables.py", LIBRARY / "texts" / "items.py"]
    ordered = sorted(paths, key=lambda path: (path.stat().st_size, path))
    return [path.relative_to(LIBRARY).with_suffix("").as_posix() for path in ordered]


TESTS = {module: TESTED_BY.get(module, (Path(module).name,)) for module in modules()}
# Every file of tests by its name.
FILES = {path.stem.removeprefix("test_"): path for path in (REPOSITORY / "tests/unit").rglob("test_*.py")}
STATES = ("killed", "survived", "no tests", "timeout", "not checked")

CONFIGURATION = """\
[tool.mutmut]
source_paths = ["src"]
only_mutate = ["src/evenlight/{module}.py"]
also_copy = {also_copy}
pytest_add_cli_args = ["-m", "not slow", "-p", "no:cacheprovider", "--hypothesis-profile", "mutation"]
pytest_add_cli_args_test_selection = {tests}
timeout_multiplier = 5.0
timeout_constant = 4.0
track_dependencies = false
use_git_change_detection = false

[tool.pytest.ini_options]
pythonpath = ["src", "workflow/scripts", "workflow/tools", "bench", "bench/verdicts", "tests/unit"]
markers = ["slow: takes more than half a minute"]
"""


def main() -> None:
    """Run the modules that are asked for, one after the other, and write what is known of all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--modules", nargs="+", choices=TESTS, default=list(TESTS), metavar="MODULE")
    parser.add_argument("--folder", type=Path, required=True, help="where copies and results are kept")
    parser.add_argument("--again", action="store_true", help="forget what earlier calls found about these modules")
    arguments = parser.parse_args()
    for module in arguments.modules:
        folder = arguments.folder.resolve() / module.replace("/", ".")
        if arguments.again:
            shutil.rmtree(folder, ignore_errors=True)
        test_module(module, folder)
        write_results(arguments.folder)


def test_module(module: str, folder: Path) -> None:
    """Make the mutants of a module in ``folder`` and test them; after an earlier call those that no test has noticed.

    So are those that took too long, which on a busy machine may be the machine. A module that has changed since then
    begins again, and so does one with other files of tests.
    """
    now = {
        folder / "src" / "evenlight" / f"{module}.py": (LIBRARY / f"{module}.py").read_text(),
        folder / "pyproject.toml": configuration(module),
    }
    if any(path.exists() and path.read_text() != text for path, text in now.items()):
        shutil.rmtree(folder)
    lay_out(module, folder)
    states = states_of(folder, module)
    left = [name for name, state in states.items() if state != "killed"]
    if states and not left:
        return
    # Which tests reach which function: those that have changed may reach others.
    (folder / "mutants" / "mutmut-stats.json").unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if name not in HIDDEN}
    print(f"== {module}", flush=True)
    with (folder / "log.txt").open("w") as log:
        status = subprocess.run(
            [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *left],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        ).returncode
    if status:
        sys.exit(f"error: {module}: mutmut ended with {status}; see {folder / 'log.txt'}")
    list_survivors(folder, module)


def lay_out(module: str, folder: Path) -> None:
    """Copy the library to ``src/``, where mutmut finds its name, with the tests and what they read beside it."""
    for part in ("src", *NEEDED):
        shutil.rmtree(folder / part, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", ".snakemake", "*.egg-info")
    shutil.copytree(LIBRARY, folder / "src" / "evenlight", ignore=ignored)
    for part in NEEDED:
        shutil.copytree(REPOSITORY / part, folder / part, ignore=ignored)
    (folder / "pyproject.toml").write_text(configuration(module))


def configuration(module: str) -> str:
    """What mutmut and pytest are told about a module."""
    tests = [FILES[name].relative_to(REPOSITORY).as_posix() for name in TESTS[module]]
    also_copy = [part for part in NEEDED if part != "tests"]
    return CONFIGURATION.format(module=module, also_copy=json.dumps(also_copy), tests=json.dumps(tests))


def write_results(folder: Path) -> None:
    """Write the table and the list of all modules that have results in ``folder``."""
    rows, survivors = ["module,mutants," + ",".join(state.replace(" ", "_") for state in STATES)], []
    for module in TESTS:
        of_module = folder / module.replace("/", ".")
        states = states_of(of_module, module)
        if not states:
            continue
        counts = Counter(states.values())
        if other := set(counts) - set(STATES):
            sys.exit(f"error: {module}: mutants that are {', '.join(other)}; see {of_module / 'log.txt'}")
        rows.append(f"{module},{len(states)}," + ",".join(str(counts[state]) for state in STATES))
        if not (of_module / "survivors.txt").exists():  # its run was cut short
            list_survivors(of_module, module)
        survivors.append((of_module / "survivors.txt").read_text())
    (folder / "mutants.csv").write_text("\n".join(rows) + "\n")
    (folder / "survivors.txt").write_text("\n".join(survivors))


def states_of(folder: Path, module: str) -> dict[str, str]:
    """What became of each mutant of a module, by its name."""
    from mutmut.stats import status_by_exit_code

    record = folder / "mutants" / "src" / "evenlight" / f"{module}.py.meta"
    if not record.exists():
        return {}
    return {
        name: status_by_exit_code[code] for name, code in json.loads(record.read_text())["exit_code_by_key"].items()
    }


def list_survivors(folder: Path, module: str) -> None:
    """Write the lines that each mutant changes that no test noticed, below its name."""
    from mutmut.configuration import reset_config
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    left = [name for name, state in states_of(folder, module).items() if state in ("survived", "no tests")]
    texts = []
    reset_config()  # mutmut reads its configuration in the folder where it is
    with contextlib.chdir(folder):
        for name in left:
            lines = get_diff_for_mutant(name).splitlines()
            texts += [f"# {name}", *(line for line in lines if re.match(r"[-+](?!--|\+\+)", line)), ""]
    (folder / "survivors.txt").write_text("\n".join(texts))


if __name__ == "__main__":
    main()
