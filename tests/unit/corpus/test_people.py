"""The lexicon of people: derived from a WordNet small enough to count by hand, and as it is committed."""

from pathlib import Path

import pytest

from evenlight.core.errors import InputError
from evenlight.corpus.people import licence_of, person_nouns, read_person_lexicon

LEXICON = Path(__file__).parents[3] / "resources/lexicons/person_nouns.txt"

# person > widow, baker; baker also a shop; one name below person.
DATA = """\
  1 A licence to show.
  2 All rights reserved.
00007846 03 n 03 person 0 individual 0 soul 0 003 ~ 00000010 n 0000 ~ 00000020 n 0000 ~i 00000040 n 0000 | a human being
00000010 18 n 01 widow 0 001 @ 00007846 n 0000 | a woman whose spouse is dead
00000020 18 n 01 baker 0 001 @ 00007846 n 0000 | someone who bakes
00000030 06 n 02 baker 0 soul 0 000 | a shop
00000040 18 n 02 Baker 0 Josephine_Baker 0 001 @i 00007846 n 0000 | a dancer
"""
INDEX = """\
  1 A licence to show.
baker n 3 1 @ 3 1 00000030 00000020 00000040
individual n 1 1 ~ 1 1 00007846
josephine_baker n 1 1 @i 1 0 00000040
soul n 2 1 ~ 2 1 00000030 00007846
widow n 1 1 @ 1 1 00000010
"""
USES = """\
baker%1:06:00:: 1 1
baker%1:18:00:: 2 3
baker%2:30:00:: 1 50
soul%1:06:00:: 1 9
"""


@pytest.fixture
def wordnet(tmp_path):
    for name, text in (("data.noun", DATA), ("index.noun", INDEX), ("cntlist.rev", USES)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_nouns_are_taken_by_the_share_of_their_uses(wordnet):
    # baker: the shop 1 + 1, the person 3 + 1/2, the name not counted: 3.5 of 5.5; soul: 1/2 of 10 + 1/2.
    assert person_nouns(wordnet, 0.5) == ["baker", "individual", "widow"]
    assert person_nouns(wordnet, 0.64) == ["individual", "widow"]
    assert person_nouns(wordnet, 0.04) == ["baker", "individual", "soul", "widow"]


def test_the_licence_is_read_from_the_files(wordnet):
    assert licence_of(wordnet) == ["A licence to show.", "All rights reserved."]


def test_a_missing_wordnet_names_the_package(tmp_path):
    with pytest.raises(InputError, match="wordnet-base"):
        person_nouns(tmp_path, 0.5)


def test_the_committed_lexicon_holds_people_and_the_licence():
    nouns = read_person_lexicon(LEXICON)
    assert {"widow", "governess", "brother", "miller", "stranger", "clergyman", "girl"} <= nouns
    assert nouns.isdisjoint({"storm", "house", "head", "family", "someone", "letter", "love", "dog"})
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in LEXICON.read_text(encoding="utf-8")
