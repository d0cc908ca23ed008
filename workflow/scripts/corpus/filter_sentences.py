"""Keep the sentences that suit a gender-controlled dataset, and say how many each rule removed."""

import argparse

from evenlight.core.contracts.corpus import CANDIDATES
from evenlight.core.tables import replacing, write_table
from evenlight.corpus.filtering import apply_rules, candidates, context_of, read_person_lexicon, read_sentences
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write the candidates and the table of the rules."""
    table, sentences = read_sentences(arguments.sentences)
    context = context_of(sentences, read_person_lexicon(arguments.lexicon), **arguments.settings)
    places, counts = apply_rules(sentences, context)
    write_table(candidates(table, sentences, places), arguments.output, CANDIDATES)
    with replacing(arguments.table) as temporary:
        counts.to_csv(temporary, index=False)
    print(f"{len(places):,} of {len(sentences):,} sentences written to {arguments.output}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--settings",
        type=command_line.settings_argument,
        default={},
        metavar="JSON",
        help="max_words (30) and similarity (0.7), from where on two sentences count as the same",
    )
    parser.add_argument("--sentences", required=True, metavar="PARQUET")
    parser.add_argument("--lexicon", required=True, metavar="TXT", help="nouns that mean people")
    parser.add_argument("--output", required=True, metavar="PARQUET", help="the candidates")
    parser.add_argument("--table", required=True, metavar="CSV", help="what each rule removed")
    command_line.run(main, parser)
