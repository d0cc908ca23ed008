"""Train a small spaCy pipeline (tagger, morphologizer, parser) on a treebank in CoNLL-U."""

import argparse
import contextlib
import tempfile
from pathlib import Path

from evenlight.corpus.parser_training import read_conllu, scores, train_parser
from evenlight.jobs import command_line

_HELD_OUT = 10  # every tenth sentence is kept for the scores


def main(arguments: argparse.Namespace) -> None:
    """Write the pipeline's folder; what it reaches on held-out sentences goes to the log and into its meta.json."""
    trees = read_conllu(arguments.treebank)
    training = [tree for i, tree in enumerate(trees) if i % _HELD_OUT]
    nlp = train_parser(training, arguments.language, arguments.epochs, arguments.seed)
    nlp.meta["name"] = arguments.treebank.stem
    nlp.meta["performance"] = scores(nlp, trees[::_HELD_OUT])
    print(", ".join(f"{name} {score:.3f}" for name, score in nlp.meta["performance"].items()))
    write_folder(nlp, arguments.output)
    print(f"pipeline trained on {len(training):,} sentences written to {arguments.output}")


def write_folder(nlp, folder: Path) -> None:
    """The pipeline in its folder, whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        new, old = Path(temporary, "new"), Path(temporary, "old")
        nlp.to_disk(new)
        with contextlib.suppress(FileNotFoundError):
            folder.rename(old)
        new.rename(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--treebank", type=Path, required=True, metavar="CONLLU")
    parser.add_argument("--language", default="en", help="code of spaCy's tokenizer")
    parser.add_argument("--epochs", type=int, default=6, help="passes over the treebank")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    command_line.run(main, parser)
