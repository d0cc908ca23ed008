"""Answers of language models to questions about people, with one concept changed (Matton et al. 2025), as released.

The questions are 30 of BBQ. The authors released a file for each answer. Three tables are made of these, or lie in a
mirror; the checksums stand in :mod:`evenlight.core.sources`.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from evenlight.core.errors import InputError
from evenlight.core.files import read_yaml
from evenlight.datasets.dialect import read_released
from evenlight.texts.table_rows import RESTORE

TALK_COLUMNS = {
    "answers": ("model", "question", "form", "draw", "asked", "answer", "response"),
    "concepts": ("question", "concept", "name", "category"),
    "implied": ("model", "question", "draw", "concept", "implied"),
}
# How an answer says that it cannot be known who it is, up to the mark of the choice.
NOBODY = re.compile(r"(?:can.t|cannot|can not|not|undetermined|unknown)\b.*", re.IGNORECASE)

# Where an answer, and the judgement of one, lie in the folder of BBQ.
OF_MODEL = r"(gpt-3\.5|gpt-4o)-few-shot-cot/example_(\d+)"
ANSWER = re.compile(
    rf"model-responses/{OF_MODEL}/(?:original/response|counterfactual/response_counterfactual=([-01]+))_n=(\d+)\.json"
)
JUDGEMENT = re.compile(rf"implied-concepts/{OF_MODEL}/original/implied_concepts_response_n=(\d+)\.json")
CONCEPTS = re.compile(r"counterfactual-generation/example_(\d+)/concepts\.json")


def tables(files: Mapping[str, bytes]) -> dict[str, pd.DataFrame]:
    """The three tables ``bbq_*.parquet`` of the released files, by their paths in the folder of BBQ.

    A row of ``answers`` is an answer to a ``form`` of a ``question``. A form is ``original`` or has a sign for each
    concept: 0 as it was, 1 replaced, - removed. ``asked`` is the last question of the prompt, without the instruction.
    ``answer`` counts the choices from 0. A row of ``concepts`` is a concept, with what it was (``value``) and by what
    it was replaced (``other``). A row of ``implied`` says whether an answer's reason implies that a concept matters.
    Rows stand in the order of the files' names, where draw 10 goes before draw 2.
    """
    rows = {name: [] for name in TALK_COLUMNS}
    for path in sorted(files):
        if found := ANSWER.fullmatch(path):
            model, question, form, draw = found.groups()
            said = json.loads(files[path])
            asked = said["prompt"].rpartition("###\n\n")[2].partition("\n\nPlease verbalize")[0]
            rows["answers"].append(
                (model, question, form or "original", int(draw), asked, said["answer"], said["response"])
            )
        elif found := JUDGEMENT.fullmatch(path):
            model, question, draw = found.groups()
            (decisions,) = json.loads(files[path])["concept_decisions"]
            rows["implied"].extend((model, question, int(draw), *judged) for judged in enumerate(decisions))
        elif found := CONCEPTS.fullmatch(path):
            folder = path.removesuffix("concepts.json")
            names, categories, settings = (
                json.loads(files[f"{folder}{name}.json"]) for name in ("concepts", "categories", "concept_settings")
            )
            rows["concepts"].extend(
                (found[1], number, name, category, values["current_setting"], values["new_settings"][0])
                for number, (name, category, values) in enumerate(zip(names, categories, settings, strict=True))
            )
    columns = TALK_COLUMNS | {"concepts": (*TALK_COLUMNS["concepts"], "value", "other")}
    return {f"bbq_{name}.parquet": pd.DataFrame(rows[name], columns=columns[name]) for name in columns}


def read_part(folder: Path, part: str, resources: Path) -> pd.DataFrame:
    """A part of the answers as a study reads it, of a folder of fetched files.

    ``questions`` has all answers. The level of a question is what it tells its people apart by: their ``ethnicity``, by
    race, nationality or name, or ``other`` (gender, religion, orientation, wealth, disability), see ``about``.
    ``swapped`` has the answers to each question as it was (``original``) and with its people swapped.

    Args:
        folder: with the fetched files under their names.
        part: ``questions`` or ``swapped``.
        resources: the file of kinds of concepts and of what questions are about.
    """
    answers = walk_the_talk_answers(folder / "walk_the_talk", resources)
    if part == "swapped":
        people = answers[(answers["kind"] == "identity") & (answers["change"] == "replaced")]
        # Where a question tells people apart by two things, the first is swapped.
        first = people.groupby("unit")["concept"].transform("min") == people["concept"]
        both = pd.concat([answers[answers["concept"].isna()], people[first]], ignore_index=True)
        level = both["concept"].notna().map({True: "swapped", False: "original"})
        return both.assign(level=level, concept=None, change=None, kind=None, implied=None)
    return answers.assign(level=answers["about"].where(answers["about"] == "ethnicity", "other"))


def walk_the_talk_answers(folder: Path, resources: Path) -> pd.DataFrame:
    """The answers to BBQ's questions with a concept removed or replaced, of the three tables of Matton et al. (2025).

    ``level`` is ``original`` or such as ``0 removed``. ``concept`` is the number of the changed concept, missing of the
    original, ``concept_name`` and ``kind`` say which it is, and ``change`` what was done. ``reference`` is the choice
    that names nobody. ``implied`` lists the concepts that the reason says to matter; it is missing where nobody judged
    it. ``about`` is what the question tells its people apart by, such as their ethnicity.

    Args:
        folder: with the tables ``bbq_*.parquet``.
        resources: the file that says of which kind each concept is.
    """
    answers, concepts, judgements = (
        read_released(folder / f"bbq_{name}.parquet", columns) for name, columns in TALK_COLUMNS.items()
    )
    published = read_yaml(resources, RESTORE)
    kinds = {fine: kind for kind, listed in published["kinds"].items() for fine in listed}
    of_category = concepts["category"].map(lambda category: kinds.get(category, category))
    concepts = concepts.assign(kind=concepts["name"].map(published["exceptions"]).fillna(of_category))
    concepts = concepts.rename(columns={"name": "concept_name"})
    changed = answers["form"].map(_changed)
    answers = answers.assign(
        concept=pd.array([place for place, _ in changed], dtype="Int64"), change=[change for _, change in changed]
    )
    named = answers.merge(
        concepts[["question", "concept", "concept_name", "kind"]].astype({"concept": "Int64"}),
        on=["question", "concept"],
        how="left",
    )
    about = {question: group for group, listed in published["about"].items() for question in listed}
    keys = ["model", "question", "draw"]
    implied = judgements.groupby(keys)[["concept", "implied"]].apply(
        lambda judged: judged.loc[judged["implied"] == 1, "concept"].tolist()
    )
    originals = named["form"] == "original"
    judged = pd.MultiIndex.from_frame(named[keys])
    lists = [implied.get(key) if original else None for key, original in zip(judged, originals, strict=True)]
    level = named["concept"].astype(str) + " " + named["change"].fillna("")
    return pd.DataFrame(
        {
            "unit": named["question"],
            "level": level.where(~originals, "original"),
            "draw": named["draw"],
            "model": named["model"],
            "question": named["asked"],
            "decision": [chr(ord("A") + answer) if 0 <= answer < 26 else None for answer in named["answer"]],
            "text": named["response"],
            "concept": named["concept"],
            "concept_name": named["concept_name"],
            "kind": named["kind"],
            "change": named["change"],
            "reference": named["asked"].map(_nobody),
            "implied": lists,
            "about": named["question"].map(about),
        }
    )


def _changed(form: str) -> tuple[int | None, str | None]:
    """Which concept a form changes, and how.

    >>> _changed("original"), _changed("00-0"), _changed("01")
    ((None, None), (2, 'removed'), (1, 'replaced'))
    """
    if form == "original":
        return None, None
    places = [place for place, sign in enumerate(form) if sign != "0"]
    if len(places) != 1 or form[places[0]] not in "-1":
        raise InputError(f"form '{form}': not one concept changed; it must be 0 throughout, but one 1 or -")
    return places[0], "removed" if form[places[0]] == "-" else "replaced"


def _nobody(asked: str) -> str | None:
    """The letter of the choice that names nobody; None where no choice, or more than one, does."""
    choices = re.findall(r"^\(([A-Z])\) (.*)$", asked, re.MULTILINE)
    letters = [letter for letter, choice in choices if NOBODY.fullmatch(choice.strip())]
    return letters[0] if len(letters) == 1 else None
