"""HateCheck and Multilingual HateCheck: short texts about seven groups of people, hateful or not, made from templates.

Röttger et al. (2021), "HateCheck: Functional Tests for Hate Speech Detection Models", and Röttger et al. (2022),
"Multilingual HateCheck". A template with its seven groups is one text in seven forms. A functionality is what a
template tests, such as a threat, a negation or a spelling.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from evenlight.core.factors import ATTRIBUTE
from evenlight.datasets.base import Dataset, Reader
from evenlight.datasets.fields import SplitSeed, ValidationShare
from evenlight.settings import Different
from evenlight.texts.splitting import Segmenter, spaces_around, split_words
from evenlight.texts.table_rows import PUBLISHED, csv_rows

GENERAL, DIRECTED = "general", "directed"
ENGLISH = "english"
_COMMON = ("women", "trans_people", "gay_people", "disabled_people")
# The groups that all complete templates of a language name, in the order of the published files' paper.
GROUPS = {
    ENGLISH: (*_COMMON, "black_people", "muslims", "immigrants"),
    "arabic": (*_COMMON, "black_people", "jews", "immigrants"),
    "dutch": (*_COMMON, "black_people", "muslims", "immigrants"),
    "french": (*_COMMON, "black_people", "muslims", "refugees"),
    "german": (*_COMMON, "black_people", "jews", "refugees"),
    "hindi": ("women", "trans_people", "gay_people", "black_people", "muslims", "lower_caste", "north_east_indians"),
    "italian": (*_COMMON, "black_people", "muslims", "immigrants"),
    "mandarin": (*_COMMON, "black_people", "muslims", "foreigners"),
    "polish": (*_COMMON, "asian_people", "jewish_people", "immigrants"),
    "portuguese": (*_COMMON, "black_people", "jews", "indigenous_people"),
    "spanish": (*_COMMON, "black_people", "jews", "indigenous_people"),
}
LANGUAGES = tuple(language for language in GROUPS if language != ENGLISH)

_EVERYWHERE = (
    "counter_quote_nh",
    "counter_ref_nh",
    "derog_dehum_h",
    "derog_impl_h",
    "derog_neg_attrib_h",
    "derog_neg_emote_h",
    "ident_neutral_nh",
    "ident_pos_nh",
    "negate_neg_nh",
    "negate_pos_h",
    "phrase_opinion_h",
    "phrase_question_h",
    "profanity_h",
    "ref_subs_clause_h",
    "ref_subs_sent_h",
    "threat_dir_h",
    "threat_norm_h",
)
_SPELLINGS = ("char_del", "char_swap", "leet", "space_add", "space_del")
_OWN_SPELLINGS = {
    "arabic": ("char_eng_replace", "char_repeat", "sent_arabazi", "space_add", "word_variation"),
    "mandarin": ("char_comp", "homoph", "pinyin"),
}
# In the other languages the templates with slurs have none for some group.
_SLURS = (ENGLISH, "arabic", "dutch", "mandarin", "polish")


def functionalities(language: str) -> list[str]:
    """The functionalities of a language's complete templates.

    >>> len(functionalities("english")), "slur_h" in functionalities("german")
    (23, False)
    """
    spellings = [f"spell_{name}_h" for name in _OWN_SPELLINGS.get(language, _SPELLINGS)]
    return [*_EVERYWHERE, *spellings, *(["slur_h"] if language in _SLURS else [])]


HATECHECK = "hatecheck/test_suite_cases.csv"

CLASSES = ["non_hateful", "hateful"]
LABELS = {"non-hateful": 0, "hateful": 1}
NAMES_GROUP = "group"  # what a word carries that names the group
PLACEHOLDER = re.compile(r"\[[^\]]+\]")
SAME_GROUP = {"immigrant": "immigrants"}  # both are in the Polish file
NONE = "-"
FIELDS = ("functionality", "test_case", "label_gold", "target_ident", "ref_templ_id", "templ_id", "case_templ")


def multilingual_file(language: str) -> str:
    """The source with the texts of a language."""
    return f"multilingual_hatecheck/hatecheck_cases_final_{language}.csv"


class HatefulTexts(Reader):
    """What both suites of hateful and harmless texts have in common."""

    whole_clusters: ClassVar[bool] = True

    show_texts: bool = Field(
        False, description="Whether pages and figures may print the texts, many of which are hateful, and their words."
    )
    test_share: float = Field(
        1.0,
        gt=0,
        le=1,
        description=(
            "Share of the templates that is drawn for the test split, each with those that were made from it. The "
            "suite is made to test models that are trained elsewhere: 1 takes all."
        ),
    )
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0

    def unbalanced(self) -> list[str]:
        """All of its factors."""
        return list(self.factors())

    def texts_of(self, files: Mapping[str, Path], languages: Sequence[str], segmenter: str) -> Dataset:
        """Every text of the templates that name all groups, as one form of its template.

        Words that name the group carry ``group``. ``test_share`` of the templates, each with those that were made from
        it, are drawn for the test split. A template may have several texts of a group (slurs). Notes count the texts
        that are left out.
        """
        import pandas as pd

        from evenlight.texts.items import assign_test, separated

        items, notes = [], []
        for language, name in zip(languages, self.sources(), strict=True):
            cases = list(_cases(files[name], language))
            complete = _complete(cases, GROUPS[language])
            roots = _roots(cases)
            items += [_item(case, language, roots, segmenter) for case in cases if case["templ_id"] in complete]
            left_out = sum(case["templ_id"] not in complete for case in cases)
            notes.append(f"{language}: texts of templates that do not name all groups, left out: {left_out}")
        rows = pd.DataFrame(items)
        rows = assign_test(rows, rows["cluster"], self.test_share, self.split_seed)
        return Dataset(*separated(rows, self.factors()), CLASSES, notes)


class HateCheck(HatefulTexts):
    """English texts made from templates that name seven groups of people, `hateful` or not (Röttger et al. 2021). The
    forms of a template are a unit, and the words that it turns on are its ground truth. Attributes: `group`,
    `functionality` and, of hateful texts, `direction`.
    """

    title: ClassVar[str] = "HateCheck"

    reader: Literal["hatecheck"]

    def sources(self) -> list[str]:
        """The published table."""
        return [HATECHECK]

    def factors(self) -> dict[str, list[str]]:
        """The group, the functionality and, of hateful texts, the direction."""
        return {
            "group": list(GROUPS[ENGLISH]),
            "functionality": functionalities(ENGLISH),
            "direction": [GENERAL, DIRECTED],
        }

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """The English texts, with the words that they turn on as ground truth."""
        return self.texts_of(files, [ENGLISH], "unicode")


class MultilingualHateCheck(HatefulTexts):
    """The same suite in ten other languages (Röttger et al. 2022), each with seven groups of its own, without ground
    truth. Attributes: `group`, `functionality` and, of several languages, `language`.
    """

    title: ClassVar[str] = "Multilingual HateCheck"

    reader: Literal["multilingual_hatecheck"]
    languages: Different[Literal[LANGUAGES]] = Field(min_length=1, description="Which languages are read.")
    segmenter: Segmenter = "unicode"

    def sources(self) -> list[str]:
        """A table for each language."""
        return list(map(multilingual_file, self.languages))

    def factors(self) -> dict[str, list[str]]:
        """The group, the functionality and, of several languages, the language."""
        factors = {
            "group": [group for language in self.languages for group in GROUPS[language]],
            "functionality": [name for language in self.languages for name in functionalities(language)],
        }
        of_all = {name: list(dict.fromkeys(levels)) for name, levels in factors.items()}
        return of_all | ({"language": list(self.languages)} if len(self.languages) > 1 else {})

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """The texts of all languages, without ground truth."""
        return self.texts_of(files, self.languages, self.segmenter)


def _cases(path: Path, language: str) -> Iterator[dict]:
    own = ("case_id", "direction", "focus_words") if language == ENGLISH else ("mhc_case_id",)
    for _, row in csv_rows(path, (*FIELDS, *own), PUBLISHED):
        group = re.sub(r"\W+", "_", row["target_ident"].lower())
        templates = [row.get(field, "") for field in ("case_templ", "gender_male", "gender_female")]
        yield row | {
            "group": SAME_GROUP.get(group, group),
            "templates": [template for template in templates if template],
        }


def _complete(cases: Sequence[Mapping], groups: Sequence[str]) -> set[str]:
    """The templates that every group has a text of."""
    found: dict[str, set[str]] = {}
    for case in cases:
        found.setdefault(case["templ_id"], set()).add(case["group"])
    return {template for template, its in found.items() if its >= set(groups)}


def _roots(cases: Sequence[Mapping]) -> dict[str, str]:
    """The template from which each was made, back to the first one: a negation of a text stays with that text."""
    # The multilingual files write the number of the other template as 242.0.
    made_from = {case["templ_id"]: case["ref_templ_id"].removesuffix(".0") for case in cases if case["ref_templ_id"]}
    roots = {}
    for template in {case["templ_id"] for case in cases}:
        path = [template]
        while (before := made_from.get(path[-1])) and before not in path:
            path.append(before)
        roots[template] = path[-1]
    return roots


def _item(case: Mapping, language: str, roots: Mapping[str, str], segmenter: str) -> dict:
    words = split_words(case["test_case"], segmenter)
    names = named_words(case["test_case"], words, case["templates"])
    is_english = language == ENGLISH
    item = {
        "item_id": f"{ENGLISH}-{case['case_id']}" if is_english else case["mhc_case_id"],
        "unit_id": f"{language}-{case['templ_id']}",
        "words": words,
        "spaces": spaces_around(case["test_case"], words),
        "ground_truth": focus(words, names, case["focus_words"]) if is_english else None,
        "carries": [NAMES_GROUP if named else None for named in names],
        "label": LABELS[case["label_gold"]],
        "split": "train",
        "cluster": f"{language}-{roots[case['templ_id']]}",
        ATTRIBUTE + "group": case["group"],
        ATTRIBUTE + "functionality": case["functionality"],
        ATTRIBUTE + "language": language,
    }
    if is_english:
        item[ATTRIBUTE + "direction"] = None if case["direction"] == NONE else case["direction"]
    return item


def named_words(text: str, words: Sequence[str], templates: Sequence[str]) -> list[bool]:
    """Which words of a text stand, in part or as a whole, where one of its templates has a placeholder for the group.

    Where the text is none of its templates with other words in the place of the placeholder, since its article changed
    as well, these are the words in the place of the placeholder and of what changed beside it.

    >>> named_words("I know no women.", ["I", "know", "no", "women", "."], ["I know no [IDENT_P]."])
    [False, False, False, True, False]
    >>> named_words("Odio gli altri.", ["Odio", "gli", "altri", "."], ["Odio i [male_IDENT_P]."])
    [False, True, True, False]
    """
    for template in templates:
        parts = [re.escape(part) for part in PLACEHOLDER.split(template.strip())]
        if found := re.fullmatch("(.+?)".join(parts), text.strip(), re.IGNORECASE):
            spans = [found.span(number) for number in range(1, len(parts))]
            return [any(start < b and a < end for a, b in spans) for start, end in _places(text.strip(), words)]
    of_templates = [_beside_placeholder(words, template) for template in templates]
    return min(of_templates, key=sum) if of_templates else [False] * len(words)


def _places(text: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each word begins and ends in its text."""
    end = 0
    for word in words:
        start = text.index(word, end)
        end = start + len(word)
        yield start, end


def _beside_placeholder(words: Sequence[str], template: str) -> list[bool]:
    """Which words stand in the place of a stretch of the template with a placeholder."""
    placeholder = "\0"
    pieces = [split_words(part.lower()) for part in PLACEHOLDER.split(template)]
    expected = pieces[0]
    for piece in pieces[1:]:
        expected = [*expected, placeholder, *piece]
    named = [False] * len(words)
    blocks = SequenceMatcher(None, expected, [word.lower() for word in words], autojunk=False).get_opcodes()
    for _, first, last, start, end in blocks:
        if placeholder in expected[first:last]:
            named[start:end] = [True] * (end - start)
    return named


def focus(words: Sequence[str], names: Sequence[bool], said: str) -> list[int] | None:
    """1 for each word that a text turns on, wherever it stands; None where there is none, or not all stand there.

    Args:
        words: of the text.
        names: which of them name the group.
        said: as the file has it: words, several with ``,`` or ``...`` between them, or the placeholder of a slur.

    >>> focus(["lives", "of", "them", "are", "worthless"], [False, False, True, False, False], "lives ... worthless")
    [1, 0, 0, 0, 1]
    >>> focus(["hat", "them"], [False, True], "hate") is None
    True
    """
    if said == NONE:
        return None
    if PLACEHOLDER.fullmatch(said):
        return [int(name) for name in names]
    lower, marks = [word.lower() for word in words], [0] * len(words)
    for part in filter(None, re.split(r"\.\.\.|,", said)):
        wanted = split_words(part.lower())
        starts = [at for at in range(len(words)) if wanted and lower[at : at + len(wanted)] == wanted]
        if wanted and not starts:
            return None
        for at in starts:
            marks[at : at + len(wanted)] = [1] * len(wanted)
    return marks
