"""The lexicon of people, as it is committed."""

from pathlib import Path

from evenlight.corpus.people import read_person_lexicon

LEXICON = Path(__file__).parents[3] / "resources/lexicons/person_nouns.txt"


def test_the_committed_lexicon_holds_people_and_the_licence():
    nouns = read_person_lexicon(LEXICON)
    assert {"widow", "governess", "brother", "miller", "stranger", "clergyman", "girl"} <= nouns
    assert nouns.isdisjoint({"storm", "house", "head", "family", "someone", "letter", "love", "dog"})
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in LEXICON.read_text(encoding="utf-8")
