"""What `bench/prose.py` finds: sentences with their lines, words of old, terms without a link."""

from argparse import Namespace

import pytest
from prose import (
    glossary_terms,
    main,
    mean_length,
    old_words,
    sentences,
    split,
    unlinked_terms,
)

from evenlight.core.errors import InputError

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
    assert f"{page}:3: shard; say attribution" in printed
    assert f"51  {page}:1: Word Word" in printed


def _arguments(*pages):
    return Namespace(pages=list(pages), longest=1, terms=True)
