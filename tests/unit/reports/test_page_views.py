"""What the page holds behind its questions, against the study's tables; that it works is tested in tests/browser."""

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from page_study import LABELS, BothStudy, PageStudy, with_verdicts

from evenlight.core import tables
from evenlight.core.contracts.explanations import ATTRIBUTIONS, SCORES
from evenlight.core.contracts.texts import PREDICTIONS, UNITS
from evenlight.reports.index import page as study_page
from evenlight.reports.index.views import FULL, STEPS, UNDEFINED
from evenlight.reports.verdict_words import sign_of
from evenlight.statistics.comparisons.files import Run, attribution_path, predictions_path, score_path
from evenlight.statistics.comparisons.study import AS_OFTEN
from evenlight.texts.predictions import Sentence


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> PageStudy:
    """Thirty pairs, two explainers, two metrics and three runs."""
    return PageStudy(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def effects(study) -> pd.DataFrame:
    return study.effects()


@pytest.fixture(scope="module")
def held(study, effects):
    return Held(*study.content(effects))


class Held:
    """What a page holds, unpacked as a browser does."""

    def __init__(self, content, store):
        self.content, self.store = content, store
        self.dataset = content.tree["content"]["plots"]
        self.model = self.dataset["models"]["small"]["tokens"]

    def part(self, number: int):
        kind, data = self.store.parts[number]
        return json.loads(data) if kind == "json" else np.frombuffer(data, np.dtype(kind).newbyteorder("<"))

    def scores(self, explainer: str, metric: str, level: str, factor: str = "gender") -> pd.Series:
        """The scores of a level's units, by unit."""
        entry, place = self.model["explainers"][explainer], self.model["levels"][factor][level]
        metrics, units = list(entry["ranges"]), self.part(place["units"])
        codes = self.part(entry["scores"]).reshape(len(metrics), -1)[metrics.index(metric)]
        codes = codes[place["start"] : place["start"] + len(units)].astype(float)
        low, high = entry["ranges"][metric]
        values = np.where(codes == UNDEFINED, np.nan, low + codes / STEPS * (high - low))
        return pd.Series(values, np.array(self.part(self.dataset["units"]))[units])

    def texts(self) -> list[list[str]]:
        words = np.array(self.part(self.dataset["vocabulary"]), object)[self.part(self.dataset["words"])]
        ends = np.cumsum(self.part(self.dataset["lengths"]))
        return [part.tolist() for part in np.split(words, ends)[:-1]]

    def shares(self, explainer: str) -> list[np.ndarray]:
        """Of each text of the model, in its order."""
        lengths = self.part(self.dataset["lengths"])[self.part(self.model["items"])]
        flat = self.part(self.model["explainers"][explainer]["shares"]) / FULL
        return np.split(flat, np.cumsum(lengths)[:-1])


def test_texts_are_those_of_the_dataset(held, study):
    assert held.texts() == study.items["words"].tolist()
    assert held.part(held.model["items"]).tolist() == list(range(len(study.items)))
    assert held.part(held.model["explained"]).tolist() == study.items["label"].tolist()
    assert held.dataset["classes"] == ["male", "female"]


def scores_of(study: PageStudy, seed: int, explainer: str) -> pd.DataFrame:
    """The scores of a run, by text."""
    path = score_path(study.folders.scores, Run("plots", "small", seed), "made", explainer)
    return tables.read_table(path, SCORES).set_index("item_id")


@pytest.mark.parametrize("explainer", ["ig", "lime"])
@pytest.mark.parametrize("metric", ["comprehensiveness", "gini"])
def test_scores_are_means_of_the_runs_and_give_the_effect(held, study, effects, explainer, metric):
    means = pd.concat([scores_of(study, seed, explainer)[metric] for seed in study.seeds], axis=1).mean(axis=1)
    step = (means.max() - means.min()) / STEPS
    sides = []
    for level in ("male", "female"):
        rows = study.units[study.units["level"] == level].set_index("unit_id")["item_id"]
        side = held.scores(explainer, metric, level)
        assert np.abs(side - rows.map(means)[side.index]).max() <= step
        sides.append(side)
    cell = effects[(effects["explainer"] == explainer) & (effects["metric"] == metric)].iloc[0]
    assert (sides[0] - sides[1]).mean() == pytest.approx(cell["difference"], abs=2 * step)


def test_words_have_their_tokens_sum_over_the_texts_largest_mean_over_the_runs(held, study):
    expected = []
    for place, item in enumerate(study.items.itertuples(index=False)):
        of_runs = []
        for seed in study.seeds:
            run = Run("plots", "small", seed)
            word_id = tables.read_table(predictions_path(study.folders.predictions, run), PREDICTIONS)["word_id"][place]
            word_id = np.array([-1 if np.isnan(word) else word for word in word_id.astype(float)], int)
            path = attribution_path(study.folders.attributions, run, "ig")
            attribution_file = tables.read_table(path, ATTRIBUTIONS).set_index("item_id")
            text = Sentence(item.item_id, tuple(item.words), np.zeros(len(word_id), int), word_id, 0)
            sums = text.word_sums(attribution_file.loc[item.item_id, "token_score"])
            of_runs.append(sums / np.abs(sums).max())
        expected.append(np.mean(of_runs, axis=0))
    for found, wanted in zip(held.shares("ig"), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=0.5 / FULL + 1e-9)


def test_pairs_of_words_are_means_over_the_runs_by_the_text_s_largest_score(tmp_path):
    study = PageStudy(tmp_path, pairs=2, seeds=(0, 1))
    largest = []
    for seed, pairs in {0: [(0, 2, 0.5), (1, 2, -0.1)], 1: [(1, 2, -0.3)]}.items():
        study.keep_pairs("ig", seed, {"m0": pairs})
        path = attribution_path(study.folders.attributions, Run("plots", "small", seed), "ig")
        scores = np.array(tables.read_table(path, ATTRIBUTIONS)["token_score"][0])
        largest.append(np.abs([scores[1] + scores[2], *scores[3:-1]]).max())
    held = Held(*study.content(study.effects()))
    assert "together" not in held.model["explainers"]["lime"]
    first, *others = held.part(held.model["explainers"]["ig"]["together"])
    expected = {(0, 2): 0.5 / largest[0] / 2, (1, 2): -0.1 / largest[0] / 2 - 0.3 / largest[1] / 2}
    assert {(one, other): share for one, other, share in first} == pytest.approx(expected, abs=0.0051)
    assert [abs(share) for *_, share in first] == sorted((abs(share) for *_, share in first), reverse=True)
    assert others == [[]] * len(others)


def test_cells_have_the_verdicts_and_counts_of_their_table(held, effects):
    rows = held.part(held.dataset["effects"])
    assert [(row["explainer"], row["metric"], row["verdict"]) for row in rows] == list(
        effects[["explainer", "metric", "verdict"]].itertuples(index=False, name=None)
    )
    for row, cell in zip(rows, effects.itertuples(), strict=True):
        for name in ("share", "low", "high", "family_low", "family_high"):
            assert row[name] == pytest.approx(getattr(cell, name), abs=1e-5)
        sign, colour = sign_of(cell.verdict, cell.side, "male", "female")
        assert (row["sign"], row["counts"]) == (sign, f"{cell.wins}–{cell.losses}–{cell.ties}")
        assert row["colour"] == colour
        assert f"In {max(cell.wins, cell.losses)} of 30 pairs" in row["said"][0]
        assert "with all 4 comparisons" in row["said"][0]
    signs = [entry["sign"] for entry in held.content.tree["legend"]]
    assert signs == ["M", "F", "?", "22–3–1"]


def test_it_opens_with_what_was_found_and_then_how_much_at_least(study, effects, snapshot):
    content, _ = study.content(effects)
    assert "2 of 4 questions" in content.told["opening"][0]
    assert "at least 2 differ" in content.told["opening"][-1]
    snapshot(*content.told["opening"])
    [alone] = study.content(None)[0].told["opening"]
    assert "no verdict" in alone


def test_controls_are_marked_and_not_counted(study, effects):
    effects = effects.assign(family=["control", "control", "primary", "exploratory"])
    content, store = study.content(effects)
    # Of what was named beforehand the page speaks first.
    assert "primary question" in content.told["opening"][0]
    assert [each["family"] for each in content.told["comparisons"]] == ["primary", "exploratory"]
    rows = Held(content, store).part(content.tree["content"]["plots"]["effects"])
    families = content.tree["families"]
    assert [families[row["family"]][:8] for row in rows] == ["controls", "controls", "primary ", "explorat"]


def test_explanations_that_the_page_does_not_show_are_told_and_not_counted(study, effects):
    """As of changes of a concept, in a study that explains texts, too."""
    others = effects.assign(explainer="approx", metric="icace_error")
    content, store = study.content(pd.concat([effects, others], ignore_index=True))
    assert "of 4 questions" in content.told["opening"][0]
    assert content.told["not_tested"][-1].startswith("4 comparisons of other explanations: tables/effects.html")
    assert len(Held(content, store).part(content.tree["content"]["plots"]["effects"])) == 4
    alone = study.content(effects)[0].told
    assert content.told["open"] == alone["open"]
    assert content.told["controls"] == alone["controls"]
    # Among which it is adjusted are all comparisons of the study.
    assert "with all 8 comparisons considered" in content.told["comparisons"][0]["said"][0]


def test_each_question_names_the_group_that_is_better_more_often(study, effects):
    cells = with_verdicts(effects, ["male more often", "female more often", "as often", "not decidable"])
    held = Held(*study.content(cells.assign(p_adjusted=[0.02, 0.01, 1.0, 1.0])))
    assert [row["sign"] for row in held.part(held.dataset["effects"])] == ["M", "F", "=", "–"]
    found, _ = held.content.told["opening"]
    row = cells.iloc[1]
    # The clearest comes first, in the words of whoever knows no statistics.
    clearest = (
        rf"{LABELS[row['explainer']]} explains .*“female” .*“male”, in {row['losses']} of 30 pairs.* {row['metric']}"
    )
    assert re.match(clearest, found, re.IGNORECASE)
    # Of further pairs so many as the limit says, which is of all comparisons.
    assert f"expect on average at least {int(30 * (1 - row['family_high']))} of 30" in found
    # One is as often, and one is open.
    assert "In 1 a difference that matters is ruled out. 1 is open" in found


def test_questions_with_tiny_p_are_told_apart(study, effects):
    """By p they are sorted, so that the first of them is the one that the answer names."""
    held = Held(*study.content(effects.assign(p_adjusted=[3e-9, 2e-9, 1.0, 1.0])))
    assert [row["p"] for row in held.part(held.dataset["effects"])] == [3e-9, 2e-9, 1.0, 1.0]


def test_where_a_difference_is_ruled_out_everywhere_the_bound_is_said(study, effects):
    found, _ = study.content(with_verdicts(effects, AS_OFTEN))[0].told["opening"]
    assert "all 4 questions" in found
    assert "20 of 100" in found


def test_names_stand_in_the_page_in_their_order(study):
    labels = {"zeta": "Z", "alpha": "A"}
    content, store = study.content(None)
    page = study_page.render(replace(content, tree=content.tree | {"models": labels}), store)
    said = json.loads(next(text for attributes, text in Scripts(page).scripts if attributes.get("id") == "study"))
    assert list(said["models"]) == ["zeta", "alpha"]


def test_a_cell_that_is_not_decidable_says_why(study):
    effects = with_verdicts(study.effects(), ["not decidable", *["undecided"] * 3])
    effects.loc[0, "reason"] = "7 decided pairs are too few"
    held = Held(*study.content(effects))
    first, second, *_ = held.part(held.dataset["effects"])
    assert any("7 decided pairs" in text for text in first["said"])
    assert not any("decidable" in text for text in second["said"])


def test_undefined_scores_stay_undefined(tmp_path):
    study = PageStudy(tmp_path, pairs=12)
    for seed in study.seeds:
        path = score_path(study.folders.scores, Run("plots", "small", seed), "made", "ig")
        table = tables.read_table(path, SCORES)
        # One text has no score in any run, another in the first only.
        table.loc[table["item_id"] == "m3", "gini"] = np.nan
        if seed == 0:
            table.loc[table["item_id"] == "m4", "gini"] = np.nan
        tables.write_table(table, path, SCORES)
    scores = Held(*study.content(None)).scores("ig", "gini", "male")
    assert scores.index[scores.isna()].tolist() == ["p3"]


def test_several_texts_of_a_unit_are_counted_and_all_named(tmp_path):
    study = PageStudy(tmp_path, pairs=6, seeds=(0,))
    # The second pair's texts become further variants of the first pair.
    units = study.units.assign(unit_id=study.units["unit_id"].replace("p1", "p0"))
    tables.write_table(units, study.folders.datasets / "plots" / "units.parquet", UNITS)
    held = Held(*study.content(None))
    level = held.model["levels"]["gender"]["male"]
    assert held.part(level["counts"]).tolist() == [2, 1, 1, 1, 1]
    items = study.items["item_id"].to_numpy()[held.part(held.model["items"])]
    assert items[held.part(level["first"])].tolist() == ["m0", "m2", "m3", "m4", "m5"]
    assert items[held.part(level["all"])].tolist() == ["m0", "m1", "m2", "m3", "m4", "m5"]
    scores = scores_of(study, 0, "ig")["gini"]
    assert held.scores("ig", "gini", "male")["p0"] == pytest.approx(scores[["m0", "m1"]].mean(), abs=1e-4)


def test_without_comparisons_all_levels_stand_side_by_side_and_without_groups_all_texts(study, tmp_path):
    held = Held(*study.content(None, comparisons={}))
    assert held.dataset["comparisons"] == [["gender", "female", "male"]]
    assert held.part(held.dataset["effects"]) == []


def test_texts_without_any_group_are_one_group(tmp_path):
    study = PageStudy(tmp_path, pairs=4, seeds=(0,))
    tables.write_table(study.units[:0], study.folders.datasets / "plots" / "units.parquet", UNITS)
    held = Held(*study.content(None, comparisons={}))
    assert held.dataset["comparisons"] == [["", "all", None]]
    assert held.scores("ig", "gini", "all", factor="").index.tolist() == study.items["item_id"].tolist()


def test_a_page_without_texts_holds_no_word_of_them(study, effects):
    content, store = study.content(effects, texts=False)
    assert not content.tree["texts"]
    whole = json.dumps([content.told, content.tree]).encode() + b"".join(part for _, part in store.parts)
    assert not re.search(rb"\b(queen|abroad|uncle)\b", whole)
    # The same search finds them where they are shown.
    content, store = study.content(effects)
    assert re.search(rb"\b(queen|abroad|uncle)\b", b"".join(part for _, part in store.parts))


class Scripts(HTMLParser):
    """The scripts of a page with their attributes, every tag and every address, as a browser's parser finds them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts, self.tags, self.addresses, self._open = [], [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "action")]
        if tag == "script":
            self.scripts.append([dict(attributes), ""])
            self._open = True

    def handle_endtag(self, tag):
        self._open = self._open and tag != "script"

    def handle_data(self, data):
        if self._open:
            self.scripts[-1][1] += data


HOSTILE = "</script><img src=x onerror=alert(1)><!-- {{ study }} \N{LINE SEPARATOR}"


def test_what_the_data_say_is_never_markup(tmp_path, monkeypatch):
    subjects = {"male": (HOSTILE, "king"), "female": (HOSTILE.upper(), "queen")}
    study = PageStudy(tmp_path, pairs=8, seeds=(0,), words=subjects)
    labels = {"study": HOSTILE, "models": {"small": HOSTILE}, "explainers": {"ig": HOSTILE, "lime": "LIME"}}
    content, store = study.content(None, **labels)
    monkeypatch.setattr(study_page, "scripts", lambda: "window.vegaEmbed = null;")
    page = study_page.render(content, store)
    clean = study_page.render(*study.content(None))
    assert HOSTILE not in page
    found = Scripts(page)
    assert found.tags == Scripts(clean).tags
    assert "img" not in found.tags
    said = json.loads(next(text for attributes, text in found.scripts if attributes.get("id") == "study"))
    assert said["models"]["small"] == said["study"] == HOSTILE
    parts = [(attributes, text) for attributes, text in found.scripts if attributes.get("type") == "text/plain"]
    assert [zlib.decompress(base64.b64decode(text)) for _, text in parts] == [data for _, data in store.parts]


def test_only_the_scripts_of_the_page_may_run_and_nothing_is_fetched(study, effects):
    page = study_page.render(*study.content(effects))
    found = Scripts(page)
    policy = re.search(r'content="(default-src[^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy
    run = [text for attributes, text in found.scripts if "type" not in attributes]
    assert len(run) == 2
    assert [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run] == re.findall(
        r"'sha256-([^']*)'", policy
    )
    assert all(
        address.startswith(("data:,", "#", "scores/", "datasets/", "attr", "pred")) for address in found.addresses
    )
    assert page == study_page.render(*study.content(effects))


def test_a_script_that_would_end_its_element_is_refused(study, monkeypatch):
    monkeypatch.setattr(study_page, "scripts", lambda: "'</SCRIPT>'")
    with pytest.raises(AssertionError, match="end it"):
        study_page.render(*study.content(None))


def test_a_study_of_answers_is_asked_whether_they_are_alike(tmp_path):
    """Its metrics have a direction and no better side: the score is the higher or the lower one."""
    both = BothStudy(tmp_path)
    effects = both.effects()
    effects = effects[effects["explainer"] == "reasons"]
    content, store = both.content(effects)
    assert "explain" not in " ".join(content.told["opening"])
    assert not any("explained" in entry["meaning"] for entry in content.tree["legend"])
    words = Held(content, store).part(content.tree["content"]["plots"]["effects"])[0]["said"][0]
    assert "the lower score" in words
    assert "explained" not in words


def test_answers_stand_beside_attributions_of_the_same_model(tmp_path, snapshot):
    both = BothStudy(tmp_path)
    content, store = both.content(both.effects())
    assert {name: (entry["label"], entry["explainers"]) for name, entry in content.tree["modalities"].items()} == {
        "tokens": ("Attributions", ["ig", "lime"]),
        "text": ("Answers in words", ["reasons"]),
    }
    snapshot("\n".join(content.told["opening"]))
    held = Held(content, store)
    of_tokens, of_text = (held.dataset["models"]["small"][name] for name in ("tokens", "text"))
    assert (list(of_tokens["explainers"]), list(of_text["explainers"])) == (["ig", "lime"], ["reasons"])
    assert "answers" not in of_tokens["explainers"]["ig"]
    assert "shares" not in of_text["explainers"]["reasons"]
    # Attributions are those of a page of their own.
    alone = PageStudy(tmp_path / "alone", seeds=(0,))
    of_alone = Held(*alone.content(alone.effects()))
    for name in ("ig", "lime"):
        np.testing.assert_array_equal(held.scores(name, "gini", "male"), of_alone.scores(name, "gini", "male"))
    # Each modality counts its own texts: nothing was asked about the first pair.
    assert len(held.part(of_tokens["items"])) == 60
    assert len(held.part(of_text["items"])) == 58
    said = of_text["explainers"]["reasons"]
    assert list(said["ranges"]) == ["words", "undecided"]
    place = of_text["levels"]["gender"]["male"]
    units = [held.part(held.dataset["units"])[unit] for unit in held.part(place["units"])]
    words = held.part(said["scores"]).reshape(2, -1)[0, place["start"] : place["start"] + len(units)]
    lengths = both.items.set_index("item_id")["words"].map(len)
    assert words.tolist() == [2 + lengths[unit.replace("p", "m")] for unit in units]
    assert held.part(said["answers"]["texts"])[:2] == [
        f"Answer {draw}: {' '.join(both.items['words'].iloc[2])}" for draw in (0, 1)
    ]
    # Where texts are not to be shown, neither are answers.
    hidden, _ = both.content(None, texts=False)
    assert not hidden.tree["texts"]
    assert "answers" not in hidden.tree["content"]["plots"]["models"]["small"]["text"]["explainers"]["reasons"]
