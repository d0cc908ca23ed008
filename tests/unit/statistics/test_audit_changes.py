"""What has changed since the last audit: only texts that are new count, and its level holds."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy
from page_study import PageStudy
from schemas import schema_of

from evenlight.core import tables
from evenlight.core.errors import InputError
from evenlight.judging.results import Result
from evenlight.reports.index.content import study_content
from evenlight.reports.index.found import CONTRACTS, Found
from evenlight.reports.index.page import card, render
from evenlight.reports.index.store import Store
from evenlight.statistics.analyses.audit_changes import Filed, audit_changes, new_wins, read_filed
from evenlight.statistics.analyses.base import Inputs
from evenlight.statistics.arrays.change import change_p, effect_change_p, ratio_of_limits
from evenlight.statistics.arrays.multiple_testing import sides_adjusted
from evenlight.statistics.arrays.relative_effect import relative_effect
from evenlight.statistics.comparisons.study import StudyScores, VerdictSettings

JUDGED = {"alpha": 0.05, "as_often_bound": 0.2, "confidence": 0.95, "bootstrap_draws": 9}
JUDGED |= {"smallest_effects": {}, "primary": {}, "noise": [], "higher_is_better": {"gini": False}}
COMPARED = {"gender": [["male", "female"]]}

# The tests ------------------------------------------------------------------------------------------------------------


def test_the_test_of_pairs_is_fishers():
    for before, now in [((22, 3), (10, 15)), ((0, 9), (4, 1)), ((7, 7), (0, 0))]:
        for p, way in zip(change_p(*before, *now).ravel(), ("greater", "less"), strict=True):
            assert p == pytest.approx(scipy.stats.fisher_exact([now, before], alternative=way).pvalue)


@pytest.mark.parametrize("share", [0.5, 0.7, 0.95])
def test_of_pairs_no_share_makes_a_side_wrong_more_often_than_its_level(share):
    before, now = np.meshgrid(np.arange(26), np.arange(18), indexing="ij")
    chances = scipy.stats.binom.pmf(before, 25, share) * scipy.stats.binom.pmf(now, 17, share)
    for p in change_p(before, 25 - before, now, 17 - now):
        assert 0 < chances[p <= 0.05].sum() <= 0.05


def wrong_or_found(draw, shift_before: float, shift: float) -> np.ndarray:
    """In each of 200 studies of 12 comparisons of 60 and 80 texts a group, how many changes are found."""
    rng, sides = np.random.default_rng(3), []
    for texts, by in ((60, shift_before), (80, shift)):
        effect = relative_effect(draw(rng, (texts, 2400)) + by, draw(rng, (texts, 2400)))
        sides += [effect.effect, ratio_of_limits(effect.effect, *effect.limits(0.025), 0.025)]
    p = effect_change_p(*sides)
    return np.array([(sides_adjusted(p[:, 12 * row : 12 * row + 12]) <= 0.05).sum() for row in range(200)])


def skewed(rng, size):
    """Scores with few levels, of which most are small."""
    return rng.exponential(size=size).round(1)


@pytest.mark.parametrize("draw", [lambda rng, size: rng.normal(size=size), skewed], ids=["normal", "skewed"])
@pytest.mark.parametrize("shift", [0.0, 0.8])
def test_of_texts_without_pairs_the_level_holds_over_all_comparisons(draw, shift):
    # Of 200 studies 17 or fewer where one in twenty is wrong, in 98 of 100 of such simulations.
    assert (wrong_or_found(draw, shift, shift) > 0).sum() <= 17


def test_a_large_change_of_texts_without_pairs_is_found():
    assert wrong_or_found(lambda rng, size: rng.normal(size=size), 0.8, -0.2).mean() > 0.85 * 12


# Comparisons ----------------------------------------------------------------------------------------------------------


JUDGING = VerdictSettings.plain(alpha=0.05, as_often_bound=0.2, confidence=0.95, bootstrap_draws=200)


def before(**columns) -> pd.DataFrame:
    """A comparison that was filed, with other columns."""
    names = {
        "dataset": "d",
        "model": "m",
        "explainer": "e",
        "metric": "g",
        "factor": "f",
        "level_a": "A",
        "level_b": "B",
    }
    found = {"verdict": "A more often", "unit": "pairs", "units_a": 26, "units_b": 26, "margin": 0.0}
    found |= {"wins": 22, "losses": 3, "ties": 1, "share": 0.88, "low": 0.69, "high": 0.97}
    return pd.DataFrame([names | found | columns])


def compared(filed: pd.DataFrame, new: pd.DataFrame, family: str = "study") -> pd.DataFrame:
    effects = before(family=family).drop(columns=filed.columns[8:], errors="ignore")
    last = Filed(filed, {}, 0.95, {})
    return audit_changes(effects, new.drop(columns="verdict"), last, JUDGING)


NEW = before(wins=6, losses=20, ties=0, share=6 / 26)


def test_margins_that_are_rounding_of_large_scores_are_one():
    """Each audit takes the rounding of its own scores."""
    [row] = compared(before(margin=3.65e-5), NEW.assign(margin=3.5e-5)).itertuples()
    assert row.side == -1


def test_a_change_is_named_for_the_group_that_wins_more_often_than_then():
    [row] = compared(before(), NEW).itertuples()
    assert (row.side, row.change, row.reason) == (-1, "more for B", None)
    assert row.p == pytest.approx(2 * scipy.stats.fisher_exact([[6, 20], [22, 3]], alternative="less").pvalue)
    assert (row.wins_before, row.losses_before, row.wins, row.losses) == (22, 3, 6, 20)


def test_levels_in_the_other_order_are_the_same_comparison():
    mirrored = before(level_a="B", level_b="A", wins=3, losses=22, share=0.12, low=0.03, high=0.31)
    one, other = compared(before(), NEW), compared(mirrored, NEW)
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize(
    ("filed", "new", "named"),
    [
        (before(metric="h"), NEW, "does not have it"),
        (before(), NEW[:0], "no text with a score is new"),
        (before(unit="texts", wins=pd.NA, losses=pd.NA, ties=pd.NA), NEW, "pairs now, texts then"),
        (before(margin=0.1), NEW, "0.1"),
        (before(), before(wins=0, losses=1, ties=0, share=0.0), "25 decided pairs then and 1 new ones"),
        (before(unit="texts", units_b=60), before(unit="texts", units_a=60, units_b=49), "26 texts of a group"),
    ],
    ids=["not there", "nothing new", "other units", "other margin", "few pairs", "few texts"],
)
def test_what_cannot_be_compared_says_why(filed, new, named):
    [row] = compared(filed, new).itertuples()
    assert (row.side, row.change) == (0, "not decidable")
    assert named in row.reason


def test_controls_are_no_hypothesis():
    assert compared(before(), NEW, family="control").empty


def test_a_comparison_that_the_last_audit_does_not_have_does_not_count_among_the_others():
    effects = pd.concat([before(family="study"), before(family="study", metric="h")])[
        [*before().columns[:7], "family", "verdict"]
    ]
    new = pd.concat([NEW, NEW.assign(metric="h")]).drop(columns="verdict")
    found = audit_changes(effects, new, Filed(before(), {}, 0.95, {}), JUDGING)
    assert found["p_adjusted"][0] == pytest.approx(found["p"][0])
    assert pd.isna(found["p_adjusted"][1])


# Audits ---------------------------------------------------------------------------------------------------------------


def content_of(study: PageStudy, found: Found | None = None, store: Store | None = None, **changed):
    frame = {"title": "Complaints", "date": "2026-10-28"}
    found = found or study.found(study.effects())
    return study_content(study.folders, found, store or Store(), **study.settings(**{"frame": frame} | changed))


@pytest.fixture(scope="module")
def last(tmp_path_factory) -> Path:
    """The filed audit of 30 pairs."""
    folder = tmp_path_factory.mktemp("last")
    told = content_of(PageStudy(folder, seeds=(0,))).told
    path = folder / "audit.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def grown(tmp_path_factory) -> PageStudy:
    """The same texts and forty more pairs."""
    return PageStudy(tmp_path_factory.mktemp("grown"), pairs=70, seeds=(0,))


def study_of(grown: PageStudy) -> StudyScores:
    folders = {"scores": grown.folders.scores, "units": grown.folders.datasets}
    return StudyScores(folders=folders, **grown.scored, comparisons=COMPARED)


def test_only_texts_that_the_last_audit_did_not_judge_count(last, grown):
    judging = VerdictSettings(**JUDGED)
    filed, every = read_filed(last), new_wins(study_of(grown), judging, {})
    new = new_wins(study_of(grown), judging, filed.texts)
    assert len(filed.texts["plots"]) == 60
    assert (every["units_a"] == 70).all()
    assert (new["units_a"] == 40).all()
    # As if the others had never been there.
    [lime] = new[(new["explainer"] == "lime") & (new["metric"] == "gini")].itertuples()
    path = grown.folders.scores / "plots" / "small" / "seed0" / "made" / "lime.parquet"
    scores = pd.read_parquet(path).set_index("item_id")["gini"]
    wins = sum(scores[f"m{pair}"] < scores[f"f{pair}"] for pair in range(30, 70))
    assert (lime.wins, lime.losses) == (wins, 40 - wins)


def test_what_shares_a_cluster_with_a_known_text_is_not_new(last, grown):
    filed = read_filed(last)
    one = {"plots": sorted(filed.texts["plots"])[:1]}
    # A pair is a cluster: with one form of it the other is known.
    assert (new_wins(study_of(grown), VerdictSettings(**JUDGED), one)["units_a"] == 69).all()


def test_the_page_tells_of_the_change_as_the_table_has_it(last, grown, tmp_path):
    result = Result.parse(
        {"result": "compare_audits", **grown.scored, "comparisons": COMPARED, **JUDGED, "baseline": last.name}
    )
    folders = {"scores": grown.folders.scores, "datasets": grown.folders.datasets, "baseline": last.parent}
    computed = result.compute(Inputs(folders, [grown.effects()]))
    path = tmp_path / "audit_changes.parquet"
    tables.write_table(computed.tables[0], path, CONTRACTS["audit_changes"], computed.about)
    changes = tables.read_exactly(path, CONTRACTS["audit_changes"])
    of_both = grown.found(grown.effects())
    found = Found({**of_both.tables, "audit_changes": changes}, last=computed.about["last"])
    store = Store()
    content = content_of(grown, found, store)
    schema_of("audit").validate(json.loads(json.dumps(content.told)))
    since = content.told["since"]
    # The clearest change comes first.
    assert [row["p"] for row in since["questions"]] == pytest.approx(sorted(changes["p"]), abs=1e-6)
    assert "Of 4 questions that both audits ask" in since["said"][0]
    assert "2026-10-28" in content.told["opening"][1]
    page = render(content, store)
    for text in (page, card(content.told)):
        assert "Since the last audit" in text
        assert f"{changes['wins'][0]}–{changes['losses'][0]}–{changes['ties'][0]}" in text


def test_an_audit_that_states_no_date_is_named_without_one(last, grown):
    changes = audit_changes(grown.effects(), NEW[:0].drop(columns="verdict"), read_filed(last), JUDGING)
    about, tables_of = {"study": "made", "date": "not stated", "models": {}}, grown.found(grown.effects()).tables
    content = content_of(grown, Found({**tables_of, "audit_changes": changes}, last=about))
    assert content.told["since"]["date"] is None
    assert content.told["opening"][1].startswith("Since the last audit: of 4")


def test_an_audit_without_an_earlier_one_says_nothing_of_it(grown):
    store = Store()
    content = content_of(grown, store=store)
    assert content.told["since"] is None
    assert "Since the last audit" not in render(content, store) + card(content.told)


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ("no JSON", "cannot be read as JSON"),
        ("[]", "no key study"),
        ({"judged": None}, "no key judged"),
        ({"texts": {}}, "lists no texts"),
        ({"comparisons": [{"dataset": "d"}]}, "explainer"),
    ],
    ids=["no JSON", "a list", "an older version", "no texts", "no comparison"],
)
def test_a_file_that_is_no_such_audit_is_refused_with_the_key_and_what_to_do(last, tmp_path, changed, named):
    told = json.loads(last.read_text(encoding="utf-8"))
    if isinstance(changed, dict):
        told = {key: value for key, value in (told | changed).items() if value is not None}
        changed = json.dumps(told)
    path = tmp_path / "audit.json"
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_filed(path)
    assert named in str(refused.value)
    assert str(refused.value).startswith(f"audit.baseline: {path}")


def test_texts_that_must_not_be_shown_leave_no_digest(grown):
    kept = grown.folders.__class__(grown.folders.scores, grown.folders.datasets)
    told = study_content(kept, grown.found(grown.effects()), Store(), **grown.settings(frame={})).told
    assert told["texts"] == {}
