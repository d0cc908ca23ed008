"""Write a treebank of plot-summary sentences from the demo's grammar."""

import argparse
from pathlib import Path

from evenlight import command_line
from evenlight.corpus.treebank import treebank
from evenlight.tables import replacing


def main(arguments: argparse.Namespace) -> None:
    """Write the sentences in CoNLL-U."""
    with replacing(arguments.output) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(treebank(arguments.grammar, arguments.sentences, arguments.seed))
    print(f"{arguments.sentences:,} sentences written to {arguments.output}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--grammar", type=Path, default=Path("resources/demo/grammar.yaml"), help="words to choose from"
    )
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, required=True, metavar="CONLLU")
    command_line.run(main, parser)
