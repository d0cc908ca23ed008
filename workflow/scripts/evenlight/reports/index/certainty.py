"""How sure the verdicts of a study are: their level, what chance alone finds, and which texts they rest on."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from evenlight.core.factors import JOINT, NEGATIVE_CONTROL
from evenlight.reports.index.comparisons import Judged, number
from evenlight.reports.index.found import Found
from evenlight.reports.pages.effects import describe_control
from evenlight.reports.verdict_words import how_sure
from evenlight.statistics.comparisons.study import CONTROL

# How sentences name what becomes of a hidden word.
HIDING = {"removed": "removed", "mask": "masked", "pad": "replaced by padding"}


def describe_error(effects: pd.DataFrame, alpha: float) -> list[str]:
    """How often verdicts are wrong, at most, in plain words and in the field's; ``effects`` are all questions."""
    if effects.empty:
        return []
    families, each = effects["family"].nunique(), f"{100 * alpha:.3g}"
    apart = f": {each} about those named beforehand, and {each} about the others" if families > 1 else ""
    plain = (
        f"Of 100 studies in which no group is better anywhere, at most {100 * alpha * families:.3g} would say that one "
        f"is, about even one question{apart}."
    )
    return [plain, how_sure(effects, alpha)]


def describe_controls(found: Found, judged: Judged, random: Collection[str]) -> list[str]:
    """What random explanations, permuted labels and texts without words show."""
    said = [
        describe_random(found["effects"], random),
        *describe_defaults(found["without_words"].to_dict("records"), judged),
        describe_control(found["verdict_control"]).strip(),
    ]
    return [text for text in said if text]


def describe_random(effects: pd.DataFrame, random: Collection[str]) -> str:
    """What the random explainers and groups show, which are no hypothesis; the attainable is none either."""
    control = effects[effects["family"] == CONTROL]
    control = control[
        control["explainer"].isin(list(random))
        | control["factor"].str.split(JOINT).apply(lambda of: NEGATIVE_CONTROL in of)
    ]
    if control.empty:
        return ""
    count = int((control["side"] != 0).sum())
    said = (
        f"Of {number(len(control), 'comparison')} of random explanations or groups drawn by chance, a verdict names a "
        f"group in {count or 'none'}."
    )
    why = " Where explanations know nothing, texts make the difference, or how the model reads changed texts."
    return said + (why if count else "")


def describe_defaults(defaults: Sequence[Mapping], judged: Judged) -> list[str]:
    """The class of a text without words, a sentence for each model, dataset and way of hiding."""
    said: dict[tuple, list[str]] = {}
    for of in defaults:
        named = f"{of['class']} (mean probability {of['probability']:.2f})"
        said.setdefault((of["model"], of["dataset"], of["hidden"]), []).append(named)
    return [
        f"Class of a text without words: the model “{judged.models[model]}” takes a text of the dataset "
        f"“{judged.datasets[dataset]}” of which every word is {HIDING[way]} for {' and '.join(dict.fromkeys(named))}. "
        "The surer that is, the less have texts of this class to lose where words are hidden, and to gain where words "
        "are kept, whatever explains."
        for (model, dataset, way), named in said.items()
    ]


def describe_analyses(rows: Sequence[Mapping[str, Any]], judged: Judged) -> list[str]:
    """How often the texts of each comparison were judged, and at which level."""
    table = pd.DataFrame(rows)
    if table.empty:
        return []
    table = table[table["dataset"].isin(list(judged.datasets)) & table["model"].isin(list(judged.models))]
    said: dict[str, list[str]] = {}
    for (dataset, model, *_, level_a, level_b), part in table.groupby(
        ["dataset", "model", "factor", "level_a", "level_b"], sort=False
    ):
        times, last = int(part["analysis"].max()), part.sort_values("analysis").iloc[-1]
        how_often = "once" if times == 1 else f"{times:,} times"
        planned = f"as the plan {last['plan']} has it" if last["plan"] else "without a plan"
        planned = f", {planned}" if times > 1 or last["plan"] else ""
        told = f"judged {how_often}{planned}, at the level {last['level']:.3g}"
        where = f"{level_a} and {level_b}, {judged.models[model]} on {judged.datasets[dataset]}"
        said.setdefault(told, []).append(where)
    if len(said) == 1:
        return [f"{judged.texts.capitalize()} of every comparison were {next(iter(said))}."]
    return [f"{judged.texts.capitalize()} were {told}: {'; '.join(places)}." for told, places in said.items()]


def describe_left_out(
    effects: pd.DataFrame, counted: Mapping[tuple, tuple[int, int, int]], judged: Judged
) -> list[str]:
    """Which explained texts no verdict counts, since they are in no pair.

    ``counted`` has of a dataset, factor and two levels what
    :func:`~evenlight.statistics.comparisons.explained_words.pairs_and_others` says of them.
    """
    paired = effects[effects["paired"]]
    said = {}
    for row in paired.drop_duplicates(["dataset", "factor", "level_a", "level_b"]).itertuples(index=False):
        for levels in ((row.level_a, row.level_b), (row.level_b, row.level_a)):
            explained, used, pairs = counted.get((row.dataset, row.factor, *levels), (0, 0, 0))
            if explained:
                said[
                    f"Of {explained:,} explained texts of “{row.level_a}” and “{row.level_b}” on "
                    f"{judged.datasets[row.dataset]}, {explained - used:,} are in no pair and do not count; the "
                    f"{number(pairs, 'pair')} {'has' if pairs == 1 else 'have'} the other {used:,}."
                ] = None
    return list(said)
