"""Measure the filter on sentences that people accepted: the share that each rule keeps, and what is lost."""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.core.tables import replacing
from evenlight.corpus import parse as syntax
from evenlight.corpus import parsers
from evenlight.corpus.filtering import RULES, FilterContext, ParsedSentence, context_of
from evenlight.corpus.people import read_person_lexicon
from evenlight.jobs import command_line


class PlainSentence(ParsedSentence):
    """As the rules read by the letter: the clause of the root, wherever the parser put it."""

    @property
    def clause(self) -> int:
        """The root."""
        return syntax.root(self.parse)


def main(arguments: argparse.Namespace) -> None:
    """Write the shares, and a sample of the lost sentences with their parses."""
    ids, words = zip(*accepted_sentences(arguments.annotation).items(), strict=True)
    nlp = parsers.load_parser(arguments.parser)
    lexicon = read_person_lexicon(arguments.lexicon)
    plain = sentences_of(parsers.parse_words(nlp, words, mend=False), PlainSentence)
    read = sentences_of(parsers.parse_words(nlp, words), ParsedSentence)
    context = context_of(read, lexicon)
    kept_plain, kept = verdicts(plain, context_of(plain, lexicon)), verdicts(read, context)
    together = pd.DataFrame(
        {"plain": kept_plain.cumprod(axis=1).mean(), "kept": kept.cumprod(axis=1).mean()},
    ).add_suffix("_so_far")
    shares = pd.DataFrame({"plain": kept_plain.mean(), "kept": kept.mean()}).join(together)
    with replacing(arguments.output) as temporary:
        shares.round(4).to_csv(temporary, index_label="rule")
    print(shares.map("{:.1%}".format).to_string())
    if arguments.losses:
        lost = [i for i in range(len(read)) if not kept.iloc[i].all()]
        chosen = generator_for(arguments.seed, "lost sentences").permutation(lost)[: arguments.sample]
        rows = [{"sentence": ids[i], **loss(read[i], plain[i].parse, kept.iloc[i])} for i in sorted(chosen)]
        with replacing(arguments.losses) as temporary:
            pd.DataFrame(rows).to_csv(temporary, index=False)
        print(f"{len(rows):,} of {len(lost):,} lost sentences written to {arguments.losses}")


def accepted_sentences(path: Path) -> dict[str, list[str]]:
    """The words of every sentence in GECO's labelling file, by its number."""
    try:
        sentences = json.loads(path.read_text(encoding="utf-8"))["sentences"]
        words = {str(name): [str(word) for word in entry["sentence"]] for name, entry in sentences.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: not GECO's labelling file ({error!r}); give merged_labelling_v2.json, which has "
            "'sentences' with a list of words under 'sentence'"
        ) from None
    if not words or not all(words.values()):
        raise InputError(f"{path}: no sentence, or one without words; give merged_labelling_v2.json")
    return words


def sentences_of(parses: Iterable[syntax.Parse], kind: type[ParsedSentence]) -> list[ParsedSentence]:
    """Sentences of one book without an author: the file does not tell the article of each."""
    return [kind(parse, " ".join(parse.words), 0, "") for parse in parses]


def verdicts(sentences: list[ParsedSentence], context: FilterContext) -> pd.DataFrame:
    """Whether each sentence (row) passes each rule (column) by itself."""
    return pd.DataFrame({name: rule(sentences, context) for name, rule in RULES.items()}, dtype=bool)


def loss(sentence: ParsedSentence, plain: syntax.Parse, kept: pd.Series) -> dict[str, str]:
    """What a person needs to see whose error it is: the parser's, or that of the rule."""
    root, subject = syntax.root(plain), sentence.subject
    arcs = (
        f"{word}/{tag}/{relation}>{plain.words[head]}"
        for word, tag, relation, head in zip(plain.words, plain.tags, plain.relations, plain.heads, strict=True)
    )
    return {
        "rules": " ".join(kept.index[~kept]),
        "text": sentence.text,
        "root": plain.words[root],
        "tag": plain.tags[root],
        "subject": "" if subject is None else sentence.parse.words[subject],
        "parse": " ".join(arcs),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotation", type=Path, required=True, metavar="JSON", help="merged_labelling_v2.json")
    parser.add_argument("--parser", default="en_core_web_sm", help="name or path of a spaCy pipeline")
    parser.add_argument("--lexicon", type=Path, default=Path("resources/lexicons/person_nouns.txt"), metavar="TXT")
    parser.add_argument("--output", type=Path, required=True, metavar="CSV", help="share kept by each rule")
    parser.add_argument("--losses", type=Path, metavar="CSV", help="where to write a sample of the lost sentences")
    parser.add_argument("--sample", type=int, default=80, help="size of that sample")
    parser.add_argument("--seed", type=int, default=0, help="seed of that sample")
    command_line.run(main, parser)
