"""Derive the words whose syllables the rule of spelling miscounts, from the CMU Pronouncing Dictionary."""

import argparse
from pathlib import Path

from evenlight.core.tables import replacing
from evenlight.jobs import command_line
from evenlight.metrics.families.answers.readability import exceptions_of

_HEADER = """\
# Syllables of English words that the rule of the metric `syllables` miscounts, derived
# by workflow/tools/derive_syllables.py from the CMU Pronouncing Dictionary (https://github.com/cmusphinx/cmudict), by
# the first pronunciation of each word. The dictionary's licence, which covers this list, reads:
#
{licence}

"""


def main(arguments: argparse.Namespace) -> None:
    """Write the words with their syllables under their source and licence."""
    found = exceptions_of(arguments.dictionary.read_text(encoding="utf-8").splitlines())
    licence = arguments.licence.read_text(encoding="utf-8").splitlines()
    with replacing(arguments.output) as temporary:
        header = _HEADER.format(licence="\n".join(f"# {line}".rstrip() for line in licence))
        listed = "".join(f"{word} {count}\n" for word, count in found.items())
        temporary.write_text(header + listed, encoding="utf-8")
    print(f"{len(found):,} words written to {arguments.output}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dictionary", type=Path, required=True, help="the dictionary's file cmudict.dict")
    parser.add_argument("--licence", type=Path, required=True, help="the dictionary's file LICENSE")
    parser.add_argument("--output", type=Path, default=Path("resources/lexicons/syllables.txt"), metavar="TXT")
    command_line.run(main, parser)
