"""The guide to verdicts: short, with every word that the code has for one, and linked where a reader meets one."""

import re
from pathlib import Path

import pytest

from evenlight.reports.pages.effects import VERDICTS
from evenlight.reports.questions import READ

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "read_a_verdict.md"
ENDING = " for these trained models"


def test_it_has_at_most_700_words_in_short_sentences():
    text = re.sub(r"\]\([^)]*\)", "]", GUIDE.read_text(encoding="utf-8"))
    assert len([word for word in text.split() if re.search(r"\w", word)]) <= 700
    prose = " ".join(line for line in text.splitlines() if line and line[0] not in "#|!")
    assert max(len(sentence.split()) for sentence in re.split(r"(?<=[.:?])\s", prose)) <= 25


def test_its_table_has_the_words_and_signs_of_the_code():
    rows = [line.split(" | ")[:2] for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    told = {verdict: sign.removeprefix("| ") for sign, verdict in rows}
    signs = {verdict: sign for verdict, (sign, _) in VERDICTS.items()}
    assert {verdict: told.get(verdict) for verdict in signs if not verdict.endswith(ENDING)} == {
        verdict: sign for verdict, sign in signs.items() if not verdict.endswith(ENDING)
    }
    # The others are said in one sentence.
    said = GUIDE.read_text(encoding="utf-8")
    assert all(f"{sign}" in said for verdict, sign in signs.items() if verdict.endswith(ENDING))


@pytest.mark.parametrize("page", ["README.md", "docs/use.md", "docs/audit.md", "docs/explorer.md"])
def test_who_meets_a_verdict_finds_it(page):
    links = re.findall(r"\]\(([^)#]*)", (ROOT / page).read_text(encoding="utf-8"))
    assert GUIDE in [((ROOT / page).parent / link).resolve() for link in links]


def test_pages_name_a_file_that_is_there():
    named = re.findall(r"docs/\w+\.md", READ[1])
    assert len(named) == 2
    assert all((ROOT / name).is_file() for name in named)
