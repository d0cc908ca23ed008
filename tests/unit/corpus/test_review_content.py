"""What annotators are shown, and the file it is written into; that the page works is tested in tests/browser."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from commands import run_command
from jsonschema import Draft202012Validator
from review_samples import FORMS, candidate_rows, draft_rows, write_samples

from evenlight.core.contracts.corpus import CANDIDATES
from evenlight.core.errors import InputError
from evenlight.core.tables import write_table
from evenlight.corpus.annotation import GROUPS, SCOPES
from evenlight.corpus.annotation.review_page import content_digest, render, review_sentences

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def sentences(tmp_path) -> list[dict]:
    return review_sentences(*write_samples(tmp_path))


class Scripts(HTMLParser):
    """The scripts of a page, and every tag, as a browser's parser finds them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts, self.tags, self.addresses = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script":
            self.scripts[-1] += data


# The content ------------------------------------------------------------------------------------------------------


def test_sentences_have_all_forms_in_order(sentences):
    assert [sentence["sentence_id"] for sentence in sentences] == ["b1-1", "b1-2", "b2-1"]
    assert all([(form["scope"], form["group"]) for form in sentence["forms"]] == FORMS for sentence in sentences)
    assert sentences[0]["forms"][5]["words"] == ["They", "visit", "their", "parent's sibling", "'s", "house", "."]
    assert sentences[0]["forms"][5]["ground_truth"] == [1, 1, 1, 1, 0, 0, 0]
    assert (sentences[1]["root"], sentences[1]["subject"]) == (10, [2, 0])


def test_words_are_spaced_as_in_the_text(sentences):
    assert sentences[0]["glued"] == [4, 6]  # aunt's, house.
    assert sentences[1]["glued"] == [4, 5, 7, 8, 11]  # [sic], “façade”, sleeps.
    assert sentences[2]["glued"] == []


def test_words_that_are_not_the_texts_are_spaced_throughout(tmp_path):
    rows = candidate_rows()
    rows[0]["text"] = "She visits the house of her aunt."
    assert review_sentences(*write_samples(tmp_path, candidates=rows))[0]["glued"] == []


def test_digest_tells_versions_apart_and_nothing_else(tmp_path, sentences):
    again = review_sentences(*write_samples(tmp_path, drafts=draft_rows()[::-1]))
    assert content_digest(again) == content_digest(sentences)
    rows = draft_rows()
    rows[0]["ground_truth"][0] = 0
    assert content_digest(review_sentences(*write_samples(tmp_path, drafts=rows))) != content_digest(sentences)
    assert re.fullmatch("[0-9a-f]{64}", content_digest(sentences))


def test_nothing_may_stand_in_the_place_of_a_word(tmp_path):
    rows = draft_rows()
    rows[0]["words"][3] = ""
    assert review_sentences(*write_samples(tmp_path, drafts=rows))[0]["forms"][0]["words"][3] == ""


def changed(rows: list[dict], number: int, **cells) -> list[dict]:
    rows[number] |= cells
    return rows


@pytest.mark.parametrize(
    ("candidates", "drafts", "message"),
    [
        (None, draft_rows()[6:], r"drafts\.parquet: no form.*sentence 'b1-1'.*rule draft_variants"),
        (candidate_rows()[1:], None, r"sentence 'b1-1'.*no candidate.*candidates\.parquet"),
        (None, [*draft_rows(), draft_rows()[0]], r"row 19, sentence 'b1-1': a second form 'subject male'"),
        (None, changed(draft_rows(), 0, scope="object"), r"row 1, .*scope and group are 'object male', known are"),
        (None, draft_rows()[:-1], r"sentence 'b2-1'.*other forms.*'b1-1'"),
        (None, changed(draft_rows(), 1, words=["She"]), r"form 'subject female': 1 words and 7 values .* for 7 words"),
        (None, changed(draft_rows(), 1, ground_truth=[0] * 6), r"7 words and 6 values.*ground truth.*7 words"),
        (None, changed(draft_rows(), 1, ground_truth=[2] * 7), "ground truth other"),
        (None, changed(draft_rows(), 1, words=[" "] * 7), r"'subject female':.*no word"),
        (changed(candidate_rows(), 0, root=7), None, r"row 1, sentence 'b1-1': column 'root' names word 7 of 7"),
        (changed(candidate_rows(), 0, subject=[-1]), None, r"column 'subject' names word -1 of 7"),
        (changed(candidate_rows(), 2, words=["He", " ", "."]), None, r"row 3.*column 'words' has ' '"),
        (changed(candidate_rows(), 2, sentence_id="b1-1"), None, r"row 3.*the same sentence_id as in row 1"),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path, candidates, drafts, message):
    with pytest.raises(InputError, match=message):
        review_sentences(*write_samples(tmp_path, candidates, drafts))


def test_no_sentence_at_all_is_refused(tmp_path):
    candidates, drafts = write_samples(tmp_path)
    write_table(CANDIDATES.schema.empty_table(), candidates, CANDIDATES)
    with pytest.raises(InputError, match=r"candidates\.parquet: no sentence"):
        review_sentences(candidates, drafts)


# The page ---------------------------------------------------------------------------------------------------------


def test_page_carries_its_content_unharmed(sentences):
    found = Scripts(render(sentences, "A & <b>B</b>", "de"))
    content = json.loads(found.scripts[0])
    assert content["sentences"] == sentences
    assert content["digest"] == content_digest(sentences)
    assert content["language"] == "de"
    assert len(found.scripts) == 2
    assert "b" not in found.tags


def test_page_needs_nothing_else(sentences):
    page = render(sentences, "Review", "en")
    assert set(Scripts(page).addresses) == {"#heading", "data:,"}
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|@import|url\(", page)


def test_page_and_schema_know_the_same_forms(sentences):
    schema = yaml.safe_load((REPOSITORY / "config/schemas/review_export.schema.yaml").read_text())
    Draft202012Validator.check_schema(schema)
    form = schema["$defs"]["forms"]["items"]["properties"]
    assert form["scope"]["enum"] == list(SCOPES)
    assert form["group"]["enum"] == list(GROUPS)
    scopes = re.search(r"const SCOPES = \{(.*?)\}", render(sentences, "Review", "en"))[1]
    assert re.findall(r"(\w+): \"", scopes) == list(SCOPES)


def test_command_writes_the_page(tmp_path):
    candidates, drafts = write_samples(tmp_path)
    command = [REPOSITORY / "workflow/scripts/corpus/write_review_page.py", "--title", "Review"]
    command += ["--candidates", candidates, "--drafts", drafts, "--output", tmp_path / "new" / "page.html"]
    done = run_command(*command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 sentences to review")
    page = (tmp_path / "new" / "page.html").read_text(encoding="utf-8")
    assert page == render(review_sentences(candidates, drafts), "Review", "en")
