"""A small spaCy pipeline trained on a treebank: tagger, morphologizer and parser over one shared network of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed

from evenlight.core.errors import InputError
from evenlight.core.seeds import derived_seed, generator_for


@dataclass(frozen=True)
class Tree:
    """A sentence of a treebank: its words, whether a space follows each, and their gold analysis."""

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    lemmas: tuple[str, ...]
    pos: tuple[str, ...]
    tags: tuple[str, ...]
    features: tuple[str, ...]
    heads: tuple[int, ...]  # the root is its own head
    relations: tuple[str, ...]


def read_conllu(path: str | Path) -> list[Tree]:
    """The trees of a CoNLL-U file (https://universaldependencies.org/format.html), without empty nodes.

    Of tokens in several words ("don't") the words are read. Raises :class:`InputError` with the line where the file
    is not in that format.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a readable text file ({error}); give a treebank in CoNLL-U") from None
    trees, block = [], []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.strip():
            if not line.startswith("#"):
                block.append((number, line.split("\t")))
        elif block:
            trees.append(_tree(path, block))
            block = []
    if not trees:
        raise InputError(f"{path}: no sentence; give a treebank in CoNLL-U")
    return trees


def _tree(path: str | Path, block: list[tuple[int, list[str]]]) -> Tree:
    for number, fields in block:
        if len(fields) != 10:
            raise InputError(
                f"{path}: line {number} has {len(fields)} fields, CoNLL-U has 10 with tabs between; mend the line"
            )
    words = [(number, fields) for number, fields in block if fields[0].isdigit()]
    for index, (number, fields) in enumerate(words, 1):
        if fields[0] != str(index) or not fields[6].isdigit() or int(fields[6]) > len(words):
            raise InputError(
                f"{path}: line {number}: word '{fields[0]}' with head '{fields[6]}' in a sentence of {len(words)} "
                "words; words count from 1, and the head is one of them or 0"
            )
    columns = list(zip(*(fields for _, fields in words), strict=True))
    heads = tuple(index if head == "0" else int(head) - 1 for index, head in enumerate(columns[6]))
    return Tree(
        words=columns[1],
        spaces=tuple("SpaceAfter=No" not in misc for misc in columns[9]),
        lemmas=tuple("" if lemma == "_" else lemma for lemma in columns[2]),
        pos=columns[3],
        tags=columns[4],
        features=tuple("" if features == "_" else features for features in columns[5]),
        heads=heads,
        relations=columns[7],
    )


_LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 64}
_SENTENCES_PER_TEXT = 6  # parsers learn where sentences end only from texts with several
_TEXTS_PER_BATCH = 2


def train_parser(trees: Sequence[Tree], language: str, epochs: int, seed: int) -> Language:
    """A pipeline trained on the trees; the same for the same seed, on the same kind of machine.

    ``language`` is the code of spaCy's tokenizer, such as ``en``; ``epochs`` counts passes over the trees.
    """
    fix_random_seed(derived_seed(seed, "parser") % 2**32)
    nlp = spacy.blank(language)
    embed = {"width": 64, "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"], "rows": [2000, 500, 500, 500]}
    embedding = {"@architectures": "spacy.MultiHashEmbed.v2", "include_static_vectors": False, **embed}
    encoding = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": 64,
        "depth": 3,
        "window_size": 1,
        "maxout_pieces": 3,
    }
    network = {"@architectures": "spacy.Tok2Vec.v2", "embed": embedding, "encode": encoding}
    nlp.add_pipe("tok2vec", config={"model": network})
    for tagger in ("tagger", "morphologizer"):
        nlp.add_pipe(tagger, config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": _LISTENER}})
    parser = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": 64,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": _LISTENER,
    }
    # spaCy drops rarer labels unless told otherwise; a small treebank has many.
    nlp.add_pipe("parser", config={"model": parser, "min_action_freq": 3})
    examples = _examples(nlp, trees)
    optimizer = nlp.initialize(lambda: examples)
    for epoch in range(epochs):
        order = generator_for(seed, "parser", epoch).permutation(len(examples))
        for batch in spacy.util.minibatch([examples[i] for i in order], size=_TEXTS_PER_BATCH):
            nlp.update(batch, sgd=optimizer, drop=0.2)
    return nlp


def _examples(nlp: Language, trees: Sequence[Tree]) -> list[Example]:
    """The trees, some sentences to a text, beside the same text as the pipeline cuts it into tokens."""
    golds = (
        Doc.from_docs([_doc(nlp, tree) for tree in trees[start : start + _SENTENCES_PER_TEXT]])
        for start in range(0, len(trees), _SENTENCES_PER_TEXT)
    )
    return [Example(nlp.make_doc(gold.text), gold) for gold in golds]


def _doc(nlp: Language, tree: Tree) -> Doc:
    labelled = enumerate(zip(tree.heads, tree.relations, strict=True))
    return Doc(
        nlp.vocab,
        words=list(tree.words),
        spaces=list(tree.spaces),
        tags=list(tree.tags),
        pos=list(tree.pos),
        morphs=list(tree.features),
        heads=list(tree.heads),
        deps=["ROOT" if head == word else relation for word, (head, relation) in labelled],
        sent_starts=[word == 0 for word in range(len(tree.words))],
    )


def scores(nlp: Language, trees: Sequence[Tree]) -> dict[str, float]:
    """Shares of right tags (``tag_acc``), heads (``dep_uas``) and labelled heads (``dep_las``), and F1 of sentences."""
    measured = nlp.evaluate(_examples(nlp, trees))
    return {name: measured[name] for name in ("tag_acc", "dep_uas", "dep_las", "sents_f")}
