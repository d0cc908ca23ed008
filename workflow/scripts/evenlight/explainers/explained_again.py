"""How much of the scores of explainers that draw at random is chance, measured: some items are explained twice."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from evenlight.core.chance import agreement
from evenlight.core.seeds import derived_seed
from evenlight.explainers import Context, Explainer, Explanations, explain
from evenlight.texts.predictions import Sentence

# How many items are explained again: a part of them, which is what it costs, within bounds.
SHARE, LEAST, MOST = 1 / 16, 4, 32


def estimating(entries: Mapping[str, Explainer]) -> dict[str, Explainer]:
    """Those of some explainers that estimate by random draws: the others explain each text once."""
    return {name: entry for name, entry in entries.items() if entry.estimates()}


def explained_twice(item_ids: Iterable[str], seed: int) -> set[str]:
    """The items that are explained again: those with the lowest numbers, which each draws from its own name.

    Args:
        item_ids: of all items that are explained.
        seed: of the run.
    """
    order = sorted(item_ids, key=lambda item: derived_seed(seed, item, "explained again"))
    return set(order[: max(LEAST, min(MOST, round(SHARE * len(order))))])


def agreement_between_draws(
    entries: Mapping[str, Explainer],
    sentences: Sequence[Sentence],
    context: Context,
    explanations: dict[str, Explanations],
    drawn: set[str],
) -> dict[str, dict[str, dict]]:
    """How the explanations agree with those of other draws, by the explainer's name and the item explained again.

    Each value is of :func:`evenlight.core.chance.agreement`. Special tokens, which many explainers always score 0, do
    not count.

    Args:
        entries: explainers of one family, or none.
        sentences: what was explained.
        context: model and seed of the explanations.
        explanations: of ``sentences``.
        drawn: the items that are explained again, others may be among them.
    """
    chosen = [index for index, sentence in enumerate(sentences) if sentence.item_id in drawn]
    # A family that is asked for nothing may still prepare its questions.
    if not chosen or not entries:
        return {name: {} for name in entries}
    second_context = replace(context, seed=derived_seed(context.seed, "explained again"))
    again = explain(entries, [sentences[index] for index in chosen], second_context)
    return {
        name: {
            sentences[index].item_id: agreement(
                explanations[name].attributions[index].token_score[~sentences[index].is_special],
                second.token_score[~sentences[index].is_special],
            )
            for index, second in zip(chosen, again[name].attributions, strict=True)
        }
        for name in entries
    }
