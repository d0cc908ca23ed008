"""What a policy makes of verdicts: passed, a disparity that matters, or open; for continuous integration.

An open comparison never counts as one in which a disparity is ruled out.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import EFFECTS
from evenlight.core.errors import InputError, suggestion
from evenlight.core.files import read_yaml
from evenlight.reports.verdict_words import SCORED, capitalised, won
from evenlight.statistics.arrays.exact_tests import as_often_p
from evenlight.statistics.arrays.multiple_testing import holm
from evenlight.statistics.comparisons.cells import CELL
from evenlight.statistics.comparisons.study import ALL, AS_OFTEN, CONTROL
from evenlight.statistics.comparisons.wins import ALONE

# What becomes of a comparison, in the order in which they are told.
OUTCOMES = ("disparity", "open", "open, allowed", "excepted", "passed")
DISPARITY, OPEN, ALLOWED, EXCEPTED, PASSED = OUTCOMES
# The status of the command: all that must be decided is, and passes; a disparity; something is open that must not be.
STATUS = {PASSED: 0, DISPARITY: 1, OPEN: 2}
NAMES = ("dataset", "model", "explainer", "metric")
LEVELS = ("level_a", "level_b")
# The columns of verdicts that it reads.
COMPARED = [*CELL, "family", "verdict", "side", "reason", "unit", "units_a", "units_b", "wins", "losses", "ties"]
COMPARED += ["share", "family_low", "family_high", "net_benefit", "p_adjusted", "level"]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What is asked of verdicts.

    Attributes:
        bound: the largest net benefit, P(win) − P(loss), that does not matter. A verdict that names a group is a
            disparity where its surplus of wins is larger, and what passes is shown to be within the bound. None takes
            the verdicts as they are: a named group is a disparity, and *as often* passes.
        groups: pairs of groups that are looked at; all where there are none.
        datasets, models, explainers, metrics: the same of names.
        smallest_units: with fewer pairs, or texts of a group, a comparison does not pass.
        decide: which comparisons must not stay open, each by names with ``/`` between them; ``all``, or none.
        excepted: which comparisons are not looked at, in the same way.
        places: where each of these was said, by its name: a file and its key, or a flag.
    """

    bound: float | None = None
    groups: tuple[tuple[str, str], ...] = ()
    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    explainers: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    smallest_units: int = 0
    decide: tuple[str, ...] = (ALL,)
    excepted: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)

    def place(self, name: str) -> str:
        """Where something was said."""
        return self.places.get(name, _key(name))


# What a file of a policy may say.
KEYS = [each.name for each in fields(Policy) if each.name != "places"]


def _key(name: str) -> str:
    """What a file and a flag call a part of a policy."""
    return "except" if name == "excepted" else name


def read_policy(path: Path | None, **changed: Any) -> Policy:
    """The policy of a YAML file, whose keys are those of :class:`Policy` (``except`` for ``excepted``).

    Raises:
        InputError: a key is unknown, or a value is not of its kind.
    """
    said = (read_yaml(path, "write a policy, or leave --policy out") or {}) if path else {}
    if not isinstance(said, Mapping):
        raise InputError(f"{path}: found {type(said).__name__}; write keys and values, such as `bound: 0.1`")
    known = {_key(name): name for name in KEYS}
    for key in said:
        if key not in known:
            raise InputError(f"{path}: unknown key '{key}'; a policy has {', '.join(known)}{suggestion(key, known)}")
    said = {known[key]: value for key, value in said.items()}
    places = {name: f"{path}: {_key(name)}" for name in said}
    flags = {name: value for name, value in changed.items() if value is not None}
    places |= {name: f"--{_key(name)}" for name in flags}
    values = {name: _of_kind(places[name], name, value) for name, value in (said | flags).items()}
    return Policy(**values, places=places)


def _of_kind(place: str, name: str, value: Any) -> Any:
    """The value of a key as a policy has it; ``place`` is where it was said."""
    if name == "bound":
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            raise InputError(f"{place}: found {value!r}; give a number between 0 and 1, such as 0.2")
        return float(value)
    if name == "smallest_units":
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"{place}: found {value!r}; give a whole number, such as 100")
        return value
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple):
        raise InputError(f"{place}: found {value!r}; give a list")
    if name != "groups":
        return tuple(map(str, listed))
    pairs = [tuple(map(str, pair)) if isinstance(pair, list | tuple) else (str(pair),) for pair in listed]
    for pair in pairs:
        if len(pair) != 2:
            raise InputError(f"{place}: found {list(pair)}; give pairs, such as [[male, female]]")
    return tuple(pairs)


def read_verdicts(path: Path) -> pd.DataFrame:
    """The comparisons of a table of effects (Parquet, or CSV as ``evenlight judge --csv`` writes it), or of an audit.

    Raises:
        InputError: it is none of these.
    """
    if path.suffix == ".parquet":
        table = tables.read_exactly(path, EFFECTS)
    elif path.suffix in (".json", ".csv"):
        table = _read_text(path)
    else:
        raise InputError(f"{path}: found no .parquet, .csv or .json; give a table of verdicts, or audit.json")
    table = table[table["family"] != CONTROL].reset_index(drop=True)
    if table.empty:
        raise InputError(f"{path}: has no comparison that is a question; judge scores of two groups first")
    return table


def _read_text(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".csv":
            names = dict.fromkeys((*NAMES, *LEVELS), str)
            table = pd.read_csv(path, dtype=names, keep_default_na=False, na_values=[""])
        else:
            table = pd.DataFrame(json.loads(path.read_text(encoding="utf-8"))["comparisons"], columns=COMPARED)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; make it by a study, or by evenlight judge --csv") from None
    except (KeyError, TypeError):
        raise InputError(f"{path}: has no comparisons; make the audit again by this version of Evenlight") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); make it again") from None
    for name in COMPARED:
        if name not in table:
            raise InputError(f"{path}: has no column '{name}'; give a table of verdicts, or audit.json")
    return table


def assess(verdicts: pd.DataFrame, policy: Policy) -> pd.DataFrame:
    """The comparisons that a policy looks at, with ``outcome`` and ``why``, those that matter most first.

    Raises:
        InputError: the policy names what is not there, or nothing is left to look at.
    """
    for name in NAMES:
        _require(policy.place(f"{name}s"), getattr(policy, f"{name}s"), verdicts[name].unique())
    pairs = list(dict.fromkeys(zip(verdicts["level_a"], verdicts["level_b"], strict=True)))
    for pair in policy.groups:
        if pair not in pairs and pair[::-1] not in pairs:
            there = "; ".join(", ".join(each) for each in pairs)
            place = policy.place("groups")
            raise InputError(f"{place}: found {', '.join(pair)}, which nobody compared; name what was: {there}")
    known = {name for column in (*NAMES, *LEVELS) for name in verdicts[column]} | {ALL}
    for name in ("decide", "excepted"):
        for pattern in getattr(policy, name):
            _require(policy.place(name), pattern.split("/"), known)
    chosen = verdicts[[_is_chosen(row, policy) for row in _rows(verdicts)]]
    if chosen.empty:
        said = [policy.place(name) for name in ("groups", *(f"{name}s" for name in NAMES)) if getattr(policy, name)]
        raise InputError(f"{', '.join(said)}: no comparison has all of these together; name such as have")
    found = [_outcome(row, within, policy) for row, within in zip(_rows(chosen), _within(chosen, policy), strict=True)]
    table = chosen.assign(outcome=[outcome for outcome, _ in found], why=[why for _, why in found])
    return table.sort_values("outcome", key=lambda outcomes: outcomes.map(OUTCOMES.index), kind="stable")


def _is_chosen(row: Mapping, policy: Policy) -> bool:
    """Whether a policy looks at a comparison."""
    named = all(not (of := getattr(policy, f"{name}s")) or row[name] in of for name in NAMES)
    wanted = {frozenset(pair) for pair in policy.groups}
    return named and (not wanted or frozenset((row["level_a"], row["level_b"])) in wanted)


def _within(table: pd.DataFrame, policy: Policy) -> np.ndarray:
    """Of which comparisons a disparity beyond the bound is ruled out, all at the level of the study together."""
    if policy.bound is None:
        return (table["verdict"] == AS_OFTEN).to_numpy()
    texts = table["unit"].isin(ALONE).to_numpy()
    wins, losses, ties = (table[name].fillna(0).to_numpy(float) for name in ("wins", "losses", "ties"))
    p = np.where(texts, 1.0, as_often_p(wins, losses, wins + losses + ties, policy.bound))
    # The limits of the relative effect hold for the whole family; of pairs they are those of decided ones.
    low, high = (2 * table[name].to_numpy(float) - 1 for name in ("family_low", "family_high"))
    return np.where(texts, (low >= -policy.bound) & (high <= policy.bound), holm(p) <= table["level"].to_numpy(float))


def _rows(table: pd.DataFrame) -> list[dict]:
    return table.to_dict("records")


def _require(place: str, names: Sequence[str], there: Sequence[str]) -> None:
    for name in names:
        if name not in set(there):
            listed = f"{', '.join(sorted(map(str, there)))}{suggestion(name, there)}"
            raise InputError(f"{place}: found '{name}', which no comparison has; name what is there: {listed}")


def _matches(row: Mapping, patterns: Sequence[str]) -> bool:
    """Whether a comparison has all names of a pattern."""
    names = {row[column] for column in (*NAMES, *LEVELS)} | {ALL}
    return any(set(pattern.split("/")) <= names for pattern in patterns)


def _outcome(row: Mapping, within: bool, policy: Policy) -> tuple[str, str]:
    """What becomes of a comparison, and why; ``within`` says that a disparity beyond the bound is ruled out."""
    if _matches(row, policy.excepted):
        return EXCEPTED, f"the policy leaves it out; its verdict is “{row['verdict']}”"
    still_open = OPEN if _matches(row, policy.decide) else ALLOWED
    counts = (row[name] for name in ("wins", "losses", "ties", "share"))
    said = capitalised(won((row["level_a"], row["level_b"]), *counts, row["unit"], SCORED))
    if row["side"] and (policy.bound is None or abs(row["net_benefit"]) > policy.bound):
        return DISPARITY, f"{said} (adjusted p {row['p_adjusted']:.2g})"
    units = int(min(row["units_a"], row["units_b"]))
    if units < policy.smallest_units:
        return still_open, f"{units:,} {row['unit']} are fewer than the policy asks for ({policy.smallest_units:,})"
    if within:
        return PASSED, f"{said}; the verdict is “{row['verdict']}”"
    if row["side"] or row["verdict"] == AS_OFTEN:
        return still_open, f"{said}; that the surplus is within {policy.bound:g} is not shown"
    reason = f": {row['reason']}" if isinstance(row["reason"], str) and row["reason"] else ""
    return still_open, f"{row['verdict']}{reason}"


def status_of(assessed: pd.DataFrame) -> int:
    """The exit status: 1 where a disparity matters, else 2 where something is open that must not be, else 0."""
    outcomes = set(assessed["outcome"])
    return next((STATUS[outcome] for outcome in (DISPARITY, OPEN) if outcome in outcomes), STATUS[PASSED])


def counted(assessed: pd.DataFrame) -> str:
    """How many comparisons there are of each outcome, in a line."""
    counts = assessed["outcome"].value_counts()
    told = [f"{counts.get(outcome, 0):,} {outcome}" for outcome in OUTCOMES]
    return f"{len(assessed):,} comparisons: {'; '.join(told)}"


def name_of(row: Mapping) -> str:
    """What a comparison is called.

    >>> row = {"dataset": "all", "model": "bert", "explainer": "all", "metric": "f1", "level_a": "m", "level_b": "f"}
    >>> name_of(row)
    'bert/f1 (m, f)'
    """
    return f"{'/'.join(row[name] for name in NAMES if row[name] != ALL)} ({row['level_a']}, {row['level_b']})"


def junit(assessed: pd.DataFrame) -> str:
    """A report that forges show: a disparity is a failure, what must be decided an error, and what is open skipped."""
    counts = assessed["outcome"].value_counts()
    of_suite = {"tests": len(assessed), "failures": counts.get(DISPARITY, 0), "errors": counts.get(OPEN, 0)}
    of_suite["skipped"] = counts.get(ALLOWED, 0) + counts.get(EXCEPTED, 0)
    suite = ElementTree.Element("testsuite", name="evenlight", **{name: str(count) for name, count in of_suite.items()})
    kinds = {DISPARITY: "failure", OPEN: "error", ALLOWED: "skipped", EXCEPTED: "skipped"}
    for row in _rows(assessed):
        named = {"classname": ".".join(["evenlight", *[row["model"]] * (row["model"] != ALL)]), "name": name_of(row)}
        case = ElementTree.SubElement(suite, "testcase", {key: _printed(name) for key, name in named.items()})
        if row["outcome"] in kinds:
            ElementTree.SubElement(case, kinds[row["outcome"]], message=_printed(row["why"]))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _printed(text: str) -> str:
    """Text without signs that XML cannot hold."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


# Comparisons that a summary has in its table.
MOST = 50


def markdown(assessed: pd.DataFrame) -> str:
    """The same as a summary in Markdown: the counts, and what did not pass."""
    status = status_of(assessed)
    heading = {0: "No disparity that matters was found", 1: "A disparity matters", 2: "Not decided"}[status]
    lines = [f"## Verdicts: {heading}", "", f"{counted(assessed)}.", ""]
    shown = assessed[assessed["outcome"] != PASSED]
    if len(shown):
        lines += ["| outcome | comparison | why |", "| --- | --- | --- |"]
        lines += [
            f"| {row['outcome']} | {_plain(name_of(row))} | {_plain(row['why'])} |" for row in _rows(shown.head(MOST))
        ]
    if len(shown) > MOST:
        lines += ["", f"{len(shown) - MOST:,} more are not shown."]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Text that is no markup in a table."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").split())
