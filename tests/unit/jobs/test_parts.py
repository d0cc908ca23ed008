"""Rows that are there are taken over, others are computed, and no row is lost or taken for another."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenlight.core.contracts.explanations import SCORES
from evenlight.core.errors import InputError
from evenlight.core.tables import count_row_groups, read_arrow, read_metadata, read_table, write_table
from evenlight.jobs import parts
from evenlight.jobs.parts import DIGEST, digest_of, find_rows, make_rows, write_part

SIZE = 2


class Killed(BaseException):
    """As if the job had been killed here."""


class Work:
    """A job whose tables say of each text its value, and which remembers what it has computed."""

    def __init__(self, folder: Path, names: str = "a"):
        self.paths = [folder / f"{name}.parquet" for name in names]
        self.computed: list[tuple[str, str]] = []
        self.killed_after: int | None = None
        self.described: dict = {"described": True}

    def run(self, texts: dict[str, float]) -> "Work":
        """Make the tables of some texts, which are given with their values."""
        items = list(texts)

        def made_of(names):
            digests = {name: [digest_of(name, item, value) for item, value in texts.items()] for name in names}
            return {name: np.array(of_rows, DIGEST) for name, of_rows in digests.items()}

        def compute(missing):
            for names, wanted in missing.together():
                numbers = np.flatnonzero(wanted)
                for start in range(0, len(numbers), SIZE):
                    if self.killed_after is not None and len(self.computed) >= self.killed_after:
                        raise Killed
                    some = numbers[start : start + SIZE]
                    chosen = [items[number] for number in some]
                    self.computed += [(name, item) for item in chosen for name in names]
                    table = pa.table({"item_id": chosen, "value": [texts[item] for item in chosen]})
                    write_part(missing, some, dict.fromkeys(names, table), {name: {"kept": chosen} for name in names})

        make_rows(self.paths, SCORES, "work", SIZE, made_of, compute, lambda *_: self.described)
        return self

    def found(self, number: int = 0) -> dict[str, float]:
        """What a table says."""
        table = read_table(self.paths[number], SCORES)
        return dict(zip(table["item_id"], table["value"], strict=True))


TEXTS = {f"text{number}": float(number) for number in range(7)}
FEWER = {name: TEXTS[name] for name in ("text5", "text0", "text2")}


def first_run(folder: Path, texts: dict = TEXTS, names: str = "a") -> Path:
    Work(folder, names).run(texts)
    return folder / "a.parquet"


@pytest.mark.parametrize(
    ("texts", "computed"),
    [
        (TEXTS | {"new": 9.0, "newer": 10.0}, {"new", "newer"}),
        ({"new": 9.0} | TEXTS, {"new"}),
        (FEWER, set()),
        (dict(reversed(TEXTS.items())), set()),
        (TEXTS | {"text3": 33.0}, {"text3"}),
        ({"text3": 3.0, "text1": 11.0, "new": 0.0}, {"text1", "new"}),
        # As another text was.
        ({"text3": 4.0}, {"text3"}),
    ],
    ids=["more", "more before", "fewer", "other order", "corrected", "all at once", "value of another"],
)
def test_only_what_is_new_is_computed(tmp_path, texts, computed):
    first_run(tmp_path)
    work = Work(tmp_path).run(texts)
    assert {item for _, item in work.computed} == computed
    assert list(work.found().items()) == list(texts.items())
    assert read_metadata(work.paths[0], SCORES)["described"]
    assert count_row_groups(work.paths[0], SCORES) == -(-len(texts) // SIZE)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_a_file_that_grew_is_that_of_one_run(tmp_path):
    (tmp_path / "grown").mkdir()
    first_run(tmp_path / "grown", FEWER)
    Work(tmp_path / "grown").run(TEXTS)
    grown, at_once = first_run(tmp_path / "grown"), first_run(tmp_path)
    assert grown.read_bytes() == at_once.read_bytes()


def test_a_file_with_all_its_rows_is_left_alone(tmp_path):
    path = first_run(tmp_path)
    before = path.stat().st_ino, path.stat().st_mtime_ns
    assert not Work(tmp_path).run(TEXTS).computed
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == before


def test_a_file_says_what_it_would_say_now(tmp_path):
    """Also where no row of it is another."""
    path = first_run(tmp_path)
    work = Work(tmp_path)
    work.described = {"described": "in other words"}
    assert not work.run(TEXTS).computed
    assert read_metadata(path, SCORES) == work.described
    assert work.found() == TEXTS


def test_tables_that_lack_the_same_rows_are_computed_together(tmp_path):
    first_run(tmp_path, FEWER)
    work = Work(tmp_path, "ab").run(TEXTS)
    # The first text is in the first table only, the second in none.
    assert work.computed[:2] == [("b", "text0"), ("b", "text2")]
    assert work.computed[3:7] == [("a", "text1"), ("b", "text1"), ("a", "text3"), ("b", "text3")]
    assert work.found(0) == work.found(1) == TEXTS


def test_nothing_is_lost_when_a_job_is_killed(tmp_path):
    """Neither what was there nor what it has done, whatever is asked for the next time."""
    before = first_run(tmp_path, FEWER).read_bytes()
    work = Work(tmp_path)
    work.killed_after = 2
    with pytest.raises(Killed):
        work.run(TEXTS)
    assert (tmp_path / "a.parquet").read_bytes() == before
    work.killed_after = None
    work.run(TEXTS | {"new": 9.0})
    assert [item for _, item in work.computed] == ["text1", "text3", "text4", "text6", "new"]
    assert work.found() == TEXTS | {"new": 9.0}


def test_parts_of_something_else_go_at_once(tmp_path):
    work = Work(tmp_path)
    work.killed_after = 2
    with pytest.raises(Killed):
        work.run(TEXTS)
    [stale] = tmp_path.glob(".work.parts/*")
    work.killed_after = 2
    with pytest.raises(Killed):
        work.run({"other": 1.0})
    assert not stale.exists()


@pytest.mark.parametrize("row", [0, 2])
def test_rows_that_were_edited_are_computed_again(tmp_path, capsys, row):
    path = first_run(tmp_path)
    table, about = read_table(path, SCORES), read_metadata(path, SCORES)
    table.loc[row, "value"] = 99.0
    write_table(table, path, SCORES, about)
    work = Work(tmp_path).run(TEXTS)
    assert work.computed == [("a", f"text{row}")]
    assert work.found() == TEXTS
    said = capsys.readouterr().out
    assert f"{path}: 1 rows" in said
    assert "a: 6 of 7 rows" in said


def test_rows_that_swapped_their_places_are_no_others(tmp_path):
    """Sorted by hand, a table has the same rows; with a column sorted alone, it has none."""
    path = first_run(tmp_path)
    table, about = read_table(path, SCORES), read_metadata(path, SCORES)
    write_table(table.iloc[::-1], path, SCORES, about)
    assert Work(tmp_path).run(TEXTS).computed == []
    write_table(table.assign(made_of=table["made_of"].to_numpy()[::-1]), path, SCORES, about)
    work = Work(tmp_path).run(TEXTS)
    # That in the middle stays where it was.
    assert {item for _, item in work.computed} == TEXTS.keys() - {"text3"}
    assert work.found() == TEXTS


@pytest.mark.parametrize("damage", ["cut off", "no table", "damaged", "older version", "other columns"])
def test_a_file_that_cannot_be_used_is_computed_again(tmp_path, capsys, damage):
    path = first_run(tmp_path)
    content = path.read_bytes()
    match damage:
        case "cut off":
            path.write_bytes(content[:-30])
        case "no table":
            path.write_text("no table")
        case "damaged":
            column = pq.ParquetFile(path).metadata.row_group(2).column(0)
            start = column.dictionary_page_offset
            path.write_bytes(content[:start] + bytes(20) + content[start + 20 :])
        case "older version":
            write_table(read_table(path, SCORES)[["item_id", "value"]], path, SCORES)
        case "other columns":
            write_table(read_table(path, SCORES).assign(other=1.0), path, SCORES)
    work = Work(tmp_path).run(TEXTS)
    kept = 4 if damage == "damaged" else 0
    assert [item for _, item in work.computed] == list(TEXTS)[kept:]
    assert work.found() == TEXTS
    said = re.findall(rf"^nothing more is taken over of this file: {path}: .+", capsys.readouterr().out, re.MULTILINE)
    assert len(said) == (damage in ("cut off", "no table", "damaged"))


def test_a_file_that_is_replaced_while_it_is_read_is_refused(tmp_path):
    """By a job that outlived its killed workflow."""
    path = first_run(tmp_path)
    table = read_arrow(path, SCORES)
    rows = find_rows(np.array(table["made_of"].to_pylist(), DIGEST), [path], SCORES)
    assert not rows.missing.any()
    write_table(table.take([1, 0, 2, 3, 4, 5, 6]), path, SCORES)
    with pytest.raises(InputError, match=r"changed while.*read"):
        list(rows.tables(SIZE))


def test_parts_that_vanish_each_time_are_told(tmp_path, monkeypatch):
    write = parts.write_table

    def write_and_remove(table, path, *rest):
        write(table, path, *rest)
        path.unlink()

    monkeypatch.setattr(parts, "write_table", write_and_remove)
    with pytest.raises(InputError, match=r"\.work\.parts:.*gone"):
        Work(tmp_path).run(TEXTS)


def test_a_digest_tells_all_that_a_row_says():
    table = pd.DataFrame({"text": ["a", "b", "a"], "scores": [[1.0, 2.0], [1.0, 2.0], [1.0, float("nan")]]})
    digests = parts.digests_of(pa.Table.from_pandas(table))
    assert len(set(digests)) == 3
    assert all(re.fullmatch(r"[0-9a-f]{32}", digest) for digest in digests)
    renamed = parts.digests_of(pa.Table.from_pandas(table.rename(columns={"text": "words"})))
    assert set(renamed).isdisjoint(digests)
    # Not how it lies in memory.
    sliced = pa.concat_tables([pa.Table.from_pandas(table)] * 2).slice(1, 3)
    assert parts.digests_of(sliced) == [digests[1], digests[2], digests[0]]


@pytest.mark.parametrize("at_once", [parts.AT_ONCE, 1])
def test_rows_in_another_order_are_read_once_where_they_fit_into_memory(tmp_path, monkeypatch, at_once):
    """And not a block for every few of them; where they do not fit, some at a time."""
    monkeypatch.setattr(sys.modules[__name__], "SIZE", 10)
    texts = {f"text{number}": float(number) for number in range(100)}
    path, read = first_run(tmp_path, texts), []

    def reading(path, contract, number, of=parts.read_row_group):
        read.append(number)
        return of(path, contract, number)

    monkeypatch.setattr(parts, "read_row_group", reading)
    monkeypatch.setattr(parts, "AT_ONCE", at_once)
    order = np.random.default_rng(0).permutation(list(texts)).tolist()
    work = Work(tmp_path).run({item: texts[item] for item in order})
    assert not work.computed
    assert list(work.found().items()) == [(item, texts[item]) for item in order]
    assert count_row_groups(path, SCORES) == 10
    # Once to see which rows are there, and once to take them; one shows how large rows are.
    assert (len(read) <= 2 * 10 + 1) == (at_once > 1)
    read.clear()
    # Rows in order need no more memory than those that are given at once.
    Work(tmp_path).run({item: texts[item] for item in order[::-1]})
    assert len(read) <= 2 * 10 + 1
