"""Derive the lexicon of nouns that mean people from the files of WordNet 3.0."""

import argparse
from pathlib import Path

from evenlight.core.tables import replacing
from evenlight.corpus.people import licence_of, person_nouns
from evenlight.jobs import command_line

_HEADER = """\
# Nouns that mean people, derived from WordNet 3.0 (Princeton University, https://wordnet.princeton.edu) by
# workflow/tools/derive_person_nouns.py: single words of which at least {share:.0%} of the uses are at or below the
# synset person.n.01. Edit a copy rather than this file. WordNet's licence, which covers this list, reads:
#
{licence}

"""


def main(arguments: argparse.Namespace) -> None:
    """Write the lexicon under its source and licence."""
    nouns = person_nouns(arguments.wordnet, arguments.share)
    licence = "\n".join(f"# {line}".rstrip() for line in licence_of(arguments.wordnet))
    with replacing(arguments.output) as temporary:
        header = _HEADER.format(share=arguments.share, licence=licence)
        temporary.write_text(header + "\n".join(nouns) + "\n", encoding="utf-8")
    print(f"{len(nouns):,} nouns written to {arguments.output}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--wordnet", type=Path, default=Path("/usr/share/wordnet"), help="folder of WordNet 3.0's database"
    )
    parser.add_argument("--share", type=float, default=0.25, help="least share of a noun's uses that mean a person")
    parser.add_argument("--output", type=Path, default=Path("resources/lexicons/person_nouns.txt"), metavar="TXT")
    command_line.run(main, parser)
