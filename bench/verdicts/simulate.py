"""How often verdicts are wrong, and how much they find, in studies drawn at random: docs/results/verdicts.md.

``make verdicts`` draws 1,000 studies a row, in half an hour of two idle cores, and goes on where it was stopped: delete
``results/verdicts`` to draw all anew. ``--quick`` draws a few of each row. Studies are judged as the workflow judges
them (:func:`evenlight.statistics.comparisons.wins.counted_wins`,
:func:`evenlight.statistics.comparisons.verdicts.judged`). Real scores come first, then made ones (:mod:`laws`).
"""

import argparse
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import laws
import numpy as np
import pandas as pd
from laws import Law, Study
from scipy.stats import binom, t
from scipy.stats.mstats import ttest_1samp, ttest_ind

sys.path.insert(0, str(Path(__file__).parents[1]))

from report import machine, markdown

from evenlight.core.seeds import generator_for
from evenlight.core.tables import replacing
from evenlight.statistics.arrays.exact_tests import share_limits
from evenlight.statistics.arrays.mean import difference_limits, mean_limits
from evenlight.statistics.arrays.multiple_testing import ONE_LOOK, POCOCK, Looks, at_least, holm
from evenlight.statistics.arrays.units import mean_of_known
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, Side
from evenlight.statistics.comparisons.study import Comparison, VerdictSettings
from evenlight.statistics.comparisons.verdicts import count_thresholds, judged
from evenlight.statistics.comparisons.wins import P_SIDES, Counted, counted_wins

ALPHA, FLIPS, AS_OFTEN_BOUND = 0.05, 499, 0.2
JUDGING = VerdictSettings.plain(alpha=ALPHA, as_often_bound=AS_OFTEN_BOUND, confidence=1 - ALPHA, bootstrap_draws=FLIPS)
# Scores of the studies that are counted together.
SCORES_AT_ONCE = 2**18
PLAN = Looks((30, 100, 200), (0, 1, 2), POCOCK)

MORE, WORST, RETRAINING, ALIKE = "more often", "worst", "across retraining", "as often"
MEANS = "The mean's 95 % interval"
# Columns of the p of the true sides, and of the least p of the others.
P_OF_SIDES = ["true p", "least other p"]
# Studies of a row that are drawn in one go, and samples behind intervals of the mean for each.
BLOCK, SAMPLES = 100, 5
GECO, SUBJECTS, HATE = "geco_all_male_female", "geco_subj_male_female", "hatecheck_women_trans_people"
COMPAS, CEBAB = "compas_male_female", "cebab_errors_negative_to_positive_positive_to_negative"
PAIRS_OF = {GECO: ("GECO", 322), SUBJECTS: ("GECO, subjects", 322), HATE: ("HateCheck", 209)}


@dataclass(frozen=True)
class Row:
    """A row of the table: a name, a law with the numbers of units, and what is asked.

    Attributes:
        claim: what is counted as found and wrong: :data:`MORE` (and of pairs all that goes with it), or another one.
        looks: interim analyses, of pairs.
    """

    name: str
    law: Law
    units: tuple[int, ...]
    claim: str = MORE
    looks: Looks = ONE_LOOK


SECTIONS: dict[str, list[Row]] = {
    "Pairs: real scores, without a difference": [
        Row(f"{name}: {null}", law(of), (units,))
        for of, (name, all_units) in PAIRS_OF.items()
        for null, law in (("groups exchanged", laws.flipped), ("wins equal losses", laws.as_many))
        for units in (24, 50, 100, all_units)
    ]
    + [Row("GECO, mean of two seeds: wins equal losses", laws.as_many(GECO, 2), (units,)) for units in (24, 100)],
    "Pairs: real scores, half of the comparisons with an effect": [
        Row(f"{PAIRS_OF[of][0]}: {said}", laws.planted(of, kind), (units,))
        for of in (GECO, HATE)
        for kind, said in (
            ("shift", "shifted by five standard errors"),
            ("turned", "one group wins .8 of decided pairs"),
            ("rare losses", "one group wins .8, and loses so much that the mean is 0"),
            ("size", "wins three times as large, and as many (no group wins more often)"),
        )
        for units in (24, 100)
    ],
    "Pairs: made scores, without a difference": [
        Row(name, law, (units,))
        for name, law in (
            ("normal", laws.normal),
            ("skewed", laws.skewed),
            ("skewed, most tied", laws.tied),
            ("whole numbers, most 0", laws.levels),
            ("skewed, a fifth missing", laws.missing),
            ("31 products of 5 signs", laws.products(5)),
            ("127 products of 7 signs", laws.products(7)),
            ("units won in all comparisons", laws.all_at_once),
            ("ties that tell signs", laws.ties_that_tell),
            ("wins that come together, half tied", laws.wins_together(0.5)),
            ("wins that come together, most tied", laws.wins_together(0.8)),
        )
        for units in (24, 100)
    ],
    "Pairs in clusters of 1 to 12: a vote each": [
        Row(name, laws.clustered(kind), (count,))
        for name, kind in (("whole clusters", "whole"), ("half of the variance", "half"), ("size tells", "size"))
        for count in (24, 100)
    ],
    "The worst tenth, groups exchanged": [
        *(Row(f"{PAIRS_OF[of][0]}", laws.flipped(of), (units,), WORST) for of in (GECO, HATE) for units in (24, 100)),
        *(Row("COMPAS, texts within strata", laws.exchanged(COMPAS), sizes, WORST) for sizes in ((50, 50), (300, 60))),
    ],
    "As often: the net benefit is at the bound of .2, or 0": [
        Row(f"net benefit {benefit:g}, {100 * ties:g} % ties", laws.net_benefit(benefit, ties), (units,), ALIKE)
        for benefit in (AS_OFTEN_BOUND, 0.0)
        for ties in (0.0, 0.8)
        for units in (100, 300, 1000)
    ]
    + [
        Row(f"texts: {said}", law, sizes, ALIKE)
        for said, law in (
            ("one group wins a fifth, else tied", laws.two_levels(0.2, 0.0)),
            ("two levels, .9 and .7", laws.two_levels(0.9, 0.7)),
            ("the same distribution", laws.spread(1)),
        )
        for sizes in ((50, 50), (300, 300), (300, 60))
    ],
    "Across retraining: majorities of seeds, 100 pairs": [
        Row(
            f"{count} {'comparison' if count == 1 else 'comparisons'}, {seeds} seeds, {said}",
            laws.retrained(kind, seeds, count, shift),
            (100,),
            RETRAINING,
        )
        for kind, shift, said in (
            ("normal", 0.0, "normal"),
            ("uneven", 0.0, "won by little, lost by much"),
            ("normal", 0.4, "half with a net benefit of .4"),
        )
        for count in (1, 100)
        for seeds in (5, 10, 20)
    ],
    "Texts without pairs: real scores": [
        Row(f"{name}: {said}", law, sizes)
        for name, of, unequal in (("COMPAS", COMPAS, (300, 60)), ("CEBaB, errors", CEBAB, (300, 60)))
        for said, law in (
            ("groups exchanged", laws.exchanged(of)),
            ("own shapes, θ = 1/2", laws.of_levels(of)),
            ("half shifted by 5 SD/√n", laws.of_levels(of, laws.SHIFT)),
        )
        for sizes in ((50, 50), (100, 100), unequal)
    ],
    "Texts without pairs: made scores": [
        Row(name, law, sizes)
        for name, law in (
            ("normal, spreads 1 : 3", laws.spread(3)),
            ("heavy tails, spreads 1 : 3", laws.spread(3, skew=True)),
            ("spreads 1 : 3, within strata", laws.spread(3, strata=True)),
        )
        for sizes in ((50, 50), (100, 100), (300, 60), (60, 300))
    ]
    + [Row("a rare score, .02 of both groups", laws.two_levels(0.02, 0.02), sizes) for sizes in ((50, 50), (50, 500))]
    + [
        Row(f"{said}, half with θ = .66", laws.spread(sd, shift=shift), sizes)
        for said, sd, shift in (("equal spreads", 1, 0.58), ("spreads 1 : 3", 3, 1.3))
        for sizes in ((50, 50), (50, 500))
    ]
    + [Row("clusters with one score in four strata", laws.one_in_strata, (size, 200)) for size in (200, 400)],
    "Interim analyses with 30, 100 and 200 pairs": [
        Row("GECO: wins equal losses", laws.as_many(GECO), (200,), looks=PLAN),
        Row("skewed, without a difference", laws.skewed, (200,), looks=PLAN),
        Row("GECO: one group wins .8 of decided pairs", laws.planted(GECO, "turned"), (200,), looks=PLAN),
    ],
}


# Studies --------------------------------------------------------------------------------------------------------------


def counted(studies: Sequence[Study], paired: bool, first: int | None = None) -> list[list[Counted]]:
    """The wins of some studies of a row, of their ``first`` pairs only.

    No comparison knows of another one here, so that those of all studies are counted together, as those of one. Where
    each study has its own clusters or strata, it is counted alone.
    """
    if studies[0].clusters is not None or studies[0].strata is not None:
        return [_counted([study], paired, first)[0] for study in studies]
    return _counted(studies, paired, first)


def _counted(studies: Sequence[Study], paired: bool, first: int | None) -> list[list[Counted]]:
    a, b = (np.concatenate([getattr(study, side) for study in studies])[:, :, :first] for side in "ab")
    names = [f"comparison {number}" for number in range(len(a))]
    sides, column, clusters_of, strata_of = [], 0, studies[0].clusters, studies[0].strata
    for place, (letter, scores) in enumerate(zip("ab", (a, b), strict=True)):
        size = scores.shape[2]
        codes = np.arange(size) if clusters_of is None else clusters_of[:size]
        clusters = np.array([f"{'' if paired else letter}{code}" for code in codes], dtype=object)
        strata = None if strata_of is None else np.tile(strata_of[place][:size], (scores.shape[1], 1))
        sides.append(Side(clusters, clusters, column + np.arange(size), np.arange(size), strata))
        column += size
    values = np.concatenate([a, b], axis=2)
    seeds, there = range(a.shape[1]), ~np.isnan(values[0])
    scores = ExplainerScores("dataset", "model", "explainer", seeds, names, values, there)
    design = Design(Comparison("group", "a", "b"), paired, *sides)
    [part] = counted_wins([scores], [design], JUDGING)
    ends = np.cumsum([len(study.a) for study in studies])
    return [
        [
            Counted(
                part.rows.iloc[end - len(study.a) : end].reset_index(drop=True),
                None if part.signed is None else part.signed.iloc[:, end - len(study.a) : end],
            )
        ]
        for study, end in zip(studies, ends, strict=True)
    ]


def of_studies(row: Row, numbers: Sequence[int]) -> list[dict[str, float]]:
    """What is wrong in some studies, 0 or 1 each, and the shares that are found."""
    paired = len(row.units) == 1
    seeds = [("verdicts", row.name, *row.units, number) for number in numbers]
    studies = [row.law(generator_for(*seed), *row.units) for seed in seeds]
    parts = [counted(studies, paired, units) for units in (*row.looks.units[:-1], None)]
    analyses = list(zip(*parts, strict=True))
    tables = [judged(present, JUDGING, row.looks, earlier) for *earlier, present in analyses]
    said = [_said(row.claim, table, study.truth) for table, study in zip(tables, studies, strict=True)]
    if row.claim != MORE:
        return said
    if studies[0].clusters is None and studies[0].strata is None:
        for of, sides, study in zip(said, _by_t(studies, paired), studies, strict=True):
            of |= _of_sides(sides, study.truth, "t ")
    return [
        of | _of_claims(row, study, table, present, seed)
        for of, study, table, (*_, [present]), seed in zip(said, studies, tables, analyses, seeds, strict=True)
    ]


def _said(claim: str, table: pd.DataFrame, truth: np.ndarray) -> dict[str, float]:
    if claim == ALIKE:
        alike = (table["p_as_often_adjusted"] <= table["level"]).to_numpy()
        return {"wrong": alike.any()} if truth.any() else {"found": alike.mean()}
    column = {MORE: "side", WORST: "worst_side", RETRAINING: "retraining_side"}[claim]
    return _of_sides(table[column].to_numpy(), truth)


def _of_sides(found: np.ndarray, truth: np.ndarray, by: str = "") -> dict[str, float]:
    said = {f"{by}wrong": (found * (found != truth)).any()}
    differs = truth != 0
    return said | ({f"{by}found": (found == truth)[differs].mean()} if differs.any() else {})


def _of_claims(row: Row, study: Study, table: pd.DataFrame, part: Counted, seed: tuple) -> dict[str, object]:
    """What else is asked where the claim is *more often*: limits, counts of comparisons, analyses, and the oracle."""
    truth = study.truth
    if not row.looks.is_one:
        return {f"found by analysis {look}": _found_by(table, look, truth) for look in (1, 2, 3)}
    p_sides, said = table[P_SIDES].to_numpy(float).T, {}
    if len(row.units) == 1:
        low, high = table["family_low"].to_numpy(), table["family_high"].to_numpy()
        said["a limit wrong"] = ((low > study.share + 1e-12) | (high < study.share - 1e-12)).any()
        said |= _of_counts(p_sides, part.signed.to_numpy(), truth, seed)
    if (truth != 0).any():
        of_true = np.where(truth > 0, p_sides[0], p_sides[1])[truth != 0]
        others = np.concatenate([p_sides[0][truth <= 0], p_sides[1][truth >= 0]])
        said |= dict(zip(P_OF_SIDES, (of_true, others.min()), strict=True))
    return said


def _found_by(table: pd.DataFrame, look: int, truth: np.ndarray) -> float:
    there = (table["look"].fillna(99) <= look).to_numpy() & (table["side"].to_numpy() != 0)
    return there[truth != 0].mean() if (truth != 0).any() else np.nan


def _of_counts(p_sides: np.ndarray, signed: np.ndarray, truth: np.ndarray, seed: tuple) -> dict[str, float]:
    """Whether a count of all comparisons is too large, and what it is as a share of those that differ.

    As :func:`evenlight.statistics.comparisons.verdicts.counts_of_sets` has it, with other flips in each study.
    """
    counts = at_least(p_sides, count_thresholds(p_sides, signed, FLIPS, seed, ALPHA)[0])
    most = (truth != 0).sum(), (truth > 0).sum(), (truth < 0).sum()
    said = {"count too large": any(count > value for count, value in zip(counts, most, strict=True))}
    return said | ({"counted": counts[0] / most[0]} if most[0] else {})


def _by_t(studies: Sequence[Study], paired: bool) -> list[np.ndarray]:
    """What Holm's method finds by Student's (Welch's) t of means, as sides; it asks of means, not how often."""
    a, b = (mean_of_known(np.concatenate([getattr(of, side) for of in studies]), axis=1).T for side in "ab")
    with np.errstate(divide="ignore", invalid="ignore"):
        found = ttest_1samp(np.ma.masked_invalid(a - b), 0) if paired else ttest_ind(a, b, equal_var=False)
    p = np.nan_to_num(np.ma.filled(found.pvalue, 1.0), nan=1.0)
    sides, ends = (
        np.sign(np.nan_to_num(np.ma.filled(found.statistic, 0.0))),
        np.cumsum([len(of.a) for of in studies])[:-1],
    )
    return [side * (holm(of) <= ALPHA) for side, of in zip(np.split(sides, ends), np.split(p, ends), strict=True)]


# Rows -----------------------------------------------------------------------------------------------------------------


def of_row(place: tuple[str, int], numbers: range) -> pd.DataFrame:
    """What is said of some studies of a row, a row each."""
    title, number = place
    row = SECTIONS[title][number]
    size = row.law(generator_for("size"), *row.units).a.size
    blocks = np.array_split(numbers, min(len(numbers), 1 + len(numbers) * size // SCORES_AT_ONCE))
    drawn = pd.DataFrame([said for block in blocks for said in of_studies(row, block.tolist())])
    return drawn.assign(section=title, scores=row.name, units=_units(row.units))


SHAPES = {
    "normal": (lambda generator, size: generator.normal(size=size), 0.0),
    "log-normal": (lambda generator, size: np.exp(generator.normal(size=size)), float(np.exp(0.5))),
    "one in ten, else 0": (lambda generator, size: generator.normal(1, 1, size) * (generator.random(size) < 0.1), 0.1),
    "t of 3 degrees": (lambda generator, size: generator.standard_t(3, size=size), 0.0),
}


SIZES = ((24,), (50,), (100,), (50, 50), (100, 30))


def of_means(place: tuple[str, tuple[int, ...]], numbers: range) -> pd.DataFrame:
    """Where the 95 % interval of the mean, of one sample or of two of a shape, is; a row for each of the samples."""
    name, sizes = place
    (draw, truth), generator = SHAPES[name], generator_for("means", name, *sizes, numbers.start)
    sides = [draw(generator, (size, SAMPLES * len(numbers))) for size in sizes]
    if len(sizes) == 1:
        found = mean_limits(sides[0], 1 - ALPHA, 999, generator)
    else:
        strata, truth = [np.zeros(size, dtype=int) for size in sizes], 0.0
        found = difference_limits(*sides, *strata, 1 - ALPHA, 999, generator)
    half = t.isf(ALPHA / 2, found.degrees) * found.error
    with np.errstate(invalid="ignore"):
        columns = {
            "holds": (found.low <= truth) & (truth <= found.high),
            "truth below": found.low > truth,
            "truth above": found.high < truth,
            "Student's holds": np.abs(found.value - truth) <= half,
            "width, of Student's": (found.high - found.low) / (2 * half),
        }
    drawn = pd.DataFrame(columns).astype(float)
    drawn.loc[np.isnan(found.low)] = np.nan
    return drawn.assign(section=MEANS, scores=name, units=_units(sizes), none=np.isnan(found.low))


def _units(sizes: Sequence[int]) -> str:
    return " / ".join(map(str, sizes))


def drawn(studies: int, processes: int, kept: Path) -> pd.DataFrame:
    """So many studies of all rows, a row each.

    They are drawn block by block, the first block of all rows first. A block that is in the folder ``kept`` is not
    drawn again, so that an interruption loses nothing.
    """
    rows = {
        (title, row.name, _units(row.units)): (of_row, (title, number))
        for title, of in SECTIONS.items()
        for number, row in enumerate(of)
    }
    rows |= {(MEANS, name, _units(sizes)): (of_means, (name, sizes)) for name in SHAPES for sizes in SIZES}
    numbers = [range(studies)[start : start + BLOCK] for start in range(0, studies, BLOCK)]
    blocks = {
        kept / f"{_in_files(*name)}_{of.start}_{len(of)}.parquet": (draw, place, of)
        for of in numbers
        for name, (draw, place) in rows.items()
    }
    kept.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes) as pool:
        left = {pool.submit(*job): path for path, job in blocks.items() if not path.is_file()}
        for future in as_completed(left):
            with replacing(left[future]) as temporary:
                future.result().to_parquet(temporary)
            print(left[future], flush=True)
    return pd.concat([pd.read_parquet(path) for path in blocks], ignore_index=True)


def _in_files(*names: str) -> str:
    return re.sub(r"\W+", "_", " ".join(names))


# The page -------------------------------------------------------------------------------------------------------------


def page(drawn: pd.DataFrame, studies: int, old: str) -> str:
    """The page: what people wrote stays, and all tables are written again."""
    parts = [old.split(MARK)[0] + MARK, f"{studies:,} studies a row; made on {machine('numpy', 'scipy')}."]
    for title, of in drawn.groupby("section", sort=False):
        rows = [
            {"scores": name, "units": units} | _summarised(of_row)
            for (name, units), of_row in of.groupby(["scores", "units"], sort=False)
        ]
        table = pd.DataFrame(rows)
        said = f"{SAMPLES * studies:,} samples a row."
        if title != MEANS:
            said = f"{title}: {_summary(table['wrong'].dropna(), studies)}"
            for column in table.columns.intersection(["wrong", "count too large"]):
                table[column] = [_with_limits(share, studies) for share in table[column]]
        parts += [f"## {title}", _markdown(table), said]
    return "\n\n".join(parts) + "\n"


MARK = "<!-- Written by bench/verdicts/simulate.py from here on. -->"


def _summarised(drawn: pd.DataFrame) -> dict[str, float]:
    """The means of a row; of widths, which may be infinite, the median."""
    columns = drawn.drop(columns=["section", "scores", "units", *P_OF_SIDES], errors="ignore").dropna(axis=1, how="all")
    said = {
        name: float(of.median() if name.startswith("width") else of.mean())
        for name, of in columns.astype(float).items()
    }
    if P_OF_SIDES[0] in drawn and drawn[P_OF_SIDES[0]].notna().any():
        said["oracle found"] = _by_oracle(*(drawn[name].to_list() for name in P_OF_SIDES))
    return said


def _by_oracle(of_true: Sequence[np.ndarray], least: Sequence[float]) -> float:
    """What is found with the largest critical value at which .05 of the studies are wrong, which nobody knows.

    Args:
        of_true: of each study the p of the true sides.
        least: the least p of the others.
    """
    critical = np.sort(least)[int(ALPHA * len(least))]
    return float(np.mean([(np.asarray(of_study) < critical).mean() for of_study in of_true if len(of_study)]))


def _markdown(table: pd.DataFrame) -> str:
    return markdown(table.map(_cell))


def _cell(value: object) -> str:
    return value if isinstance(value, str) else "" if pd.isna(value) else f"{value:.3f}"


def _with_limits(share: float, studies: int) -> str:
    if pd.isna(share):
        return ""
    low, high = share_limits(round(share * studies), studies, ALPHA / 2)
    return f"{share:.3f} [{low:.3f}, {high:.3f}]"


def _summary(wrong: pd.Series, studies: int) -> str:
    """How often verdicts of a section are wrong in all, and what its largest row says."""
    counts = (wrong * studies).round().astype(int)
    drawn, most = studies * len(counts), counts.max()
    (low, high), (row_low, row_high) = (share_limits(*of, ALPHA / 2) for of in ((counts.sum(), drawn), (most, studies)))
    chance = 1 - binom.cdf(most - 1, studies, ALPHA) ** len(counts)
    return (
        f"wrong in {counts.sum()} of {drawn:,} studies, {counts.sum() / drawn:.3f} [{low:.3f}, {high:.3f}]. "
        f"Largest row: {most / studies:.3f} [{row_low:.3f}, {row_high:.3f}]. If each of {len(counts)} rows were wrong "
        f"with a chance of {ALPHA:g}, the largest would be so large with a chance of {chance:.2g}."
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--studies", type=int, default=1000, help="of each row")
    parser.add_argument("--quick", action="store_true", help="three studies of each row: does all of it work?")
    parser.add_argument("--processes", type=int, default=1, help="that work side by side")
    parser.add_argument("--kept", type=Path, required=True, metavar="FOLDER", help="of studies that are drawn already")
    parser.add_argument("--page", type=Path, required=True, metavar="FILE", help="whose tables are written anew")
    arguments = parser.parse_args()
    studies = 3 if arguments.quick else arguments.studies
    with TemporaryDirectory() as folder:
        rows = drawn(studies, arguments.processes, Path(folder) if arguments.quick else arguments.kept)
    text = page(rows, studies, arguments.page.read_text(encoding="utf-8"))
    with replacing(arguments.page) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
