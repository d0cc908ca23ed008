"""The registry of datasets: which module reads each one, from which files, and which levels of which factors it has.

The Snakefile imports this module, so it loads neither pandas nor any reader until :func:`load` is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import permutations, product
from pathlib import Path
from typing import TYPE_CHECKING

from evenlight.core.errors import InputError
from evenlight.core.factors import JOINT, PLACEBO, PLACEBO_LEVELS
from evenlight.core.sources import addressed
from evenlight.corpus import annotation
from evenlight.datasets.hatecheck_levels import DIRECTED, ENGLISH, GENERAL, functionalities
from evenlight.datasets.hatecheck_levels import GROUPS as GROUPS_NAMED
from evenlight.jobs import own_files

if TYPE_CHECKING:
    import pandas as pd

GROUPS = {"binary": annotation.GROUPS[:2], "three_class": annotation.GROUPS}
# The classes of sentences whose class is the gender, in the order of the labels of GECO's files.
GECO_LABELS = ("female", "male", "neutral")
GECO_CLASSES = {"binary": "binary_gender", "three_class": "non_binary_gender"}
GECO_WORDS = {"all": "all", "subject": "subj"}
SCOPES = {name: name for name in GECO_WORDS}
COMPAS = "compas/compas-scores-two-years.csv"
COMPAS_LEVELS = {
    "gender": ("male", "female"),
    "race": ("african_american", "asian", "caucasian", "hispanic", "native_american", "other"),
}
CROWS_PAIRS = "crows_pairs/crows_pairs_anonymized.csv"
CROWS_PAIRS_ATTRIBUTES = {  # and the bias types of the file
    "age": "age",
    "disability": "disability",
    "gender": "gender",
    "nationality": "nationality",
    "physical_appearance": "physical-appearance",
    "race_color": "race-color",
    "religion": "religion",
    "sexual_orientation": "sexual-orientation",
    "socioeconomic": "socioeconomic",
}
DEMO = "resources/demo/sentences.yaml"
THEMES = "resources/stereotypes/themes.yaml"
LEXICON = ("resources/lexicons/gendered_words.yaml", "resources/lexicons/given_names.yaml")
# The concepts of the causal world with their values, and those of them that cause the label.
CONCEPTS = {
    "care": ("careful", "careless"),
    "pace": ("quick", "slow"),
    "manner": ("friendly", "rude"),
    "dress": ("neat", "untidy"),
    "hobby": ("sport", "music"),
}
CAUSAL_CONCEPTS = ("care", "pace", "manner")
WORLD_LANGUAGES = {name: f"resources/causal_world/{name}.yaml" for name in ("english", "german")}
WINOBIAS_TYPES = {"all": ("type1", "type2"), "type1": ("type1",), "type2": ("type2",)}

HATECHECK = "hatecheck/test_suite_cases.csv"

CEBAB = "cebab/CEBaB-v1.1.zip"
ASPECTS = ("food", "service", "ambiance", "noise")
ASPECT_LEVELS = ("negative", "positive", "unknown")
CEBAB_GROUPS = {
    "cuisine": ("american", "french", "italian", "mediterranean", "seafood"),
    "price_tier": ("low", "med"),
    "region": ("midwest", "northeast", "south", "west"),
}


@dataclass(frozen=True)
class Dataset:
    """A dataset as its reader gives it.

    ``items`` and ``units`` have the columns of ``ITEMS`` and ``UNITS`` in :mod:`evenlight.core.contracts.texts`,
    ``classes`` the class names in the order of the labels, ``notes`` what the reader had to correct in the files, and
    ``places`` the row in which each item stands, where it is a table.
    """

    items: pd.DataFrame
    units: pd.DataFrame
    classes: list[str]
    notes: list[str] = field(default_factory=list)
    places: Sequence[str] = ()


@dataclass(frozen=True)
class ReaderKind:
    """A kind of dataset.

    ``module`` offers ``read(files, settings) -> Dataset``. ``sources`` gives the names in
    :data:`evenlight.core.sources.SOURCES`, and ``factors`` the factors with their levels, that the settings ask for;
    ``resources`` are files of this repository. ``files`` gives the paths that the settings themselves name: files of
    the user's own, or what another rule of the workflow makes. A reader is given the path of each of them, by its name.
    ``unbalanced`` names the factors of which a unit may have any number of items of a level, see
    :func:`evenlight.texts.items.check_items`.

    ``concepts`` gives the factors that are concepts: their units are changes of what a text says, and every item has
    an attribute with its level. ``groups`` gives other attributes of items, with their levels, that all texts of a
    change share. ``whole_clusters`` says whether all splits are made of whole clusters.
    """

    module: str
    sources: Callable[[dict], list[str]]
    factors: Callable[[dict], dict[str, list[str]]]
    resources: Sequence[str] = ()
    files: Callable[[dict], list[str]] = lambda settings: []
    unbalanced: Callable[[dict], list[str]] = lambda settings: []
    concepts: Callable[[dict], list[str]] = lambda settings: []
    groups: Callable[[dict], dict[str, list[str]]] = lambda settings: {}
    whole_clusters: bool = False


def setting(settings: dict, key: str, choices: dict):
    """The entry of ``choices`` that ``settings[key]`` names."""
    if settings.get(key) not in choices:
        raise InputError(f"dataset setting '{key}': {settings.get(key)!r}; choose one of {', '.join(choices)}")
    return choices[settings[key]]


def levels_of(factors: dict[str, list[str]], name: str) -> list[str]:
    """The levels of a factor, or of an intersection of ``factors`` such as ``gender+race``; none of an unknown one.

    Every dataset has the factor :data:`evenlight.core.factors.PLACEBO`, unless it has one of this name itself.

    >>> levels_of({"gender": ["male", "female"], "race": ["asian", "other"]}, "gender+race")
    ['male+asian', 'male+other', 'female+asian', 'female+other']
    """
    factors = {PLACEBO: PLACEBO_LEVELS} | factors
    return [JOINT.join(levels) for levels in product(*(factors.get(part, []) for part in name.split(JOINT)))]


def _gender(settings: dict) -> dict[str, list[str]]:
    return {"gender": list(setting(settings, "classes", GROUPS))}


def _compas_factors(settings: dict) -> dict[str, list[str]]:
    return {name: list(levels) for name, levels in COMPAS_LEVELS.items()}


def _geco_sources(settings: dict) -> list[str]:
    folder = f"{setting(settings, 'classes', GECO_CLASSES)}_{setting(settings, 'words', GECO_WORDS)}"
    return [f"geco/{folder}/{split}.jsonl" for split in ("train", "test")]


def _crows_pairs_factors(settings: dict) -> dict[str, list[str]]:
    setting(settings, "attribute", CROWS_PAIRS_ATTRIBUTES)
    attribute = settings["attribute"]
    return {attribute: ["male", "female"] if attribute == "gender" else ["advantaged", "disadvantaged"]}


def winobias_file(direction: str, kind: str, part: str) -> str:
    """The source with the sentences of a direction (pro, anti), kind (type1, type2) and part (test, dev)."""
    return f"winobias/{direction}_stereotyped_{kind}.txt.{part}"


def _winobias_sources(settings: dict) -> list[str]:
    kinds = setting(settings, "sentences", WINOBIAS_TYPES)
    return [
        winobias_file(direction, kind, part)
        for kind in kinds
        for part in ("test", "dev")
        for direction in ("anti", "pro")
    ]


def world_file(settings: dict) -> str:
    """The file with the words of the causal world: one of this repository, or the user's own."""
    if settings["file"]:
        return Path(settings["file"]).as_posix()
    return setting(settings, "language", WORLD_LANGUAGES)


def _world_factors(settings: dict) -> dict[str, list[str]]:
    concepts = {name: list(CONCEPTS[name]) for name in settings["concept_counterfactuals"]}
    return {"gender": list(GROUPS["binary"])} | concepts


def multilingual_file(language: str) -> str:
    """The source with the texts of a language."""
    return f"multilingual_hatecheck/hatecheck_cases_final_{language}.csv"


def _hatecheck_factors(settings: dict) -> dict[str, list[str]]:
    languages = settings.get("languages", [ENGLISH])

    def of_all(levels: Callable[[str], Sequence[str]]) -> list[str]:
        return list(dict.fromkeys(level for language in languages for level in levels(language)))

    factors = {"group": of_all(GROUPS_NAMED.get), "functionality": of_all(functionalities)}
    if len(languages) > 1:
        factors["language"] = list(languages)
    return factors


def level_names(levels: Sequence[str] | Mapping[str, str]) -> list[str]:
    """The levels of an attribute of one's own, which may be given for the values of its column.

    >>> level_names(["young", "old"]), level_names({"55+": "old", "<25": "young", "25-54": "young"})
    (['young', 'old'], ['old', 'young'])
    """
    return list(dict.fromkeys(levels.values() if isinstance(levels, Mapping) else levels))


def _own_factors(settings: dict) -> dict[str, list[str]]:
    return {name: level_names(entry["levels"]) for name, entry in settings["attributes"].items()}


def _own_unbalanced(settings: dict) -> list[str]:
    return [name for name, entry in settings["attributes"].items() if not entry["balanced"]]


def _files_below(folder: str) -> list[str]:
    """The files in a folder, hidden ones left out; none where it is no folder but an id on the hub."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return [
        path.as_posix() for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


READERS = {
    "geco": ReaderKind("evenlight.datasets.geco", sources=_geco_sources, factors=_gender),
    "demo": ReaderKind(
        "evenlight.datasets.demo",
        sources=lambda settings: [],
        factors=_gender,
        resources=(DEMO,),
    ),
    "annotated": ReaderKind(
        "evenlight.datasets.annotated",
        sources=lambda settings: [],
        factors=_gender,
        files=lambda settings: [Path(settings["file"]).as_posix()],
    ),
    "compas": ReaderKind(
        "evenlight.datasets.compas",
        sources=lambda settings: [COMPAS],
        factors=_compas_factors,
    ),
    "crows_pairs": ReaderKind(
        "evenlight.datasets.crows_pairs",
        sources=lambda settings: [CROWS_PAIRS],
        factors=_crows_pairs_factors,
        resources=LEXICON,
    ),
    "winobias": ReaderKind(
        "evenlight.datasets.winobias",
        sources=_winobias_sources,
        factors=lambda settings: {"gender": list(GROUPS["binary"])},
    ),
    "cebab": ReaderKind(
        "evenlight.datasets.cebab",
        sources=lambda settings: [CEBAB],
        factors=lambda settings: {aspect: list(ASPECT_LEVELS) for aspect in ASPECTS},
        concepts=lambda settings: list(ASPECTS),
        groups=lambda settings: {name: list(levels) for name, levels in CEBAB_GROUPS.items()},
    ),
    "hatecheck": ReaderKind(
        "evenlight.datasets.hatecheck",
        sources=lambda settings: [HATECHECK],
        factors=lambda settings: _hatecheck_factors(settings) | {"direction": [GENERAL, DIRECTED]},
        unbalanced=lambda settings: ["group", "functionality", "direction"],
        whole_clusters=True,
    ),
    "multilingual_hatecheck": ReaderKind(
        "evenlight.datasets.hatecheck",
        sources=lambda settings: list(map(multilingual_file, settings["languages"])),
        factors=_hatecheck_factors,
        unbalanced=lambda settings: ["group", "functionality", "language"],
        whole_clusters=True,
    ),
    "stereotypes": ReaderKind(
        "evenlight.datasets.stereotypes",
        sources=lambda settings: [],
        factors=lambda settings: {"gender": list(GROUPS["binary"])},
        resources=(THEMES,),
    ),
    "causal_world": ReaderKind(
        "evenlight.datasets.causal_world",
        sources=lambda settings: [],
        factors=_world_factors,
        concepts=lambda settings: list(settings["concept_counterfactuals"]),
        groups=lambda settings: {"gender": list(GROUPS["binary"])},
        resources=tuple(WORLD_LANGUAGES.values()),
        files=lambda settings: [Path(settings["file"]).as_posix()] if settings["file"] else [],
    ),
    "table": ReaderKind(
        "evenlight.datasets.table",
        sources=lambda settings: [],
        factors=_own_factors,
        files=lambda settings: [Path(settings["file"]).as_posix()],
        unbalanced=_own_unbalanced,
        whole_clusters=True,
    ),
    "questions": ReaderKind(
        "evenlight.datasets.questions",
        sources=lambda settings: [addressed(settings["file"], settings["sha256"])] if settings["sha256"] else [],
        factors=lambda settings: {settings["factor"]: list(settings["levels"])},
        files=lambda settings: [] if settings["sha256"] else [Path(settings["file"]).as_posix()],
        unbalanced=lambda settings: [] if settings["balanced"] else [settings["factor"]],
        whole_clusters=True,
    ),
    "hub": ReaderKind(
        "evenlight.datasets.hub",
        sources=lambda settings: [],
        factors=_own_factors,
        files=lambda settings: _files_below(settings["source"]),
        unbalanced=_own_unbalanced,
        whole_clusters=True,
    ),
}


def files_of_own(settings: dict) -> dict[str, str]:
    """The files that code of a user's own reads: their names as it gives them, and as paths."""
    with own_files.running("datasets", settings["reader"], "while it named its files", []):
        names = own_files.part_of("datasets", settings).files()
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise InputError(f"{settings['reader']}: files() gives {names!r}; give a list of paths")
        return {name: Path(name).expanduser().as_posix() for name in names}


# Of rows that code of a user's own gives, the columns are named as those of a table.
OWN = ReaderKind(
    "evenlight.datasets.own",
    sources=lambda settings: [],
    factors=_own_factors,
    files=lambda settings: list(files_of_own(settings).values()),
    unbalanced=_own_unbalanced,
    whole_clusters=True,
)


def reader_for(settings: dict) -> ReaderKind:
    """The reader that ``settings["reader"]`` names."""
    if settings.get("reader") not in READERS and own_files.is_own("datasets", settings.get("reader")):
        return OWN
    return setting(settings, "reader", READERS)


def concept_levels(settings: dict) -> dict[str, list[str]]:
    """The levels of each concept of a dataset, concepts by name."""
    reader = reader_for(settings)
    factors = reader.factors(settings)
    return {name: factors[name] for name in reader.concepts(settings)}


def change_factors(settings: dict) -> dict[str, list[str]]:
    """By what the changes of a dataset's concepts can be compared, with the levels; none where it has no concepts.

    ``concept`` is which one changes and ``change`` from what to what; the others are groups of the texts.

    >>> levels = change_factors({"reader": "causal_world", "concept_counterfactuals": ["care"]})
    >>> levels["change"], list(levels)
    (['careful_to_careless', 'careless_to_careful'], ['concept', 'change', 'gender'])
    """
    concepts = concept_levels(settings)
    if not concepts:
        return {}
    changes = [change_name(*pair) for levels in concepts.values() for pair in permutations(levels, 2)]
    own = {"concept": list(concepts), "change": list(dict.fromkeys(changes))}
    return own | reader_for(settings).groups(settings)


def change_name(before: str, after: str) -> str:
    """What a change from one level to another is called."""
    return f"{before}_to_{after}"


def load(files: dict[str, Path], settings: dict) -> Dataset:
    """Read the dataset that ``settings`` describe.

    ``files`` maps the reader's sources, resources and files to paths. Items and units are as in the files: neither
    checked against each other nor with a validation split, see :mod:`evenlight.texts.items`.
    """
    reader = reader_for(settings)
    declared = reader.factors(settings)
    for name in (*reader.sources(settings), *reader.resources, *reader.files(settings)):
        if name not in files:
            raise InputError(f"dataset reader '{settings['reader']}': file '{name}' is needed; name its path")
        if not Path(files[name]).is_file():
            raise InputError(f"{files[name]}: no such file; it must hold '{name}'")
    dataset = import_module(reader.module).read(files, settings)
    for factor, levels in declared.items():
        present = sorted(dataset.units.level[dataset.units.factor == factor].unique())
        if present != sorted(levels):
            raise InputError(
                f"dataset reader '{settings['reader']}': levels {', '.join(present)} of {factor} in the files, "
                f"{', '.join(sorted(levels))} expected; check the files and the settings"
            )
    wrong = dataset.items[~dataset.items.label.isin(range(len(dataset.classes)))]
    if len(wrong):
        item = wrong.iloc[0]
        raise InputError(
            f"dataset reader '{settings['reader']}', item {item.item_id}: label {item.label}; use the position of a "
            f"class in {', '.join(dataset.classes)} (from 0)"
        )
    return dataset
