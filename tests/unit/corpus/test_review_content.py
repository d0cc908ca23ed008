"""What annotators are shown, and the file it is written into; that the page works is tested in tests/browser."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
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


def test_tables_of_different_sentences_are_refused(tmp_path):
    for rows in ({"candidates": candidate_rows()[1:]}, {"drafts": draft_rows()[6:]}):
        with pytest.raises(InputError, match=r"drafts\.parquet: sentence 'b1-1'.*candidates\.parquet.*draft_variants"):
            review_sentences(*write_samples(tmp_path, **rows))


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
