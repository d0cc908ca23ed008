"""How near the drafts come to the forms that people made: GECO's three-class sentences, one form drafted from another.

Two forms are compared word by word, without the white space that some published words carry. What differs is counted
by kind. Three kinds are slips of the published neutral forms, which a grammatical draft cannot repeat: the possessive
"them" (where the sentence found on Wikipedia had "his"), a verb in the singular after "they", and words that lost their
last s ("they trie", "their addres"). A word counts as a slip only where the draft has the grammatical one in its place.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from evenlight.corpus.annotation import GROUPS
from evenlight.corpus.annotation.drafting import DraftedForm, drafts
from evenlight.corpus.annotation.grammar import gender_of_pronoun, plural_verb, pronoun, pronoun_case
from evenlight.corpus.annotation.lexicon import GenderedLexicon
from evenlight.corpus.annotation.reference import is_gendered_noun
from evenlight.corpus.filtering import ParsedSentence
from evenlight.corpus.parse import Parse, noun_phrase, subjects
from evenlight.datasets.base import load
from evenlight.datasets.readers.geco import Geco

SLIPS = ("slip: them for their", "slip: verb left singular", "slip: word without its s")
KINDS = (
    *SLIPS,
    "pronoun: other referent",
    "pronoun: other case",
    "verb: agreement",
    "word: not in the lexicon",
    "noun: other counterpart",
    "noun: other referent",
    "name",
    "capitalisation",
    "other",
)

_PRONOUNS_FOR_NAMES = {pronoun(case, group) for case in ("subject", "object", "possessive") for group in GROUPS}


@dataclass(frozen=True)
class DraftPair:
    """Two published forms of a sentence: one to draft from, and one to hold the draft against."""

    parse: Parse  # of the first
    words: tuple[str, ...]  # of the second, as its ground truth
    ground_truth: tuple[int, ...]


def read_draft_pairs(folder: str | Path, scope: str, split: str) -> pd.DataFrame:
    """The three-class GECO of one scope and split, below ``folder``: index unit_id, a column of items per level.

    A cell is (words, ground truth). Raises :class:`~evenlight.core.errors.InputError` where a file is missing or wrong.
    """
    reader = Geco(reader="geco", classes="three_class", words=scope)
    dataset = load({name: Path(folder) / Path(name).relative_to("geco") for name in reader.sources()}, reader)
    items = dataset.items[dataset.items.split == split]
    items = items.assign(form=list(zip(items.words.map(tuple), items.ground_truth.map(tuple), strict=True)))
    return items.merge(dataset.units, on="item_id").pivot(index="unit_id", columns="level", values="form")


def grammatical_subject(parse: Parse, lexicon: GenderedLexicon) -> list[int]:
    """The words of the subject of the main clause, the head first; empty where there is none.

    All sentences of GECO have one. Where the parser finds none or only "who", it is taken to be the first word that can
    be a person's in that place: he, she or a gendered noun.
    """
    head = ParsedSentence(parse, "", 0, "").subject if len(parse) else None
    if head is None or parse.tags[head] in ("WP", "WDT"):
        head = next((i for i in range(len(parse)) if _can_be_subject(parse, i, lexicon)), None)
    return [] if head is None else noun_phrase(parse, head)


def _can_be_subject(parse: Parse, word: int, lexicon: GenderedLexicon) -> bool:
    if gender_of_pronoun(parse.words[word]):
        return pronoun_case(parse, word) == "subject"
    return any(is_gendered_noun(parse, word, lexicon, group) for group in ("male", "female"))


def measure(
    pairs: Sequence[DraftPair], scope: str, target: str, lexicon: GenderedLexicon
) -> tuple[dict[str, float], pd.DataFrame]:
    """Draft ``target`` from every pair's parsed form and compare: (figures, differences).

    Figures: ``sentences``; ``identical``, the share whose words all equal the published ones; ``identical_but_slips``,
    the share that differ at most in the published form's slips; ``same_ground_truth``, the share that are marked alike,
    and ``words_with_same_ground_truth``, the same of words. The differences have a row per
    word: sentence (position in ``pairs``), source, draft, published, kind; sentences of another length have one row.
    """
    rows, counts = [], Counter(sentences=len(pairs))
    for number, pair in enumerate(pairs):
        form = drafts(pair.parse, grammatical_subject(pair.parse, lexicon), scope, lexicon)[target]
        differing = list(word_differences(pair, form, target, lexicon))
        counts["identical"] += not differing
        counts["identical_but_slips"] += all(row["kind"] in SLIPS for row in differing)
        counts["same_ground_truth"] += form.ground_truth == pair.ground_truth
        counts["words"] += len(form.ground_truth)
        marks = zip(form.ground_truth, pair.ground_truth, strict=False)
        counts["words_alike"] += sum(drafted == published for drafted, published in marks)
        rows += [{"sentence": number, **row} for row in differing]
    figures = {"sentences": counts["sentences"]} | {
        name: counts[name] / len(pairs) for name in ("identical", "identical_but_slips", "same_ground_truth")
    }
    figures["words_with_same_ground_truth"] = counts["words_alike"] / counts["words"]
    return figures, pd.DataFrame(rows, columns=["sentence", "source", "draft", "published", "kind"])


def word_differences(
    pair: DraftPair, form: DraftedForm, target: str, lexicon: GenderedLexicon
) -> Iterator[dict[str, str]]:
    """The words in which a draft differs from the published form, each with its kind."""
    if len(pair.words) != len(form.words):
        yield {"source": "", "draft": "", "published": " ".join(pair.words), "kind": "other"}
        return
    they = {i for i, word in enumerate(pair.words) if word.lower() == "they"}
    agreeing = {verb for subject, verbs in subjects(pair.parse) if subject in they for verb in verbs}
    for i, (drafted, published) in enumerate(zip(form.words, pair.words, strict=True)):
        if drafted != published:
            kind = _slip(pair.parse, i, drafted, published, i in agreeing) if target == "neutral" else None
            kind = kind or _kind(pair.parse, i, drafted, published, lexicon)
            yield {"source": pair.parse.words[i], "draft": drafted, "published": published, "kind": kind}


def _slip(parse: Parse, word: int, drafted: str, published: str, agrees_with_they: bool) -> str | None:
    """Which slip of a published neutral form it is, None where it is none."""
    source = parse.words[word]
    if gender_of_pronoun(source):
        possessive = pronoun_case(parse, word) == "possessive" and drafted.lower() == "their"
        return SLIPS[0] if possessive and published.lower() == "them" else None
    plural = plural_verb(parse, word)
    if plural == source:
        noun = word > 0 and parse.tags[word - 1] in ("PRP$", "JJ", "DT") and parse.tags[word] in ("NN", "NNS")
        return SLIPS[2] if noun and drafted == source and published == source[:-1] else None
    if drafted == plural and published == source and agrees_with_they:
        return SLIPS[1]
    return SLIPS[2] if drafted == plural and published == source[:-1] else None


def _kind(parse: Parse, word: int, drafted: str, published: str, lexicon: GenderedLexicon) -> str:
    source = parse.words[word]
    if drafted.lower() == published.lower():
        return "capitalisation"
    if gender_of_pronoun(source):
        return "pronoun: other referent" if source in (drafted, published) else "pronoun: other case"
    plural = plural_verb(parse, word)
    if plural != source and {drafted, published} == {source, plural}:
        return "verb: agreement"
    if not drafted or drafted.lower() in _PRONOUNS_FOR_NAMES:
        return "name"
    listed = any(lexicon.entry(source, group) for group in ("male", "female"))
    if drafted == source and not listed:
        return "word: not in the lexicon"
    return "noun: other referent" if source in (drafted, published) else "noun: other counterpart"


def table_of_figures(results: Iterable[tuple[Mapping[str, str], Mapping[str, float], pd.DataFrame]]) -> pd.DataFrame:
    """A row per (scope, source, target), with the figures and the number of sentences that have each kind."""
    rows = []
    for names, figures, differences_ in results:
        having = differences_.groupby("kind").sentence.nunique()
        rows.append({**names, **figures, **{kind: int(having.get(kind, 0)) for kind in KINDS}})
    return pd.DataFrame(rows)
