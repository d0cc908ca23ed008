"""What an audit says, against the tables that it tells of; that the page can be used is tested in tests/browser."""

import json
import re
from functools import cached_property
from html import unescape
from html.parser import HTMLParser
from itertools import combinations

import jsonschema
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from explorer_study import SUBJECTS, ExplorerStudy, with_verdicts
from schemas import schema_of
from scipy.stats import binom
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.explanations import ATTRIBUTIONS
from evenlight.core.contracts.results import GROUP_RELIANCE, PAIR_INVARIANCE, WORDS_BY_GROUP
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.reports.audit.content import Found, audit_content
from evenlight.reports.audit.found import Judged, open_comparisons
from evenlight.reports.audit.page import card, page, write_audit
from evenlight.reports.audit.reliance import WORDS, RelianceTables, describe_reliance, read_reliance
from evenlight.reports.verdict_words import at_least, describe_counts
from evenlight.statistics.examples import PAIRS, example_pairs
from evenlight.statistics.files import Run, Runs, attribution_path, items_path, predictions_path, units_path
from evenlight.statistics.planning import texts_needed
from evenlight.statistics.reliance import measure_reliance
from evenlight.statistics.score_files import read_scores
from evenlight.statistics.study import StudyScores
from evenlight.statistics.text_counts import count_texts
from evenlight.statistics.without_words import classes_without_words

NAN = float("nan")
HOSTILE = "<img src=x onerror=alert(1)>|`_*[a](javascript:x)"
LABELS = {"ig": "Integrated gradients", "lime": "LIME"}
QUALITY = pd.DataFrame(
    {
        "dataset": "plots",
        "model": "small",
        "measure": "accuracy",
        "factor": [None, "gender", "gender"],
        "subset": ["all", "male", "female"],
        "seeds": 3,
        "mean": [0.75, 0.7, np.nan],
        "sd": 0.0,
    }
)
LEARNT = pd.DataFrame(
    {"dataset": "plots", "model": "small", "seed": [0, 1], "value": 0.9, "low": 0.8, "high": 0.96, "chance": 0.5}
)
CONTROL = pd.DataFrame({"permutation": [0, 1], "family": "study", "cells": 4, "disparities": [0, 1]})


class AuditedStudy(ExplorerStudy):
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
    ) -> dict:
        reliance = {"random": [], "words": texts, "confidence": 0.95}
        settings = self.settings(**{"power": 0.8, "reliance": reliance} | changed)
        del settings["formats"], settings["modalities"]
        wanted = {name: settings[name] for name in ("as_often_bound", "power")}
        runs, comparisons = Runs(datasets=[self.dataset], models=settings["seeds"]), settings["comparisons"]
        found = Found(
            effects,
            self.judged[1],
            CONTROL,
            QUALITY,
            balanced,
            *count_texts(
                self.folders.scores,
                self.folders.datasets,
                runs,
                family="made",
                explainers=self.explainers[:1],
                comparisons=comparisons,
            ),
            texts_needed(effects, **wanted),
            classes_without_words(
                self.folders.predictions,
                self.folders.datasets,
                Runs(datasets=[self.dataset], models={self.model: self.seeds}),
                hidden=hidden,
            ),
            self.costs,
            beyond,
            self.reliance(),
            self.examples(effects) if texts else None,
            {self.dataset: self.items.set_index("item_id")["words"]},
            ["a note"],
        )
        made = {"settings": {"source": "hub/model"}, "loaded": {"source": "hub/model", "files": {"w": "ab" * 32}}}
        return audit_content(found, {Run("plots", "small", 0): made}, **settings)

    def examples(self, effects: pd.DataFrame) -> pd.DataFrame:
        """The pairs that differ most."""
        folders = {
            "scores": self.folders.scores,
            "units": self.folders.datasets,
            "predictions": self.folders.predictions,
        }
        study = StudyScores(**folders, **self.scored, comparisons={"gender": [["male", "female"]]})
        return example_pairs(study, effects, self.folders.attributions)

    def reliance(self) -> RelianceTables:
        """The tables of words; the first explainer draws nothing, the second has no other with its settings."""
        return self._reliance

    @cached_property
    def _reliance(self) -> RelianceTables:
        found = measure_reliance(
            self.folders.attributions,
            self.folders.datasets,
            Runs(datasets=[self.dataset], models={self.model: self.seeds}),
            predictions=self.folders.predictions,
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
        return read_reliance(folder)

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
    counts = dict(audit["found"][0]["counts"])
    assert audit["verdicts"]["counts"] == counts
    assert counts.pop("asked") == len(effects) == sum(counts.values()), "every comparison is counted once"


def test_the_card_of_the_made_study(audit, snapshot):
    """All that an audit says, as Markdown; the page is made of the same content."""
    snapshot(re.sub(r"\b[0-9a-f]{64}\b", "a digest", card(audit)))


def test_findings_are_the_verdicts_of_the_table_and_say_for_whom_explanations_are_better(study, effects, audit):
    (told,) = audit["found"]
    assert [told["dataset"], told["model"], told["levels"]] == ["plots", "Small BERT", ["male", "female"]]
    named = effects[effects["side"] != 0].sort_values("p_adjusted")
    assert [finding["metric"] for finding in told["findings"]] == ["comprehensiveness", "gini"]
    text = unescape(page(audit))
    for finding, row in zip(told["findings"], named.itertuples(), strict=True):
        # Every number under the name that it has in the table.
        for name in ("wins", "losses", "ties", "side", "verdict", "family", "seeds_agree"):
            assert finding[name] == getattr(row, name)
        for name in ("share", "family_low", "family_high", "p_adjusted", "difference", "net_benefit", "most_differ"):
            assert finding[name] == pytest.approx(getattr(row, name), rel=1e-5)
        means = study.means(finding["metric"])
        difference = pd.Series({f"p{pair}": means[f"m{pair}"] - means[f"f{pair}"] for pair in range(30)}, dtype=float)
        assert finding["difference"] == pytest.approx(difference.mean(), abs=1e-5)
        # The second metric is better where it is lower.
        won = int((difference * (1 if finding["metric"] == "comprehensiveness" else -1) > 0).sum())
        assert (finding["wins"], finding["losses"]) == (won, 30 - won)
        assert finding["better"] == ("male" if won > 15 else "female")
        assert f"in {max(won, 30 - won)} of 30 pairs “{finding['better']}” is" in finding["headline"]
        assert finding["said"].startswith(finding["headline"])
        shown = text.index(finding["headline"])
        assert shown < text.index("<details><summary>", shown) < text.index(finding["behind"], shown)
        assert f"<td>{won}–{30 - won}–0</td>" in text


def test_a_mean_that_points_the_other_way_stands_in_the_first_words(study, effects):
    apart = effects.assign(apart=[True, False, False, False])
    first, second = study.audit(apart, texts=False)["found"][0]["findings"]
    assert "better for “female”" in first["headline"]
    assert "mean is better" not in second["said"]


def test_the_first_line_counts_by_the_table_of_counts_and_says_what_is_open(study, effects, snapshot):
    reason = "4 decided pairs are too few among 4 comparisons"
    cells = with_verdicts(effects, ["male more often", "as often", "undecided", "not decidable"])
    content = study.audit(cells.assign(reason=[None, None, None, reason]))
    said = content["verdicts"]["said"]
    assert re.findall(r"\d+", said) == ["4", "2", "1", "1", "1", "1", "2"]
    # The one that is not decidable is named.
    snapshot(said, *content["found"][0]["open"])
    for text in (page(content), card(content)):
        assert text.index(said) < text.index("Explained is" if text.startswith("<!") else "How good are")
    signs = [(entry["sign"], entry["count"]) for entry in content["verdicts"]["signs"]]
    assert signs == [("M", 1), ("=", 1), ("?", 1), ("–", 1)]
    shown = re.findall(r'<li style="background: (#\w+)">(\S+) ([^<:]*):', page(content))
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
    content = study.audit(with_verdicts(effects, "not decidable").assign(reason=reasons))
    snapshot(*content["found"][0]["open"])


def test_where_nothing_was_decided_nothing_looks_as_if_it_had_passed(study, effects, snapshot):
    content = study.audit(with_verdicts(effects, "undecided"))
    said = content["verdicts"]["said"]
    assert all(said in text for text in (page(content), card(content)))
    snapshot(said)


def test_what_was_named_beforehand_comes_first(study, effects, snapshot):
    content = study.audit(effects.assign(family=["primary", "primary", "exploratory", "exploratory"]))
    snapshot(content["verdicts"]["said"], content["error"])


def test_a_model_that_only_guesses_is_told_of_before_everything_else(study, effects, snapshot):
    guessing = LEARNT.assign(value=0.0, low=0.0, high=0.1)
    content = study.audit(effects, balanced=guessing)
    snapshot(*content["warnings"])
    assert list(content)[:3] == ["version", "study", "warnings"]
    html, markdown = page(content), card(content)
    assert html.index("Read this first.") < html.index("Of 4 comparisons")
    assert markdown.index("Read this first.") < markdown.index("Of 4 comparisons")
    assert "Read this first." not in page(study.audit(effects)) + card(study.audit(effects))


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
    (alone,) = study.audit(undecided, texts=False)["found"]
    assert "different" not in json.dumps(alone)
    # Each has the words of the first, second … tenth text of its group.
    write_items(study, study.items.assign(words=[study.items["words"][number % 20] for number in range(60)]))
    (told,) = study.audit(undecided, texts=False)["found"]
    rests_on = "30 and 30 texts (10 and 10 different ones)" if unpaired else "30 pairs (10 different ones)"
    assert told["units"] == [rests_on]
    assert rests_on in told["findings"][0]["said"]
    what = "texts of the smaller group" if unpaired else "pairs"
    assert f"30 {what} (10 different ones)" in told["open"][0]


def test_the_file_of_a_dataset_is_named_without_its_folder_and_its_digest_is_whole(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0,))
    sha256 = "cd" * 32
    write_items(study, study.items, sources={"folder/somebody/tickets.csv": sha256})
    content = study.audit(study.effects(), texts=False)
    (dataset,) = content["audited"]["datasets"]
    assert dataset["files"] == [{"name": "tickets.csv", "sha256": sha256}]
    assert f"tickets.csv (SHA-256 {sha256})" in page(content)
    assert f"| tickets.csv `{sha256}`, items.parquet `{dataset['sha256']}` |" in card(content)
    assert f"w {'ab' * 32}" in page(content)
    assert "somebody" not in json.dumps(content) + page(content) + card(content)


def test_how_many_pairs_would_decide_is_in_words(study, effects, audit):
    (said,) = [text for text in audit["found"][0]["open"] if "open" in text]
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
    assert "surplus of 40 of 100" in larger["found"][0]["open"][0]


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
    judged = Judged(
        datasets={}, models={}, explainers={}, metrics={}, counts=None, sizes={}, as_often_bound=0.2, power=0.8
    )
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
    assert re.search(r"\b120 of them\b.* 60 ", page(content))


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
    return cells[names].assign(**means | {"own_share": 0.12, "outcome": "persists", "made_by": None} | columns)[::-1]


def test_what_is_left_beyond_random_is_that_of_the_same_cell(study, effects):
    cells = effects[effects["side"] != 0]
    found = study.audit(effects, texts=False, beyond=held_against(cells, outcome=["explained away", None]))["found"][0]
    assert [finding["beyond_random"]["outcome"] for finding in found["findings"]] == ["explained away", None]
    alone = study.audit(effects, texts=False, beyond=held_against(cells[:1]))["found"][0]
    assert [finding["beyond_random"] is None for finding in alone["findings"]] == [False, True]


def test_a_finding_says_what_is_upper_bound_and_who_makes_it(study, effects, snapshot):
    cells = effects[effects["side"] != 0]
    content = study.audit(effects, beyond=held_against(cells, made_by=["model", None]))
    first, second = content["found"][0]["findings"]
    held = first["beyond_random"]
    assert [held[name] for name in ("made_by", "own_wins", "own_losses", "score_b")] == ["model", 3, 22, 0.9]
    html = page(content)
    row = "<td>0.01 (0.00, 0.02)</td><td>0.90 (0.30, 0.95)</td><td>3–22–1</td>"
    assert f'{row}<td class="text">model</td>' in html
    assert html.count("(0.00, 0.02)") == 1
    # Without the upper reference nobody is said to have a part in it.
    snapshot(content["verdicts"]["said"], first["said"], second["said"])
    assert "Who makes them" not in page(study.audit(effects))


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
    for finding in study.audit(effects, texts=False, beyond=beyond)["found"][0]["findings"]:
        groups = higher if finding["metric"] == "comprehensiveness" else lower
        last = re.split(r"(?<=\.) ", finding["said"])[-1]
        assert last.startswith(f"Of {groups} texts ") == bool(groups)


@pytest.mark.parametrize("maker", ["model", "explainer", "undecided", "not decidable"])
def test_who_makes_it_is_counted(study, effects, maker):
    cells = effects[effects["side"] != 0]
    content = study.audit(effects, texts=False, beyond=held_against(cells, made_by=maker))
    counts = [2 * (maker == "model"), 2 * (maker == "explainer"), 2 * (maker in ("undecided", "not decidable"))]
    said = content["verdicts"]["said"].partition("Who makes it")[2]
    assert [int(count) for count in re.findall(r"\d", said)] == [2, *counts]
    finding = content["found"][0]["findings"][0]["said"]
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
    assert said in page(content)
    assert "every word" not in page(study.audit(effects, texts=False, hidden=("pad",)))


def test_references_are_not_counted_as_random_explanations(study, effects):
    control = effects.assign(family=["study", "control", "study", "control"])
    random = sorted(set(control.loc[control["family"] == "control", "explainer"]))
    for named, said in ((random, "2 comparisons of random"), (random[:0], None)):
        reliance = {"random": named, "words": False, "confidence": 0.95}
        controls = " ".join(study.audit(control, texts=False, reliance=reliance)["controls"])
        assert (said in controls) if said else ("of random expl" not in controls)
    # A group of which only these were compared is not said to be left out.
    reliance = {"random": list(study.explainers), "words": False, "confidence": 0.95}
    content = study.audit(effects.assign(family="control"), texts=False, reliance=reliance)
    assert any("4 comparisons of random" in text for text in content["controls"])
    assert not [text for text in content["not_tested"] if "was not compared" in text]


def test_the_pairs_are_those_that_differ_most(study, audit):
    (shown,) = audit["pairs"]
    means = study.means(shown["metric"].split("\N{NO-BREAK SPACE}")[0].lower())
    differences = {f"p{pair}": abs(means[f"m{pair}"] - means[f"f{pair}"]) for pair in range(30)}
    assert [pair["unit"] for pair in shown["pairs"]] == sorted(differences, key=differences.get, reverse=True)[:PAIRS]
    for pair in shown["pairs"]:
        number = pair["unit"][1:]
        assert [text["item"] for text in pair["texts"]] == [f"m{number}", f"f{number}"]
        for text in pair["texts"]:
            assert text["words"] == list(study.items.set_index("item_id").loc[text["item"], "words"])
            assert text["score"] == pytest.approx(means[text["item"]], rel=1e-5)


def test_a_line_says_what_explanations_cost_once_for_those_that_are_computed_together(audit):
    (said,) = audit["audited"]["costs"]
    assert said.endswith("Integrated gradients and LIME 0.125 s and 50 rows.")
    assert said in page(audit)


def test_no_pair_is_shown_of_random_explanations_which_are_no_hypothesis(study, effects):
    clearest = study.examples(effects)[["explainer", "metric"]].iloc[0]
    is_clearest = (effects[["explainer", "metric"]] == clearest).all(axis=1)
    others = study.examples(effects.assign(family=np.where(is_clearest, "control", "study")))
    assert len(others) == 2 * PAIRS
    assert not (others[["explainer", "metric"]] == clearest).all(axis=1).any()


def test_words_that_say_next_to_nothing_beside_their_counterpart_stay_pale(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0,))
    path = attribution_path(study.folders.attributions, Run("plots", "small", 0), "ig")
    attribution_file = tables.read_table(path, ATTRIBUTIONS)
    weight = attribution_file["item_id"].str[0].map({"m": 1e-9, "f": 1.0})
    scores = [np.array(part) * of for part, of in zip(attribution_file["token_score"], weight, strict=True)]
    tables.write_table(
        pa.Table.from_pandas(attribution_file.assign(token_score=scores), preserve_index=False), path, ATTRIBUTIONS
    )
    for pair in study.audit(study.effects())["pairs"][0]["pairs"]:
        male, female = (np.abs(text["shares"]).max() for text in pair["texts"])
        assert (male, female) == (0, 1)


def test_without_texts_no_word_of_the_data_is_told(study, effects, tmp_path):
    content = study.audit(effects, texts=False)
    assert content["pairs"] == []
    paths = [tmp_path / name for name in ("audit.html", "audit.json", "audit.md")]
    write_audit(content, *paths)
    texts = [path.read_text(encoding="utf-8") for path in paths]
    assert content["reliance"]["models"][0]["names"]["said"]
    for word in ("abroad", "waits", *SUBJECTS["male"][1:], *SUBJECTS["female"][1:]):
        assert not any(re.search(rf"\b{word}\b", text) for text in texts)
    assert json.loads(texts[1]) == content


def test_what_models_rely_on_is_told_with_the_numbers_of_the_tables(study, audit):
    found = study.reliance()
    (told,) = audit["reliance"]["models"]
    assert (told["dataset"], told["model"]) == ("plots", "Small BERT")
    forms = {row["explainer"]: row for row in told["forms"]["rows"]}
    for row in found.pairs.itertuples():
        shown = forms[LABELS[row.explainer]]
        assert shown["levels"] == ["male", "female"]
        assert shown["pairs"] == row.pairs == 30
        for name in ("distance", "rank_correlation"):
            values = [shown[name][end] for end in ("mean", "low", "high")]
            assert values == pytest.approx([getattr(row, name + end) for end in ("", "_low", "_high")], rel=1e-5)
    assert (forms["Integrated gradients"]["null"], forms["LIME"]["null"]) == ("fixed", None)
    drawn, unknown = told["forms"]["said"]
    assert f"{found.pairs['distance'][0]:.2f} ({found.pairs['distance_low'][0]:.2f} to" in drawn
    assert "not known" in unknown
    names = {(row["explainer"], row["level"]): row for row in told["names"]["rows"]}
    for row in found.names.itertuples():
        shown = names[LABELS[row.explainer], row.level]
        assert [shown["absolute"]["mean"], shown["signed"]["low"]] == pytest.approx(
            [row.absolute, row.signed_low], 1e-5
        )
        (said,) = [text for text in told["names"]["said"] if text.startswith(LABELS[row.explainer])]
        interval = f"{row.absolute_low:.0%} to {row.absolute_high:.0%}"
        assert re.search(rf"{row.absolute:.0%} .* {row.level} texts \({interval}", said)
    largest = found.words[(found.words["explainer"] == "ig") & (found.words["class"] == "male")]
    order = largest.assign(size=largest["share"].abs()).sort_values("size", ascending=False)["word"].drop_duplicates()
    (shown,) = [part for part in told["words"] if (part["explainer"], part["class"]) == (LABELS["ig"], "male")]
    assert [line["word"] for line in shown["words"]] == list(order[:WORDS])
    for line in shown["words"]:
        for level, share in zip(shown["levels"], line["shares"], strict=True):
            row = largest[(largest["word"] == line["word"]) & (largest["level"] == level)]
            assert len(row) == (share is not None)
            if share:
                assert (share["mean"], share["texts"]) == (
                    pytest.approx(row["share"].item(), rel=1e-5),
                    row["texts"].item(),
                )


def test_forms_are_held_against_one_text_explained_twice(study):
    """Above, below and about what chance does; of many groups, in how many."""
    levels = ("a", "b", "c", "d")
    rows = pd.DataFrame({name: [0.5] * 6 for name in ("distance", "rank_correlation", "beyond_null", "null_distance")})
    for name in ("distance", "rank_correlation", "beyond_null"):
        rows = rows.assign(**{f"{name}_low": rows[name] - 0.1, f"{name}_high": rows[name] + 0.1})
    rows = rows.assign(dataset="plots", model="small", explainer="lime", factor="group", pairs=9, words=4.0, seeds=2)
    rows = rows.assign(null="repeated", null_rank_correlation=0.9)
    rows[["level_a", "level_b"]] = list(combinations(levels, 2))
    no_names, no_words = (table.iloc[:0] for table in (study.reliance().names, study.reliance().words))

    def said(rows: pd.DataFrame) -> tuple[str, list[bool]]:
        told = describe_reliance(
            RelianceTables(rows, no_names, no_words),
            datasets={"plots": "Plots"},
            models={"small": "Small"},
            explainers={"lime": "LIME"},
            comparisons={"group": [["a", "b"]]},
            random=[],
            confidence=0.95,
            words=True,
        )["models"][0]["forms"]
        return told["said"][0], [row["compared"] for row in told["rows"]]

    one = rows.iloc[:1]
    assert re.search(r" more than chance .*0\.50 \(0\.40 to 0\.60\)", said(one)[0])
    lower = one.assign(beyond_null=-0.2, beyond_null_low=-0.3, beyond_null_high=-0.1)
    assert re.search(r" less than chance .*0\.20 \(0\.10 to 0\.30\)", said(lower)[0])
    open_ = one.assign(beyond_null=0.0, beyond_null_low=-0.1, beyond_null_high=0.1)
    assert "not shown" in said(open_)[0]
    several = pd.concat([rows.iloc[:4], rows.iloc[4:].assign(beyond_null_low=-0.1, distance=0.7)])
    text, compared = said(several)
    assert re.search(r" 0\.50; in 4 of 6 pairs ", text)
    assert text == says("0.50 (a and", "0.70 (c and")
    assert compared == [True, *[False] * 5]


def test_a_study_without_tables_of_words_says_nothing_of_them(study, effects, monkeypatch):
    monkeypatch.setattr(AuditedStudy, "reliance", lambda self: None)
    content = study.audit(effects)
    assert content["reliance"] is None
    assert "rely on" not in page(content)
    assert "relies on" not in card(content)
    assert "tables/reliance.html" not in {row["file"] for row in content["evidence"]}


def test_what_was_not_compared_is_said(tmp_path):
    study = AuditedStudy(tmp_path, seeds=(0,))
    more = study.units.assign(factor="age", level=np.where(np.arange(len(study.units)) % 2, "old", "young"))
    third = study.units.assign(level="neutral", unit_id="n" + study.units["item_id"]).iloc[:3]
    tables.write_table(pd.concat([study.units, more, third]), units_path(study.folders.datasets, "plots"), UNITS)
    told = " ".join(study.audit(study.effects())["not_tested"])
    assert told == says("no other one: neutral", "age in dataset")
    assert "One run" in told
    assert "people marked" in told


def test_no_text_of_data_or_study_is_markup(tmp_path):
    words = {"male": (HOSTILE, HOSTILE), "female": ("She", HOSTILE)}
    study = AuditedStudy(tmp_path, seeds=(0, 1), words=words)
    names = {"models": {"small": HOSTILE}, "datasets": {"plots": HOSTILE}, "explainers": {"ig": HOSTILE, "lime": "l"}}
    content = study.audit(study.effects(), **names)
    html = page(content)
    seen = Seen()
    seen.feed(html)
    assert "img" not in seen.tags
    assert "script" not in seen.tags
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


def test_answers_of_the_study_have_a_page_of_their_own_to_which_this_one_leads(study, effects):
    others = pd.concat([effects, effects.assign(explainer="reasons")], ignore_index=True)
    content = study.audit(others, beside="audit_answers.html")
    [left_out] = [text for text in content["not_tested"] if "in words" in text]
    assert all(
        part in left_out for part in (f"({len(effects)} comparisons)", "tables/effects.html", "audit_answers.html")
    )
    assert content["verdicts"] == study.audit(effects)["verdicts"]
    # Among which it is adjusted are all comparisons of the study.
    assert "with all 8 comparisons considered" in content["found"][0]["findings"][0]["headline"]
    assert '<a href="audit_answers.html">answers in words</a>' in page(content)
    assert "audit_answers" not in page(study.audit(effects))
