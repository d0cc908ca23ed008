"""What the page says, against the tables that it tells of; that it can be used is tested in tests/browser."""

import json
import re
from collections.abc import Sequence
from functools import cached_property
from html import unescape
from html.parser import HTMLParser
from itertools import combinations

import jsonschema
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from bs4 import BeautifulSoup
from page_study import LABELS, SUBJECTS, PageStudy, with_verdicts
from rendering import too_long
from schemas import schema_of
from scipy.stats import binom
from study_files import made
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.results import GROUP_RELIANCE, PAIR_INVARIANCE, WORDS_BY_GROUP
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.reports.index import opening
from evenlight.reports.index.certainty import describe_analyses
from evenlight.reports.index.comparisons import Judged, open_comparisons
from evenlight.reports.index.content import study_content
from evenlight.reports.index.found import Found
from evenlight.reports.index.page import card, plain, render, write_page
from evenlight.reports.index.reliance import describe_reliance
from evenlight.reports.index.store import Store
from evenlight.reports.index.views import Folders
from evenlight.reports.verdict_words import at_least, describe_counts
from evenlight.statistics.analyses.planning import texts_needed
from evenlight.statistics.comparisons.files import Run, items_path, predictions_path, units_path
from evenlight.statistics.comparisons.score_files import read_scores

NAN = float("nan")
HOSTILE = "<img src=x onerror=alert(1)>|`_*[a](javascript:x)"
LEARNT = pd.DataFrame(
    {"dataset": "plots", "model": "small", "seed": [0, 1], "value": 0.9, "low": 0.8, "high": 0.96, "chance": 0.5}
)
CONTROL = pd.DataFrame({"permutation": [0, 1], "family": "study", "cells": 4, "disparities": [0, 1]})


class Told(dict):
    """The words of a page, and the page itself."""

    def __init__(self, content, store: Store) -> None:
        super().__init__(content.told)
        self.content, self.store = content, store

    @property
    def page(self) -> str:
        return render(self.content, self.store)

    def findings(self) -> list[dict]:
        """The comparisons of which a verdict names a group, the clearest first, and what is said of each."""
        named = sorted((each for each in self["comparisons"] if each["side"]), key=lambda each: each["p_adjusted"])
        return [each | {"said": " ".join(each["said"])} for each in named]


class AuditedStudy(PageStudy):
    """A made study with its audit."""

    # Explainers that are computed together, on two devices, and one of which nothing is known.
    costs = pd.DataFrame(
        [
            ["ig", "ig, lime", "A CPU", 1, 3, 60, 0.125, 20.0, 50.4],
            ["lime", "ig, lime", "A CPU", 1, 3, 60, 0.125, 30.0, 50.4],
            ["lime", None, None, None, 0, 0, NAN, NAN, NAN],
        ],
        columns=["explainer", "together", "device", "threads", "seeds", "texts", "seconds", "rows", "rows_asked"],
    ).assign(dataset="plots", model="small", threads=lambda table: table["threads"].astype("Int64"))

    def audit(
        self,
        effects: pd.DataFrame,
        texts: bool = True,
        beyond: pd.DataFrame | None = None,
        balanced: pd.DataFrame = LEARNT,
        hidden: tuple[str, ...] = (),
        **changed,
    ) -> Told:
        settings = self.settings(**changed)
        wanted = {name: settings[name] for name in ("as_often_bound", "power")}
        of_scores = {"models": settings["seeds"], "comparisons": settings["comparisons"], "family": "made"}
        counted = self.computed("count_texts", **of_scores, explainers=list(self.explainers[:1]))
        found = {
            "effects": effects,
            "effect_counts": self.judged[1],
            "verdict_control": CONTROL,
            "balanced_accuracy": balanced,
            **dict(zip(("audited_texts", "audited_groups", "different_texts"), counted, strict=True)),
            "texts_needed": texts_needed(effects, **wanted),
            "without_words": self.computed("classify_empty_texts", hidden=list(hidden))[0],
            "costs": self.costs,
            "decision_rates": self.decisions(),
            **({} if beyond is None else {"beyond_random": beyond}),
            **self.reliance(),
        }
        manifest = {"settings": {"source": "hub/model"}, "loaded": {"source": "hub/model", "files": {"w": "ab" * 32}}}
        folders = self.folders if texts else Folders(self.folders.scores, self.folders.datasets)
        store = Store()
        manifests = {Run("plots", "small", 0): manifest}
        return Told(study_content(folders, Found(found, ["a note"]), store, manifests, **settings), store)

    def computed(self, result: str, **settings: object) -> Sequence[pd.DataFrame]:
        """The tables of a result, by default of the model that is explained."""
        names = ("scores", "datasets", "predictions", "attributions")
        folders = {name: getattr(self.folders, name) for name in names}
        return made(
            result, folders, **{"datasets": [self.dataset], "models": {self.model: list(self.seeds)}} | settings
        )

    def decisions(self) -> pd.DataFrame:
        """The rates of the model's decisions."""
        return self.computed("describe_decisions")[0]

    def reliance(self) -> dict[str, pd.DataFrame]:
        """The tables of words; the first explainer draws nothing, the second has no other with its settings."""
        return self._reliance

    @cached_property
    def _reliance(self) -> dict[str, pd.DataFrame]:
        found = self.computed(
            "measure_reliance",
            explainers={name: name if name == "ig" else None for name in self.explainers},
            comparisons={"gender": [["male", "female"]]},
            words_of=[self.dataset],
            texts=2,
            confidence=0.95,
        )
        folder = self.folders.datasets.parent / "tables"
        contracts = {
            "pair_invariance": PAIR_INVARIANCE,
            "group_reliance": GROUP_RELIANCE,
            "words_by_group": WORDS_BY_GROUP,
        }
        for (name, contract), table in zip(contracts.items(), found, strict=True):
            tables.write_table(table, folder / f"{name}.parquet", contract)
        return {name: tables.read_exactly(folder / f"{name}.parquet", contract) for name, contract in contracts.items()}

    def means(self, metric: str) -> pd.Series:
        """The scores of the first explainer, mean over the runs, by text."""
        runs = [Run("plots", "small", seed) for seed in self.seeds]
        scores = [read_scores(self.folders.scores, run, "ig", {metric: "made"}) for run in runs]
        return pd.concat(scores).groupby("item_id")[metric].mean()


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> AuditedStudy:
    return AuditedStudy(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def effects(study) -> pd.DataFrame:
    return study.effects()


@pytest.fixture(scope="module")
def audit(study, effects) -> dict:
    return study.audit(effects)


def test_the_file_for_programs_keeps_to_its_schema(audit, effects):
    schema_of("audit").validate(json.loads(json.dumps(audit)))
    with pytest.raises(jsonschema.ValidationError, match=r"side|2"):
        schema_of("audit").validate(audit | {"comparisons": [audit["comparisons"][0] | {"side": 2}]})
    asked = effects[effects["family"] != "control"]
    told = {(row["explainer"], row["metric"]): row["verdict"] for row in audit["comparisons"]}
    assert len(told) == len(asked)
    assert told == dict(zip(zip(asked["explainer"], asked["metric"], strict=True), asked["verdict"], strict=True))


def test_the_card_of_the_made_study(audit, snapshot):
    """All that an audit says, as Markdown; the page is made of the same content."""
    snapshot(re.sub(r"\b[0-9a-f]{64}\b", "a digest", card(audit)))


def test_comparisons_are_the_rows_of_the_table_and_say_for_whom_explanations_are_better(study, effects, audit):
    assert [each["metric"] for each in audit.findings()] == ["comprehensiveness", "gini"]
    named = effects[effects["side"] != 0].sort_values("p_adjusted")
    for told, row in zip(audit.findings(), named.itertuples(), strict=True):
        # Every number under the name that it has in the table.
        for name in ("wins", "losses", "ties", "side", "verdict", "family", "seeds_agree"):
            assert told[name] == getattr(row, name)
        for name in ("share", "family_low", "family_high", "p_adjusted", "difference", "net_benefit", "most_differ"):
            assert told[name] == pytest.approx(getattr(row, name), rel=1e-5)
        means = study.means(told["metric"])
        difference = pd.Series({f"p{pair}": means[f"m{pair}"] - means[f"f{pair}"] for pair in range(30)}, dtype=float)
        assert told["difference"] == pytest.approx(difference.mean(), abs=1e-5)
        # The second metric is better where it is lower.
        won = int((difference * (1 if told["metric"] == "comprehensiveness" else -1) > 0).sum())
        assert (told["wins"], told["losses"], told["counts"]) == (won, 30 - won, f"{won}–{30 - won}–0")
        better = "male" if won > 15 else "female"
        assert f"In {max(won, 30 - won)} of 30 pairs “{better}” is" in told["said"]
        assert f" | Small BERT on plots: male and female | {won}–{30 - won}–0 |" in card(audit)


def test_what_has_no_score_is_said_to_be_left_out(study, effects):
    cells = effects.assign(left_out_a=[3, 1, 0, 0], left_out_b=[3, 2, 0, 0], paired=[True, False, True, True])
    cells = cells.assign(unit=["pairs", "texts", "pairs", "pairs"], left_out_seeds=["", "", "2", ""])
    told = study.audit(cells, texts=False)["comparisons"]
    left_out = [[text for text in each["said"] if "Left out" in text] for each in told]
    assert [" ".join(each) for each in left_out] == [says("3 pairs."), says("1 and 2 texts."), says("seed 2."), ""]


def test_explained_texts_that_are_in_no_pair_are_counted(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0,))
    alone = study.units["unit_id"].isin([f"p{pair}" for pair in range(5)]) & (study.units["level"] == "male")
    units = study.units.assign(unit_id=study.units["unit_id"].where(~alone, "alone " + study.units["unit_id"]))
    tables.write_table(units, units_path(study.folders.datasets, "plots"), UNITS)
    told = study.audit(study.effects(), texts=False)
    assert {each["units"] for each in told["comparisons"]} == {"25 pairs"}
    assert told["left_out"] == [says("Of 60 explained texts", "“male” and “female”", "10 are in no pair", "25 pairs")]
    assert says("10 are in no pair") == unescape(told.page)


def test_pairs_and_texts_without_pairs_stand_on_one_page(study, effects):
    """Texts have no wins, which a table that has been read says by another value than NaN."""
    counts = effects[["wins", "losses", "ties"]].astype("Int64")
    counts.iloc[1] = pd.NA
    cells = effects.assign(**counts, unit=["pairs", "texts", "pairs", "pairs"], paired=[True, False, True, True])
    told = study.audit(cells, texts=False)
    first, second = told["comparisons"][:2]
    assert (first["counts"], second["wins"]) == (f"{first['wins']}–{first['losses']}–0", None)
    assert second["counts"].endswith(" of 100")
    assert "a random text of" in second["said"][0].lower()
    assert f"| {second['counts']} |" in card(told)


def judged_by(*explainers: str) -> Judged:
    """How a study with these explainers was judged."""
    names = {
        "datasets": {"plots": "Plots"},
        "models": {"small": "Small"},
        "explainers": {name: name for name in explainers},
    }
    return Judged(**names, metrics={}, sizes={}, as_often_bound=0.2, power=0.8)


def test_it_is_said_how_often_texts_were_judged_and_at_which_level(study):
    place = {"dataset": "plots", "model": "small", "factor": "gender", "level_a": "male", "level_b": "female"}
    judged = judged_by()
    first = place | {"analysis": 1, "plan": "", "level": 0.05}
    assert describe_analyses([first], judged) == [says("judged once", "level 0.05")]
    both = [first, first | {"analysis": 2, "level": 0.1}]
    assert describe_analyses(both, judged) == [says("judged 2 times, without a plan", "level 0.1")]
    others = first | {"factor": "age", "plan": "two looks", "level": 0.01}
    assert describe_analyses([*both, others], judged)[1] == says(
        "once", "two looks", "level 0.01: male and female, Small"
    )
    assert describe_analyses([], judged) == []


def test_a_mean_that_points_the_other_way_is_said_after_the_counts_and_first_of_all(study, effects, audit):
    content = study.audit(effects.assign(apart=[True, False, False, False]), texts=False)
    first, second = content["comparisons"][:2]
    assert "better for “female”" in first["said"][1]
    assert "mean is better" not in " ".join(second["said"])
    assert content["opening"][0] == says(
        "better than those of “female”", "expect", "mean is better for “female”", "In 2"
    )
    assert "mean is better" not in audit["opening"][0]


@pytest.mark.parametrize("verdict", ["female more often", "as often", "undecided"])
def test_the_answer_says_who_has_the_worst_scores(study, effects, verdict):
    """Of one question also in how many pairs."""
    cells = with_verdicts(effects, verdict).assign(worst_side=[1, -1, -1, 0], worst_a=7, worst_b=1)
    for rows, said in ((cells, "3 of 4 questions"), (cells[:1], "“male” has"), (cells[3:], "")):
        answer = study.audit(rows, texts=False)["opening"][0]
        assert (says(said, "worst tenth of scores more often") == answer) == bool(said)
    assert study.audit(cells, texts=False)["opening"][0].endswith(": “male” once, “female” twice.")
    assert study.audit(cells[:1], texts=False)["opening"][0].endswith("7 against 1 pairs.")


def test_the_first_lines_say_what_is_found_ruled_out_and_open(study, effects, snapshot):
    reason = "4 decided pairs are too few among 4 comparisons"
    cells = with_verdicts(effects, ["male more often", "as often", "undecided", "not decidable"])
    content = study.audit(cells.assign(reason=[None, None, None, reason]))
    # The one that is not decidable is named.
    snapshot(*content["opening"], *content["open"][0]["said"])
    signs = [(entry["sign"], entry["count"]) for entry in content["verdicts"]["signs"]]
    assert signs == [("M", 1), ("=", 1), ("?", 1), ("–", 1)]
    shown = re.findall(r'<li style="background: (#\w+)">(\S+) ([^<:]*):', content.page)
    assert [verdict for _, _, verdict in shown] == list(cells["verdict"])
    assert len({colour for colour, _, _ in shown}) == 3


def test_counts_of_a_section_are_those_of_sets_that_make_it(study, effects):
    """Two pairs of groups: of each section the counts of its comparison; in all, those of all."""
    other = effects.assign(level_a="female", level_b="neutral")
    both, counts = pd.concat([effects, other], ignore_index=True), study.judged[1]
    more = [
        counts.assign(comparisons=2 * counts["comparisons"], differ=3, first=2, second=1)[counts["set"] == "all"],
        counts[counts["set"] == "comparison"],
        counts[counts["set"] == "comparison"].assign(name="gender female neutral", differ=2, first=0, second=2),
    ]
    counts = pd.concat(more)
    # All say (3, 2, 1) and both comparisons (4, 1, 3); what is better for either group is not the same.
    assert at_least(with_verdicts(both, "undecided"), counts) == (5, 2, 3)
    assert at_least(effects, counts) == (2, 1, 1)
    assert at_least(other, counts) == (3, 1, 2)
    assert "“female”" not in describe_counts(both, counts)
    # Nothing is known of a set that no others make, but what its verdicts say.
    assert at_least(both.iloc[:5], counts) == (3, 2, 1)
    assert at_least(with_verdicts(both.iloc[:5], "undecided"), counts) == (0, 0, 0)


def test_the_same_reason_is_told_once_for_all_numbers_of_units(study, effects, snapshot):
    """Four comparisons are more than are named."""
    few = "decided pairs are too few"
    reasons = [f"4 {few}", f"9 {few} among 8 comparisons", f"4 {few}", f"6 {few}"]
    content = study.audit(with_verdicts(effects, "not decidable").assign(reason=reasons), texts=False)
    snapshot(*content["open"][0]["said"])


def test_where_nothing_was_decided_nothing_looks_as_if_it_had_passed(study, effects, snapshot):
    content = study.audit(with_verdicts(effects, "undecided"))
    assert all(content["opening"][0] in unescape(text) for text in (content.page, card(content)))
    snapshot(*content["opening"])


def test_a_study_in_which_nothing_could_be_compared_says_so_and_what_was_not_tested(study, effects):
    content = study.audit(effects.iloc[:0], texts=False)
    assert content["opening"] == [says("Nothing could be compared", "no dataset has both groups")]
    assert content["comparisons"] == content["open"] == content["error"] == []
    assert "gender in dataset plots was not compared" in " ".join(content["not_tested"])
    page = unescape(content.page)
    assert 'id="untested-title"' in page
    assert 'id="sure-title"' not in page
    control = study.audit(effects.assign(family="control"), texts=False)
    assert control["opening"] == [says("Nothing could be compared", "every explainer is random")]


def test_what_was_named_beforehand_comes_first(study, effects, snapshot):
    content = study.audit(effects.assign(family=["primary", "primary", "exploratory", "exploratory"]), texts=False)
    snapshot(*content["opening"], *content["error"])


def test_a_model_that_only_guesses_is_told_of_before_everything_else(study, effects, snapshot):
    guessing = LEARNT.assign(value=0.0, low=0.0, high=0.1)
    content = study.audit(effects, balanced=guessing)
    snapshot(*content["warnings"])
    html, markdown, first = unescape(content.page), card(content), content["opening"][0]
    assert html.index("Read this first.") < html.index(first)
    assert markdown.index("Read this first.") < markdown.index(plain(first))
    assert "Read this first." not in study.audit(effects).page + card(study.audit(effects))


def test_groups_stand_in_the_order_of_the_study_with_their_numbers(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0,), unpaired=True)
    level = np.array(["over 60", "30 to 60", "under 30"])[np.arange(len(study.units)) % 3]
    units = pd.concat([study.units, study.units.assign(factor="age", level=level)])
    tables.write_table(units, units_path(study.folders.datasets, "plots"), UNITS)
    write_items(study, study.items, settings={"attributes": {"age": {"levels": ["under 30", "30 to 60", "over 60"]}}})
    comparisons = {"age": [["under 30", "over 60"]], "gender": [["female", "male"]]}
    content = study.audit(study.effects(), texts=False, comparisons=comparisons)
    (dataset,) = content["audited"]["datasets"]
    ordered = [("age", "under 30"), ("age", "over 60"), ("age", "30 to 60"), ("gender", "female"), ("gender", "male")]
    assert [(group["factor"], group["level"]) for group in dataset["groups"]] == ordered
    assert "| under 30: 20, over 60: 20, female: 30, male: 30 |" in card(content)


def test_copies_of_texts_are_counted_and_so_is_what_is_left_out_of_the_test(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0,))
    kept = renamed(study.items).assign(split="train")
    items = study.items.copy()
    # The first text of the second pair is that of the first pair.
    items.at[2, "words"] = items.at[0, "words"]
    told = {}
    for name, cluster in (("apart", items["cluster"]), ("one", items["cluster"].replace("p1", "p0"))):
        write_items(study, pd.concat([items.assign(cluster=cluster), kept]))
        told[name] = study.audit(study.effects(), texts=False)["not_tested"]
    for name, said in (("one", "Equal texts"), ("apart", "Copies")):
        assert says("Of the 120 texts", "60 were left") in told[name]
        assert says("Of the 60 texts", "1 is a copy", said) in told[name]


def renamed(items: pd.DataFrame) -> pd.DataFrame:
    """The same texts once more."""
    return items.assign(item_id="x" + items["item_id"], cluster="x" + items["cluster"])


def write_items(study: AuditedStudy, items: pd.DataFrame, **about) -> None:
    """Other texts of a study, and what is known of them."""
    path = items_path(study.folders.datasets, "plots")
    tables.write_table(items, path, ITEMS, tables.read_metadata(path, ITEMS) | about)


@pytest.mark.parametrize("unpaired", [True, False], ids=["texts", "pairs"])
def test_different_texts_are_counted_where_some_are_copies(tmp_path, unpaired):
    """Equal texts are one cluster: 30 copies of 10 texts tell no more than 10."""
    study = AuditedStudy(tmp_path, seeds=(0,), unpaired=unpaired, length=4)
    undecided = with_verdicts(study.effects(), ["male more often", "undecided"] * 2)
    alone = study.audit(undecided, texts=False)
    assert "different" not in json.dumps([alone["comparisons"], alone["open"]])
    # Each has the words of the first, second … tenth text of its group.
    write_items(study, study.items.assign(words=[study.items["words"][number % 20] for number in range(60)]))
    told = study.audit(undecided, texts=False)
    rests_on = "30 and 30 texts (10 and 10 different ones)" if unpaired else "30 pairs (10 different ones)"
    assert {each["units"] for each in told["comparisons"]} == {rests_on}
    assert rests_on in told.findings()[0]["said"]
    what = "texts of the smaller group" if unpaired else "pairs"
    assert f"30 {what} (10 different ones)" in told["open"][0]["said"][0]


def test_the_file_of_a_dataset_is_named_without_its_folder_and_its_digest_is_whole(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0,))
    sha256 = "cd" * 32
    write_items(study, study.items, sources={"folder/somebody/tickets.csv": sha256})
    content = study.audit(study.effects(), texts=False)
    (dataset,) = content["audited"]["datasets"]
    assert dataset["files"] == [{"name": "tickets.csv", "sha256": sha256}]
    assert f"tickets.csv (SHA-256 <code>{sha256}</code>)" in content.page
    assert f"| tickets.csv `{sha256}`, items.parquet `{dataset['sha256']}` |" in card(content)
    assert f"w {'ab' * 32}" in content.page
    assert "somebody" not in json.dumps(content) + content.page + card(content)


def test_how_many_pairs_would_decide_is_in_words(study, effects, audit):
    (said,) = [text for text in audit["open"][0]["said"] if "open" in text]
    surplus = re.search(r"surplus of wins of (\d+) of 100", said)[1]
    pairs = [int(count.replace(",", "")) for count in re.findall(r"([\d,]+) pairs", said)]
    # Both open comparisons have 30 decided pairs, among four: the exact test at .05 / 8 a side.
    threshold = next(count for count in range(31) if binom.sf(count - 1, 30, 0.5) <= 0.05 / 8)
    assert binom.sf(threshold - 1, 30, 0.5 + int(surplus) / 200) == pytest.approx(0.8, abs=0.02)
    assert pairs[0] == 30
    # So many as it names, rounded upwards, find a surplus of 20 of 100.
    threshold = next(count for count in range(pairs[-1]) if binom.sf(count - 1, pairs[-1], 0.5) <= 0.05 / 8)
    assert 0.8 <= binom.sf(threshold - 1, pairs[-1], 0.6) < 0.84
    larger = study.audit(effects, as_often_bound=0.4)
    assert "surplus of 40 of 100" in larger["open"][0]["said"][0]


NEEDED = pd.DataFrame(
    {"paired": True, "units": 30, "comparisons": 4, "ties": 0.0, "detectable": [0.5, 0.7], "needed": [300.0, 420.0]}
)


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"needed": [20.0, 30.0]},
        {"detectable": NAN},
        {"needed": [300.0, NAN], "detectable": [0.5, NAN]},
        {"needed": NAN, "detectable": NAN},
        {"paired": False, "detectable": [0.9, 1.4]},
    ],
    ids=["more", "enough", "nothing found", "one without", "none with", "texts"],
)
def test_what_is_open_says_what_would_be_found(columns, snapshot):
    judged = Judged(datasets={}, models={}, explainers={}, metrics={}, sizes={}, as_often_bound=0.2, power=0.8)
    snapshot(*open_comparisons(NEEDED.assign(**columns), judged, None))


def test_groups_are_those_that_were_compared_and_combinations_have_their_sizes(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0,), unpaired=True)
    old = np.arange(len(study.units)) % 3 == 0
    age = study.units.assign(factor="age", level=np.where(old, "old", "young"))
    tables.write_table(pd.concat([study.units, age]), units_path(study.folders.datasets, "plots"), UNITS)
    comparisons = {"gender+age": [["male+old", "female+old"]], "gender": [["male", "female"]]}
    content = study.audit(study.effects(), texts=False, comparisons=comparisons)
    (dataset,) = content["audited"]["datasets"]
    told = {(group["factor"], group["level"]): (group["texts"], group["compared"]) for group in dataset["groups"]}
    male = (study.units["level"] == "male").to_numpy()
    assert told == {
        ("gender", "male"): (30, True),
        ("gender", "female"): (30, True),
        ("age", "old"): (20, False),
        ("age", "young"): (40, False),
        ("gender+age", "male+old"): (int((male & old).sum()), True),
        ("gender+age", "female+old"): (int((~male & old).sum()), True),
    }
    assert dataset["explained_texts"] == dataset["test_texts"] == 60


def test_texts_that_were_not_explained_are_counted(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0,))
    write_items(study, pd.concat([study.items, renamed(study.items)]))
    content = study.audit(study.effects(), texts=False)
    assert any(re.search(r"\b120 texts\b.* plots 60 ", text) for text in content["not_tested"])
    assert re.search(r"\b120 of them\b.* 60 ", content.page)


def test_texts_that_are_too_long_for_one_of_the_models_count_as_explained(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0,))
    effects, whole, short = study.effects(), study.folders.scores / "plots" / "small", "short"
    for path in whole.rglob("*.parquet"):
        other = study.folders.scores / "plots" / short / path.relative_to(whole)
        other.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pq.read_table(path).slice(0, 20), other)
    models, seeds = {short: "Short", "small": "Small BERT"}, {short: [0], "small": [0]}
    content = study.audit(effects, texts=False, models=models, seeds=seeds)
    assert content["audited"]["datasets"][0]["explained_texts"] == 60


def held_against(cells: pd.DataFrame, **columns) -> pd.DataFrame:
    """Rows of the table beyond random for these cells, in another order."""
    names = ["dataset", "model", "explainer", "metric", "factor", "level_a", "level_b"]
    means = {"score_a": 0.01, "score_b": 0.9, "random_a": -0.004, "random_b": 0.3}
    means |= {"upper_bound_a": 0.02, "upper_bound_b": 0.95, "own_wins": 3, "own_losses": 22, "own_ties": 1}
    return cells[names].assign(
        **means
        | {"own_share": 0.12, "own_verdict": "female more often", "outcome": "persists", "made_by": None}
        | columns
    )[::-1]


def test_what_is_left_beyond_random_is_that_of_the_same_cell(study, effects):
    cells = effects[effects["side"] != 0]
    found = study.audit(effects, texts=False, beyond=held_against(cells, outcome=["explained away", None]))
    assert [finding["beyond_random"]["outcome"] for finding in found.findings()] == ["explained away", None]
    alone = study.audit(effects, texts=False, beyond=held_against(cells[:1]))
    assert [finding["beyond_random"] is None for finding in alone.findings()] == [False, True]


def test_a_finding_says_what_is_upper_bound_and_who_makes_it(study, effects, snapshot):
    cells = effects[effects["side"] != 0]
    content = study.audit(effects, beyond=held_against(cells, made_by=["model", None]))
    first, second = content.findings()
    held = first["beyond_random"]
    assert [held[name] for name in ("made_by", "own_wins", "own_losses", "score_b")] == ["model", 3, 22, 0.9]
    # Without the upper reference nobody is said to have a part in it.
    snapshot(content["opening"][-1], first["said"], second["said"])


def test_a_finding_says_that_nothing_is_attainable_for_a_group(study, effects):
    beyond = held_against(effects[effects["side"] != 0], made_by="model", own_verdict=None, own_share=NAN)
    for finding in study.audit(effects, texts=False, beyond=beyond).findings():
        worse = finding["level_b"] if finding["side"] > 0 else finding["level_a"]
        assert f"For {worse} texts nothing beyond random explanations is attainable. So the model" in finding["said"]


@pytest.mark.parametrize(
    ("random_a", "random_b", "higher", "lower"),
    [
        (-0.004, 0.3, "", "male and female"),
        (0.01, 0.95, "male and female", "male"),
        (0.5, NAN, "male", ""),
        (NAN, NAN, "", ""),
    ],
)
def test_it_is_said_for_whom_random_explanations_are_as_good(study, effects, random_a, random_b, higher, lower):
    """Scores are 0.01 and 0.9; the first metric is better where it is higher, the second where it is lower."""
    beyond = held_against(effects[effects["side"] != 0], random_a=random_a, random_b=random_b)
    for finding in study.audit(effects, texts=False, beyond=beyond).findings():
        groups = higher if finding["metric"] == "comprehensiveness" else lower
        last = re.split(r"(?<=\.) ", finding["said"])[-1]
        assert last.startswith(f"Of {groups} texts ") == bool(groups)


@pytest.mark.parametrize("maker", ["model", "explainer", "undecided", "not decidable"])
def test_who_makes_it_is_counted(study, effects, maker):
    cells = effects[effects["side"] != 0]
    content = study.audit(effects, texts=False, beyond=held_against(cells, made_by=maker))
    counts = [2 * (maker == "model"), 2 * (maker == "explainer"), 2 * (maker in ("undecided", "not decidable"))]
    said = content["opening"][-1].partition("Who makes it")[2]
    assert [int(count) for count in re.findall(r"\d", said)] == [2, *(counts if counts[2] else counts[:2])]
    finding = content.findings()[0]["said"]
    assert ("explainer has a" in finding) == (maker == "explainer")
    assert ("metric, makes it" in finding) == (maker == "model")


def test_the_class_of_a_text_without_words_is_told_as_the_metrics_hide_words(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0, 1))
    effects = study.effects()
    for seed, probability in enumerate(([0.9, 0.1], [0.2, 0.8])):
        path = predictions_path(study.folders.predictions, Run("plots", "small", seed))
        without_words = {"removed": [0.25, 0.75], "mask": probability}
        metadata = tables.read_metadata(path, PREDICTIONS) | {"without_words": without_words}
        tables.write_table(tables.read_arrow(path, PREDICTIONS), path, PREDICTIONS, metadata)
    content = study.audit(effects, texts=False, hidden=("mask",))
    classes = content["audited"]["datasets"][0]["classes"]
    assert content["without_words"] == [
        {"dataset": "plots", "model": "small", "seed": 0, "hidden": "mask", "class": classes[0], "probability": 0.9},
        {"dataset": "plots", "model": "small", "seed": 1, "hidden": "mask", "class": classes[1], "probability": 0.8},
    ]
    [said] = [text for text in content["controls"] if "every word" in text]
    assert re.findall(r"(\w+) \(mean probability ([\d.]+)\)", said) == [(classes[0], "0.90"), (classes[1], "0.80")]
    assert said in content.page
    assert "every word" not in json.dumps(study.audit(effects, texts=False, hidden=("pad",)))


def test_references_are_not_counted_as_random_explanations(study, effects):
    control = effects.assign(family=["study", "control", "study", "control"])
    random = sorted(set(control.loc[control["family"] == "control", "explainer"]))
    for named, said in ((random, "2 comparisons of random"), (random[:0], None)):
        controls = " ".join(study.audit(control, texts=False, random=named)["controls"])
        assert (said in controls) if said else ("of random expl" not in controls)


def test_a_line_says_what_explanations_cost_once_for_those_that_are_computed_together(audit):
    (said,) = audit["audited"]["costs"]
    assert said.endswith("Integrated gradients and LIME 0.125 s and 50 rows.")
    assert said in audit.page


def test_the_page_has_no_sentence_that_is_too_long(audit):
    page = BeautifulSoup(audit.page, "html.parser")
    for code in page("code"):
        code.replace_with("code")
    passages = [part.get_text() for part in page(["p", "li", "summary", "td"])]
    assert len(passages) > 50
    assert [sentence for text in passages for sentence in too_long(text)] == []


def test_without_texts_no_word_of_the_data_is_told(study, effects, tmp_path):
    content = study.audit(effects, texts=False)
    paths = [tmp_path / name for name in ("index.html", "audit.json", "audit.md")]
    write_page(content.content, content.store, *paths)
    texts = [path.read_text(encoding="utf-8") for path in paths]
    assert content["reliance"][0]["names"]
    for word in ("abroad", "waits", *SUBJECTS["male"][1:], *SUBJECTS["female"][1:]):
        assert not any(re.search(rf"\b{word}\b", text) for text in texts)
    assert json.loads(texts[1]) == dict(content)


def test_what_models_rely_on_is_told_with_the_numbers_of_the_tables(study, audit):
    forms, names = (study.reliance()[name] for name in ("pair_invariance", "group_reliance"))
    (told,) = audit["reliance"]
    assert told["place"] == "Small BERT on plots"
    drawn, unknown = told["forms"]
    of_first = forms.iloc[0]
    assert f"{of_first['distance']:.2f} ({of_first['distance_low']:.2f} to" in drawn
    assert "not known" in unknown
    for row in names.itertuples():
        (said,) = [text for text in told["names"] if text.startswith(LABELS[row.explainer])]
        interval = f"{row.absolute_low:.0%} to {row.absolute_high:.0%}"
        assert re.search(rf"{row.absolute:.0%} .* {row.level} texts \({interval}", said)


def test_forms_are_held_against_one_text_explained_twice():
    """Above, below and about what chance does; of many groups, in how many."""
    levels = ("a", "b", "c", "d")
    rows = pd.DataFrame({name: [0.5] * 6 for name in ("distance", "rank_correlation", "beyond_null", "null_distance")})
    for name in ("distance", "rank_correlation", "beyond_null"):
        rows = rows.assign(**{f"{name}_low": rows[name] - 0.1, f"{name}_high": rows[name] + 0.1})
    rows = rows.assign(dataset="plots", model="small", explainer="lime", factor="group", pairs=9, words=4.0, seeds=2)
    rows = rows.assign(null="repeated", null_rank_correlation=0.9)
    rows[["level_a", "level_b"]] = list(combinations(levels, 2))

    def said(rows: pd.DataFrame) -> str:
        return describe_reliance(Found({"pair_invariance": rows}), judged_by("lime"), [])[0]["forms"][0]

    one = rows.iloc[:1]
    assert re.search(r" more than chance .*0\.50 \(0\.40 to 0\.60\)", said(one))
    lower = one.assign(beyond_null=-0.2, beyond_null_low=-0.3, beyond_null_high=-0.1)
    assert re.search(r" less than chance .*0\.20 \(0\.10 to 0\.30\)", said(lower))
    open_ = one.assign(beyond_null=0.0, beyond_null_low=-0.1, beyond_null_high=0.1)
    assert "not shown" in said(open_)
    several = pd.concat([rows.iloc[:4], rows.iloc[4:].assign(beyond_null_low=-0.1, distance=0.7)])
    assert re.search(r" 0\.50; in 4 of 6 pairs ", said(several))
    assert said(several) == says("0.50 (a and", "0.70 (c and")
    assert describe_reliance(Found({"pair_invariance": one}), judged_by("lime"), ["lime"])[0]["forms"] == []


def test_a_study_without_tables_of_words_says_nothing_of_them(study, effects, monkeypatch):
    monkeypatch.setattr(AuditedStudy, "reliance", lambda self: {})
    content = study.audit(effects)
    assert content["reliance"] == []
    assert "rely on" not in content.page
    assert "relies on" not in card(content)


def test_decisions_are_described_with_the_numbers_of_the_table(study, audit):
    table = study.decisions()
    every, gender = audit["decision_rates"][:2]
    assert (every["factor"], gender["factor"]) == (None, "gender")
    told = {
        (of["factor"], group["level"], each["class"], measure): rate["value"]
        for of in audit["decision_rates"]
        for group in of["groups"]
        for each in group["classes"]
        for measure, rate in each.items()
        if measure != "class"
    }
    rows = table[table["class"].notna()].astype(object).where(lambda of: of.notna(), None).to_dict("records")
    names = ("factor", "level", "class", "measure")
    expected = {tuple(None if pd.isna(row[name]) else row[name] for name in names): row["value"] for row in rows}
    assert told.keys() == expected.keys()
    known = {key: value for key, value in expected.items() if not pd.isna(value)}
    assert {key: value for key, value in told.items() if value is not None} == pytest.approx(known, rel=1e-5)
    # Of each class one group has the largest rate, and the others are held against it.
    ratios = [each["impact_ratio"] for group in gender["groups"] for each in group["classes"]]
    assert sorted(ratio["low"] is None for ratio in ratios).count(True) >= len(gender["groups"][0]["classes"])
    seen = Seen()
    seen.feed(audit.page)
    assert "described" in "".join(seen.texts)


def test_what_was_not_compared_is_said(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0,))
    more = study.units.assign(factor="age", level=np.where(np.arange(len(study.units)) % 2, "old", "young"))
    third = study.units.assign(level="neutral", unit_id="n" + study.units["item_id"]).iloc[:3]
    tables.write_table(pd.concat([study.units, more, third]), units_path(study.folders.datasets, "plots"), UNITS)
    told = " ".join(study.audit(study.effects())["not_tested"])
    assert told == says("no other one: neutral", "age in dataset")
    assert "One run" in told
    assert "people marked" in told


def test_a_group_of_which_only_random_explanations_were_compared_is_not_said_to_be_left_out(study, effects):
    content = study.audit(
        effects.assign(family="control"),
        texts=False,
        random=list(study.explainers),
    )
    assert any("4 comparisons of random" in text for text in content["controls"])
    assert not [text for text in content["not_tested"] if "was not compared" in text]


def test_no_text_of_data_or_study_is_markup(tmp_path):
    words = {"male": (HOSTILE, HOSTILE), "female": ("She", HOSTILE)}
    study = AuditedStudy(tmp_path, seeds=(0, 1), words=words)
    names = {"models": {"small": HOSTILE}, "datasets": {"plots": HOSTILE}, "explainers": {"ig": HOSTILE, "lime": "l"}}
    content = study.audit(study.effects(), **names, frame={"title": HOSTILE, "languages": [HOSTILE]})
    html = content.page
    seen = Seen()
    seen.feed(html)
    assert "img" not in seen.tags
    assert HOSTILE in "".join(seen.texts)
    assert "default-src 'none'" in html
    told = card(content)
    assert not re.search(r"(?<!\\)(<|\[a)", told)


class Seen(HTMLParser):
    """The elements and texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags, self.texts = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize(("factor", "what"), [("concept", "change"), ("change", "change"), ("gender", "text")])
def test_what_is_drawn_of_each_group_has_its_name(factor, what):
    row = pd.Series({"factor": factor, "unit": "texts", "share": 0.25, "side": -1})
    assert opening._votes(row) == f"in 75 of 100 draws of a {what} of each (a tie as half)"
