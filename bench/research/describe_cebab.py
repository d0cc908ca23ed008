"""Lay the released files of CEBaB beside Tables 3a to 3d of its paper (Abraham et al. 2022).

Labels are counted as they are. The printed numbers of edit pairs follow from no definition of a pair that was tried;
this prints how far each is off, and the pairs and effects of two: that of the released code, and the closest.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import nan
from pathlib import Path
from typing import NamedTuple

import yaml
from numpy import nanmean

from evenlight.datasets import ASPECTS
from evenlight.datasets.cebab import EVERYTHING, NO_MAJORITY, TESTED, EditPair, aspect_label, edit_pairs, released_texts
from evenlight.jobs import command_line

LABELS = ("positive", "negative", "unknown", NO_MAJORITY)
CHANGES = (("negative", "positive"), ("negative", "unknown"), ("positive", "unknown"))
PUBLISHED = Path(__file__).parents[2] / "resources" / "published" / "cebab.yaml"


class Definition(NamedTuple):
    """What counts as a pair: of edits alone or with their original; rated texts only; each direction or both."""

    edits_only: bool
    rated_only: bool
    directions: int

    def __str__(self) -> str:
        members = "two edits" if self.edits_only else "an original and its edit, or two edits"
        rated = ", both with a rating" if self.rated_only else ""
        return f"{members}{rated}, counted {'once' if self.directions == 1 else 'in both directions'}"


RELEASED = Definition(edits_only=False, rated_only=False, directions=1)
DEFINITIONS = [Definition(*choice) for choice in product((False, True), (False, True), (1, 2))]


def main(arguments: argparse.Namespace) -> None:
    """Print all four tables."""
    published = yaml.safe_load(PUBLISHED.read_text())
    texts = [text for part in (EVERYTHING, *TESTED) for text in released_texts(arguments.archive, part)]
    print(f"texts: {len(texts)} (printed: {published['texts']})\n")
    print("| aspect | label | released files | printed |\n| --- | --- | --- | --- |")
    for aspect, counts in aspect_counts(texts).items():
        for row in zip(LABELS, counts, published["aspect_labels"][aspect], strict=True):
            print(f"| {aspect} | {' | '.join(map(str, row))} |")
    stars = Counter(text["review_majority"] for text in texts)
    print("\n| stars | released files | printed |\n| --- | --- | --- |")
    for name, count in published["stars"].items():
        print(f"| {name} | {stars[name]} | {count} |")
    by_id = {text["id"]: text for text in texts}
    pairs = [pair for pair in edit_pairs(texts) if (pair.from_level, pair.to_level) in CHANGES]
    off = {definition: distance(pairs, by_id, definition, published["edit_pairs"]) for definition in DEFINITIONS}
    print("\n| a pair is | sum of the differences to the printed numbers |\n| --- | --- |")
    for definition, total in sorted(off.items(), key=lambda entry: entry[1]):
        print(f"| {definition} | {total} |")
    for definition in (RELEASED, min(off, key=off.get)):
        print(f"\n{definition}:\n\n| aspect | change | pairs | printed | effect in stars | printed |")
        print("| --- | --- | --- | --- | --- | --- |")
        of_definition = pairs_and_effects(pairs, by_id, definition)
        for aspect in ASPECTS:
            printed = zip(published["edit_pairs"][aspect], published["effects_in_stars"][aspect], strict=True)
            for change, (count, effect) in zip(CHANGES, printed, strict=True):
                own, own_effect = of_definition[aspect, *change]
                print(f"| {aspect} | {' to '.join(change)} | {own} | {count} | {own_effect:.2f} | {effect:.2f} |")


def aspect_counts(texts: Iterable[Mapping]) -> dict[str, list[int]]:
    """How many texts have each of :data:`LABELS`, by aspect (Table 3a)."""
    counts = {aspect: Counter(aspect_label(text, aspect) for text in texts) for aspect in ASPECTS}
    return {aspect: [of_aspect[label] for label in LABELS] for aspect, of_aspect in counts.items()}


def pairs_and_effects(
    pairs: Iterable[EditPair], texts: Mapping[str, Mapping], definition: Definition
) -> dict[tuple[str, str, str], tuple[int, float]]:
    """(pairs, mean difference of their ratings in stars) by aspect, level before and after (Tables 3c and 3d).

    ``pairs`` are those of :data:`CHANGES`, each once. Pairs in which a text has no rating have no effect.
    """
    found = defaultdict(list)
    for pair in pairs:
        if (effect := effect_of(pair, texts, definition)) is not None:
            found[pair.aspect, pair.from_level, pair.to_level].append(effect)
    return {key: (len(effects) * definition.directions, nanmean(effects)) for key, effects in found.items()}


def effect_of(pair: EditPair, texts: Mapping[str, Mapping], definition: Definition) -> float | None:
    """The difference of the ratings in stars, NaN where a text has none; None where this is no pair."""
    ends = texts[pair.base], texts[pair.edit]
    rated = all(text["review_majority"] != NO_MAJORITY for text in ends)
    if (definition.edits_only and any(text["is_original"] for text in ends)) or (definition.rated_only and not rated):
        return None
    before, after = (float(text["review_majority"]) if rated else nan for text in ends)
    return after - before


def distance(
    pairs: Iterable[EditPair], texts: Mapping[str, Mapping], definition: Definition, printed: Mapping[str, list[int]]
) -> int:
    """The sum over aspects and changes of the absolute difference to the printed number of pairs."""
    own = pairs_and_effects(pairs, texts, definition)
    return sum(abs(own[aspect, *change][0] - count) for aspect, change, count in cells(printed))


def cells(printed: Mapping[str, list]) -> Iterator[tuple[str, tuple[str, str], float]]:
    """(aspect, change, value) of a table of the paper."""
    for aspect, values in printed.items():
        for change, value in zip(CHANGES, values, strict=True):
            yield aspect, change, value


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", type=Path, help="CEBaB-v1.1.zip, such as results/sources/cebab/CEBaB-v1.1.zip")
    command_line.run(main, parser)
