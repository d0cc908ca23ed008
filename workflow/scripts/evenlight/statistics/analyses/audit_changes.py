"""What has changed since the last audit: the wins of texts that it did not judge, beside the wins that it filed.

A text that both audits judged says nothing new, and neither does what shares a cluster with it. So these are left out
here, and both samples are independent. Rules import this module, so that it waits for no library of statistics.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import AUDIT_CHANGES, EFFECTS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.errors import InputError
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, Judged
from evenlight.statistics.comparisons.cells import CELL
from evenlight.statistics.comparisons.compared import read_compared
from evenlight.statistics.comparisons.files import items_path
from evenlight.statistics.comparisons.study import (
    CONTROL,
    LEAST_TEXTS,
    UNDECIDABLE,
    UNDECIDED,
    StudyScores,
    VerdictSettings,
)
from evenlight.statistics.comparisons.wins import ALONE, counted_wins
from evenlight.texts.items import text_keys

# So much of a digest is written down: equal digests of other texts are less likely than one in a million studies.
DIGITS = 16
COUNTS = ["wins", "losses", "ties", "share"]
# What an audit says of a cell that the next one reads, and what the new texts say of it.
_FILED = [*COUNTS, "verdict", "unit", "units_a", "units_b", "margin", "low", "high"]
_NEW = [name for name in _FILED if name != "verdict"]
# Margins that differ by less are one; what is rounding, beside it, differs from study to study.
SAME_MARGIN = 1e-6


def text_digests(folder: Path, dataset: str) -> pd.DataFrame:
    """``item_id``, ``cluster`` and ``digest`` of all texts of a dataset; ``folder`` has the datasets."""
    return digests_of(tables.read_table(items_path(folder, dataset), ITEMS.only("item_id", "cluster", "words", "part")))


def digests_of(items: pd.DataFrame) -> pd.DataFrame:
    """``item_id``, ``cluster`` and ``digest`` of ``items``: equal texts have equal digests."""
    written = [json.dumps(key).encode() for key in text_keys(items)]
    digests = [hashlib.sha256(text).hexdigest()[:DIGITS] for text in written]
    return items[["item_id", "cluster"]].assign(digest=digests)


def known_clusters(texts: pd.DataFrame, known: Collection[str]) -> set:
    """The clusters of ``texts``, as :func:`digests_of` gives them, that have a text with a known digest."""
    return set(texts["cluster"][texts["digest"].isin(known)])


@dataclass(frozen=True)
class Filed:
    """What the next audit reads of a filed one.

    Attributes:
        comparisons: a row each, with the columns of ``CELL`` and what was found.
        texts: of each dataset the digests of the texts that were judged.
        confidence: of the limits.
        about: what else is said of it: ``study``, ``frame`` and ``audited``.
    """

    comparisons: pd.DataFrame
    texts: Mapping[str, Collection[str]]
    confidence: float
    about: Mapping[str, Any]


def read_filed(path: Path) -> Filed:
    """A filed audit, from its ``audit.json``.

    Raises:
        InputError: it cannot be read, or does not say what the next audit needs.
    """
    here = f"audit.baseline: {path}"
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{here}: cannot be read as JSON ({error}); name the audit.json of an earlier audit") from None
    keys = ("study", "comparisons", "judged", "texts", "frame", "audited")
    missing = [key for key in keys if key not in told] if isinstance(told, dict) else keys
    if missing:
        raise InputError(
            f"{here}: has no key {', '.join(missing)}; name the audit.json of an audit by this version of Evenlight "
            "(where its study is still there, snakemake audit writes the file again)"
        )
    if not told["texts"]:
        raise InputError(
            f"{here}: lists no texts, so it is not known which are new; an audit lists digests of its texts where they "
            "may be shown (page.texts, and show_texts of each dataset)"
        )
    comparisons = pd.DataFrame(told["comparisons"])
    if lacking := {*CELL, *_FILED}.difference(comparisons):
        raise InputError(f"{here}: comparisons: no {', '.join(sorted(lacking))}; put back the file as it was written")
    texts = {name: frozenset(digests) for name, digests in told["texts"].items()}
    about = {key: told[key] for key in ("study", "frame", "audited")}
    return Filed(comparisons[[*CELL, *_FILED]], texts, told["judged"]["confidence"], about)


def new_wins(study: StudyScores, judging: VerdictSettings, known: Mapping[str, Collection[str]]) -> pd.DataFrame:
    """The wins of all comparisons of a study among texts that are in no cluster with a known one.

    Args:
        study, judging: as of its effects.
        known: digests of texts by dataset, as :func:`text_digests` makes them.
    """
    rows = []
    for source in study.sources().values():
        clusters = {}
        for model in read_compared(source):
            if model.dataset not in clusters:
                texts = text_digests(source.folders["units"], model.dataset)
                clusters[model.dataset] = known_clusters(texts, known.get(model.dataset, ()))
            new = ~model.items["cluster"].isin(clusters[model.dataset]).to_numpy()
            parts = counted_wins((scores.of_items(new) for scores in model.explainers), model.designs, judging)
            rows += [part.rows[[*CELL, *_NEW]] for part in parts]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=[*CELL, *_NEW])


def audit_changes(effects: pd.DataFrame, new: pd.DataFrame, filed: Filed, judging: VerdictSettings) -> pd.DataFrame:
    """Whether the share of wins has changed, rows of :data:`AUDIT_CHANGES`.

    Each family has the level to itself, by Holm's method over both sides of the comparisons that both audits have.

    Args:
        effects: of this audit, rows of ``EFFECTS``.
        new: the wins of its new texts, as :func:`new_wins` gives them.
        filed: the last audit.
        judging: the level, the confidence of the limits of ``new``, and the margins (``smallest_effects``).
    """
    asked = effects.loc[effects["family"] != CONTROL, [*CELL, "family", "verdict"]]
    table = asked.merge(new, on=CELL, how="left").merge(
        pd.concat([filed.comparisons, _mirrored(filed.comparisons)]), on=CELL, how="left", suffixes=("", "_before")
    )
    counts = [f"{name}{when}" for name in ("wins", "losses", "ties", "units_a", "units_b") for when in ("", "_before")]
    table[counts] = table[counts].astype("Int64")
    table = table.assign(p=np.nan, p_adjusted=np.nan, side=0, level=judging.alpha, reason=None)
    for _, of_family in table[table["verdict_before"].notna()].groupby("family", sort=False):
        found = _tested(of_family, judging, filed.confidence)
        table.loc[of_family.index, found.columns] = found
    table.loc[table["verdict_before"].isna(), "reason"] = "the last audit does not have it"
    named = np.where(table["side"] > 0, table["level_a"], table["level_b"])
    open_ = np.where(table["reason"].isna(), UNDECIDED, UNDECIDABLE)
    table["change"] = np.where(table["side"] == 0, open_, "more for " + pd.Series(named, table.index))
    return table[AUDIT_CHANGES.schema.names]


def _mirrored(comparisons: pd.DataFrame) -> pd.DataFrame:
    """The same comparisons with their levels in the other order."""
    exchanged = {"level_a": "level_b", "wins": "losses", "units_a": "units_b"}
    other = comparisons.rename(columns=exchanged | {new: old for old, new in exchanged.items()})
    low, high = (1 - other[name].astype(float) for name in ("high", "low"))
    return other.assign(share=1 - other["share"].astype(float), low=low, high=high)


def _tested(table: pd.DataFrame, judging: VerdictSettings, confidence_before: float) -> pd.DataFrame:
    """p, adjusted p, side and reason of comparisons of one family, which both audits have."""
    from evenlight.statistics.arrays.change import change_p, effect_change_p, ratio_of_limits
    from evenlight.statistics.arrays.exact_tests import two_sided
    from evenlight.statistics.arrays.multiple_testing import sides_adjusted

    reasons = [_why_undecidable(row, len(table), judging) for row in table.itertuples(index=False)]
    tested = np.array([reason is None for reason in reasons])
    texts = table["unit"].isin(ALONE).to_numpy()
    p_sides = np.ones((2, len(table)))
    if (pairs := tested & ~texts).any():
        names = ("wins_before", "losses_before", "wins", "losses")
        p_sides[:, pairs] = change_p(*(table.loc[pairs, name].to_numpy(int) for name in names))
    if (ranks := tested & texts).any():
        shares, ratios = [], []
        for when, of in (("_before", confidence_before), ("", judging.confidence)):
            share, low, high = (table.loc[ranks, f"{name}{when}"].to_numpy(float) for name in ("share", "low", "high"))
            shares.append(share)
            ratios.append(ratio_of_limits(share, low, high, (1 - of) / 2))
        p_sides[:, ranks] = effect_change_p(shares[0], ratios[0], shares[1], ratios[1])
    adjusted = sides_adjusted(p_sides)
    side = np.where(adjusted <= judging.alpha, np.where(p_sides[0] <= p_sides[1], 1, -1), 0)
    found = {"p": two_sided(p_sides), "p_adjusted": adjusted, "side": side, "reason": reasons}
    return pd.DataFrame(found, index=table.index)


def _why_undecidable(row: Any, size: int, judging: VerdictSettings) -> str | None:
    """Why no change of a comparison among so many could be found, or None."""
    from evenlight.statistics.arrays.change import least_change_p

    if pd.isna(row.unit):
        return "no text with a score is new"
    if (row.unit in ALONE) != (row.unit_before in ALONE):
        return f"{row.unit} now, {row.unit_before} then"
    if row.unit in ALONE:
        fewest = min(row.units_a, row.units_b, row.units_a_before, row.units_b_before)
        return f"{fewest} texts of a group are fewer than {LEAST_TEXTS}" if fewest < LEAST_TEXTS else None
    rounding = row.margin - judging.smallest_effects.get(row.metric, 0.0)
    if abs(row.margin - row.margin_before) > max(SAME_MARGIN, rounding):
        return f"a tie is within {row.margin:.3g} now, and was within {row.margin_before:.3g}"
    before, now = row.wins_before + row.losses_before, row.wins + row.losses
    if 2 * size * least_change_p(before, now) > judging.alpha:
        return f"{before} decided {row.unit} then and {now} new ones are too few among {size} comparisons"
    return None


class CompareAudits(Judged):
    """Whether groups win more or less often than at the last audit, by texts that it did not judge."""

    tables: ClassVar[Mapping[str, Contract]] = {"audit_changes": AUDIT_CHANGES}
    reads: ClassVar[Mapping[str, Contract]] = {"effects": EFFECTS}
    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    folders: ClassVar[Sequence[str]] = (*Judged.folders, "baseline")
    minutes: ClassVar[int] = 60

    result: Literal["compare_audits"]
    baseline: str

    @classmethod
    def is_made(cls, study) -> bool:
        """Where the configuration names the last audit."""
        return super().is_made(study) and study.config["audit"]["baseline"] is not None

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """As of verdicts, and the name of the file."""
        return super().asked(study) | {"baseline": Path(study.config["audit"]["baseline"]).name}

    def compute(self, inputs: Inputs) -> Computed:
        """A row per comparison that is a hypothesis."""
        filed = read_filed(inputs.folders["baseline"] / self.baseline)
        new = new_wins(inputs.located(self.study), self.judging, filed.texts)
        found = audit_changes(inputs.tables[0], new, filed, self.judging)
        return Computed([found], said=[found["change"].value_counts().to_string()], about={"last": _of_last(filed)})


def _of_last(filed: Filed) -> dict[str, Any]:
    """What the page says of the last audit."""
    frame = {row["field"]: row["value"] for row in filed.about["frame"]}
    models = {model["name"]: [of["from"] for of in model["origins"]] for model in filed.about["audited"]["models"]}
    return {"study": filed.about["study"], "date": frame.get("date"), "models": models}
