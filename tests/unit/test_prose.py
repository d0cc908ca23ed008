"""What `make prose` finds: sentences with their lines, words of old, terms without a link."""

import re
from argparse import Namespace
from itertools import pairwise

import pytest
from prose import (
    LONGEST,
    ROOT,
    documents,
    glossary_terms,
    main,
    mean_length,
    old_words,
    sentences,
    split,
    unlinked_terms,
)

from evenlight.core.errors import InputError

# Notes of that page are messages as the program joined them; the other one is being rewritten.
NOT_HELD = {ROOT / "docs" / "architectures.md"}
PAGE = """# A heading is no sentence

One *two* [three](four.md) `five --six`. Is it
seven? – Eight.

- An item of
  a list. And more.

| a | b |
| --- | --- |
| 1 | It is `code`. Yes. |

```
No word of this.
```
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


@pytest.mark.parametrize("document", sorted(set(documents()) - NOT_HELD), ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_have_no_word_of_old_and_no_endless_sentence(document):
    """What is never right; ``make prose`` tells more."""
    read = list(sentences(document))
    assert read
    wrong = [sentence for sentence in read if sentence.length > LONGEST or old_words(sentence.text)]
    assert [f"{sentence.line}: {sentence.text}" for sentence in wrong] == []


WRITTEN = {ROOT / "CHANGELOG.md", *documents()} - {ROOT / "config" / "README.md"}


@pytest.mark.parametrize("document", sorted(WRITTEN), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_line_of_a_document_begins_as_another_one(document):
    """Two lines of work that are merged leave such lines; tables, pictures, code and commands repeat rightly.

    So do the keys of the configuration, which a program writes.
    """
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("|", "<", "!", "Command:"))]
    beginnings = [line[:60] for line in lines if len(line) > 60]
    again = {beginning for beginning in beginnings if beginnings.count(beginning) > 1}
    again |= {first for first, second in pairwise(lines) if len(first) > 30 and first[:30] == second[:30]}
    assert again == set()


@pytest.mark.parametrize("text", sorted((ROOT / "resources").glob("**/*.rst")), ids=lambda path: path.name)
def test_texts_of_the_report_have_no_word_of_old(text):
    assert old_words(text.read_text(encoding="utf-8")) == []


def test_sentences_are_told_apart():
    text = "As Krishna et al. 2024 do. Is d 0.5 e.g. here? – where not. 0 of 3 are."
    assert split(text) == ["As Krishna et al. 2024 do.", "Is d 0.5 e.g. here?", "– where not.", "0 of 3 are."]


def test_sentences_of_markdown_have_their_lines_and_code_is_a_word(page):
    assert [(s.line, s.text, s.length) for s in sentences(page) if not s.in_table] == [
        (3, "One two three `five_--six`.", 4),
        (3, "Is it seven?", 3),
        (4, "– Eight.", 1),
        (6, "An item of a list.", 5),
        (7, "And more.", 2),
    ]
    assert [(s.line, s.text) for s in sentences(page) if s.in_table and len(s.text) > 1] == [
        (11, "It is `code`."),
        (11, "Yes."),
    ]
    assert mean_length(sentences(page)) == pytest.approx(15 / 5)


def test_sentences_of_html(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<p>What <b>is</b> <code>a b</code>?\nThis.</p>\n<script>p = 1. Or 2.</script>\n<li>Third</li>")
    assert [(s.line, s.text) for s in sentences(path)] == [(1, "What is `a_b`?"), (1, "This."), (4, "Third")]


def test_old_words_are_found_where_they_are_no_code_and_no_part_of_others():
    assert old_words("The shard of drawn pairs") == [
        ("shard", "attribution file"),
        ("drawn pairs", "sampled units"),
    ]
    assert old_words("Shards") == [("Shards", "attribution file")]
    assert old_words("`shard`, sharded, the wholesale, both ways in turn, a way in which") == []


def test_terms_without_a_link_to_their_row_are_found(page, tmp_path):
    glossary = tmp_path / "glossary.md"
    glossary.write_text('| <a id="one"></a>**one** | |\n| <a id="item-list"></a>**item, list** | |\n')
    terms = glossary_terms(glossary)
    assert unlinked_terms(page, terms) == ["one", "list"]  # an item is also a word of every day
    page.write_text(PAGE.replace("One", "[One](glossary.md#one)"))
    assert unlinked_terms(page, terms) == ["list"]


def test_what_is_no_page_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"missing\.md: no page"):
        main(_arguments(tmp_path / "missing.md"))


def test_the_command_prints_file_and_line(page, capsys):
    page.write_text("Word " * 50 + "ends.\n\nA shard.\n")
    main(_arguments(page))
    printed = capsys.readouterr().out
    assert f"26.5       51  {page}" in printed
    assert f"{page}:3: shard; say attribution file" in printed
    assert f"51  {page}:1: Word Word" in printed


def _arguments(*pages):
    return Namespace(pages=list(pages), longest=1, terms=True)
