"""Measure the drafts on the published three-class GECO: one form drafted from another, and held against people's."""

import argparse

import pandas as pd

from evenlight.core.tables import write_csv
from evenlight.corpus import parsers
from evenlight.corpus.annotation import SCOPES
from evenlight.corpus.annotation.lexicon import read_gendered_lexicon
from evenlight.datasets import geco_drafts
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write and print the figures; write the differences."""
    nlp = parsers.load_parser(arguments.parser)
    lexicon = read_gendered_lexicon(arguments.words, arguments.names)
    results = []
    for scope in SCOPES:
        forms = geco_drafts.read_draft_pairs(arguments.geco, scope, arguments.split)
        for source, targets in (("male", ("female", "neutral")), ("female", ("male",))):
            parses = list(parsers.parse_words(nlp, [words for words, _ in forms[source]]))
            for target in targets:
                pairs = [geco_drafts.DraftPair(parse, *form) for parse, form in zip(parses, forms[target], strict=True)]
                figures, differences = geco_drafts.measure(pairs, scope, target, lexicon)
                differences["sentence"] = forms.index[differences.sentence]
                results.append(({"scope": scope, "source": source, "target": target}, figures, differences))
    figures = geco_drafts.table_of_figures(results)
    write_csv(figures, arguments.output)
    if arguments.differences:
        write_csv(pd.concat([rows.assign(**names) for names, _, rows in results]), arguments.differences)
    print(figures.round(3).T.to_string(header=False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--geco", required=True, metavar="DIR", help="has non_binary_gender_all/ and _subj/")
    parser.add_argument("--parser", required=True, metavar="NAME", help="spaCy pipeline, by name or path")
    parser.add_argument("--words", required=True, metavar="YAML", help="gendered words, as in resources/lexicons")
    parser.add_argument("--names", required=True, metavar="YAML", help="given names, as in resources/lexicons")
    parser.add_argument("--split", choices=("train", "test"), default="test", help="rules are made on train only")
    parser.add_argument("--output", required=True, metavar="CSV", help="the figures")
    parser.add_argument("--differences", metavar="CSV", help="every word that differs, with its kind")
    command_line.run(main, parser)
