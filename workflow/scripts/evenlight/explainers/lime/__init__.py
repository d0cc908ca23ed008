"""LIME on tokens as ferret defines it, on words as the authors' package or GECOBench's code does, or on players."""

from collections.abc import Sequence

from evenlight.core.seeds import generator_for
from evenlight.engine.evaluator import answer_in_lockstep
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.lime import paper, released
from evenlight.explainers.surrogate import remarks_on_fits

# Their copies, thousands for a long sentence, fill the batches; those of more sentences would fill the memory.
SENTENCES_AT_ONCE = 64

# Of distinct words.
DEFINITIONS = {"paper": paper.on_words, "released": released.on_words}


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """LIME of every sentence's tokens."""
    evaluator = context.evaluator
    explanations = {}
    for name, settings in methods.items():
        of_distinct_words = settings["features"] == "word" and settings.get("equal_words", "together") == "together"
        question = DEFINITIONS[settings["definition"]] if of_distinct_words else paper.on_players
        questions = (
            question(sentence, settings, evaluator.classifier, generator_for(context.seed, sentence.item_id, name))
            for sentence in sentences
        )
        attributions = list(answer_in_lockstep(questions, evaluator, SENTENCES_AT_ONCE))
        explanations[name] = Explanations(attributions, remarks_on_fits(attributions))
    return explanations
