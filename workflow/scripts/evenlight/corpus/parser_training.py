"""A small spaCy pipeline trained on a treebank: tagger, morphologizer and parser over one shared network of tokens."""

from collections.abc import Sequence

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed

from evenlight.core.seeds import derived_seed, generator_for
from evenlight.corpus.treebank import Tree

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
