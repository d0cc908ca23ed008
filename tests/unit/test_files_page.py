"""docs/files.md and the contracts that it is written from."""

import re
from argparse import Namespace
from pathlib import Path

import pytest
from document_files import PAGE, STAGES, WITHOUT_CONTRACT, documented, main, page

from evenlight.core.errors import InputError
from evenlight.judging.results import Result

ROOT = Path(__file__).parents[2]
ASKED = (ROOT / "workflow/scripts/evenlight/workflow").glob("*.py")  # what rules ask
RULES = "\n".join(path.read_text() for path in [*(ROOT / "rules").rglob("*.smk"), *ASKED])
TABLES = {table for result in Result.entries.values() for table in result.tables}
EVERY = [one for stage in STAGES for one in documented(stage)]


def test_the_page_agrees_with_the_contracts(tmp_path):
    main(Namespace(page=PAGE, check=True))
    old = tmp_path / "files.md"
    old.write_text(page().replace("item_id", "text_id"))
    with pytest.raises(InputError, match=r"does not agree .* run python bench/document_files\.py"):
        main(Namespace(page=old, check=True))


def test_every_module_of_contracts_is_a_stage():
    modules = {path.stem for path in (ROOT / "workflow/scripts/evenlight/core/contracts").glob("*.py")}
    assert modules == {*STAGES, "__init__", "fields"}


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_paths_are_those_of_the_rules(one):
    """A table of results stands in the rules by its name, another file by its path or by that of its folder."""
    for path in re.findall(r"`([^`]+)\.parquet`", one.where):
        name = path.rpartition("/")[2]
        is_result = path.startswith("tables/")
        assert name in TABLES or f'"{name}"' in RULES if is_result else f"<results>/{path.partition('/')[0]}/" in RULES


def test_rules_of_files_are_there():
    named = {rule for *_, rules in WITHOUT_CONTRACT for rule in re.findall(r"`(\w+)`", rules)}
    named |= {one.contract.rule for one in EVERY if one.contract.rule != "attribute"}
    assert len(named) > 40
    made = r'rule {0}:|"{0}": \w+\(|jobs_of\("{0}"'
    in_rules = {rule for rule in named if re.search(made.format(rule), RULES)}
    assert named - in_rules - Result.entries.keys() == set()
