"""Archives of studies: the same bytes from the same files, and nothing believed of one that comes from elsewhere."""

import hashlib
import os
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from evenlight.core.errors import InputError
from evenlight.datasets import released
from evenlight.jobs import archive
from evenlight.jobs.provenance import Record

CONFIGURATION = "results/demo/study.yaml"
FILES = {
    "results/demo/tables/effects.csv": b"cell,effect\n1,0.5\n",
    "results/demo/figures/scores/gini.svg": b"<svg/>",
    "results/demo/models/minilm/model.safetensors": bytes(range(256)) * 40,
    "logs/demo/train.log": b"training\n",
    "benchmarks/demo/train.tsv": b"s\n1\n",
}
TEXTS = {CONFIGURATION: "study: demo\n", archive.CRATE: "{}\n", archive.RECORDS: "{}\n"}
# Not the study's: another study, hidden parts, what is downloaded, and what an unpacked archive says of itself.
OTHERS = (
    "results/other/tables/effects.csv",
    "results/demo/models/.minilm.checkpoint/1.pt",
    "results/sources/geco/train.jsonl",
    "results/demo/archive/provenance.json",
)


@pytest.fixture
def project(tmp_path) -> Path:
    project = tmp_path / "project"
    for name, content in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(content)
    return project


@pytest.fixture
def packed(project, tmp_path) -> Path:
    archive.pack(project, archive.files_of_study(project, "demo"), TEXTS, tmp_path / "demo.zip")
    return tmp_path / "demo.zip"


@pytest.fixture
def clone(tmp_path) -> Path:
    (tmp_path / "clone").mkdir()
    return tmp_path / "clone"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_files_of_a_study_are_all_that_are_its_own(project):
    for name in OTHERS:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).touch()
    assert archive.files_of_study(project, "demo") == sorted(FILES)
    without = archive.files_of_study(project, "demo", ["models", "logs"])
    assert set(FILES) - set(without) == {"results/demo/models/minilm/model.safetensors", "logs/demo/train.log"}
    with pytest.raises(InputError, match=r"results/demo/model:.*no such folder"):
        archive.files_of_study(project, "demo", ["model"])
    with pytest.raises(InputError, match="results/none: no such results"):
        archive.files_of_study(project, "none")


def test_a_link_among_the_results_is_refused(project, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (project / "results/demo/tables/link.csv").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match=r"tables/link\.csv: a link"):
        archive.files_of_study(project, "demo")


def test_the_same_files_give_the_same_bytes_wherever_and_whenever(project, packed, tmp_path):
    copy = tmp_path / "elsewhere"
    for name in sorted(FILES, reverse=True):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(project / name, copy / name)
        os.utime(copy / name, (1e9, 1e9))
        (copy / name).chmod(0o600)
    archive.pack(copy, archive.files_of_study(copy, "demo"), TEXTS, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()
    (copy / "logs/demo/train.log").write_text("another\n")
    archive.pack(copy, archive.files_of_study(copy, "demo"), TEXTS, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() != packed.read_bytes()


def test_what_was_packed_is_unpacked_and_dated_alike(packed, clone):
    assert archive.checked_study(packed) == "demo"
    assert contents(clone) == {}
    assert archive.unpack(packed, clone) == "demo"
    found = contents(clone)
    described = {
        f"results/demo/archive/{name}": found.pop(f"results/demo/archive/{name}")
        for name in (archive.CRATE, archive.RECORDS, archive.MANIFEST)
    }
    assert found == FILES | {CONFIGURATION: b"study: demo\n"}
    assert len({path.stat().st_mtime_ns for path in clone.rglob("*") if path.is_file()}) == 1
    # Two spaces, as `sha256sum --check` wants them.
    manifest = described[f"results/demo/archive/{archive.MANIFEST}"].decode().splitlines()
    assert f"{hashlib.sha256(b'<svg/>').hexdigest()}  results/demo/figures/scores/gini.svg" in manifest
    assert len(manifest) == len(FILES) + len(TEXTS)
    assert not any(path.name.startswith(".unpacked") for path in clone.iterdir())


def test_two_that_pack_into_the_same_file_at_once_leave_a_whole_archive(project, packed, monkeypatch):
    before = packed.read_bytes()
    copy, others = (
        shutil.copyfileobj,
        [lambda: archive.pack(project, archive.files_of_study(project, "demo"), TEXTS, packed)],
    )

    def copy_while_another_packs(*arguments):
        if others:
            others.pop()()
        copy(*arguments)

    monkeypatch.setattr(shutil, "copyfileobj", copy_while_another_packs)
    archive.pack(project, archive.files_of_study(project, "demo"), TEXTS, packed)
    assert packed.read_bytes() == before
    assert archive.checked_study(packed) == "demo"


@pytest.mark.parametrize("moved", range(3))
def test_unpacking_that_is_killed_leaves_no_results_without_the_rest(packed, clone, monkeypatch, moved):
    rename, left = Path.rename, iter(range(moved, -1, -1))
    monkeypatch.setattr(Path, "rename", lambda path, to: rename(path, to) if next(left) else os.kill(os.getpid(), 9))
    if (process := os.fork()) == 0:
        archive.unpack(packed, clone)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -9
    assert not (clone / "results/demo").exists()


def test_a_study_that_is_there_is_not_overwritten(packed, clone):
    archive.unpack(packed, clone)
    (clone / "results/demo/tables/effects.csv").write_text("mine\n")
    with pytest.raises(InputError, match="results/demo: is there already"):
        archive.unpack(packed, clone)
    assert (clone / "results/demo/tables/effects.csv").read_text() == "mine\n"


def repacked(packed: Path, change: Callable[[dict[str, bytes]], None], kinds: dict[str, int] | None = None) -> None:
    """Write an archive again with other members; ``kinds`` are modes of Unix by name."""
    with zipfile.ZipFile(packed) as members:
        files = {name: members.read(name) for name in members.namelist()}
    change(files)
    with zipfile.ZipFile(packed, "w") as members:
        for name, content in files.items():
            about = zipfile.ZipInfo(name)
            about.external_attr = (kinds or {}).get(name, stat.S_IFREG | 0o644) << 16
            members.writestr(about, content)


def listed(files: dict[str, bytes]) -> None:
    """Make the manifest say what the members are."""
    files[archive.MANIFEST] = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(files.items())
        if name != archive.MANIFEST
    ).encode()


@pytest.mark.parametrize(
    "name",
    [
        "../outside.txt",
        "results/demo/../../outside.txt",
        "results/demo/tables/../../../../outside.txt",
        "/tmp_outside.txt",
        "results/other/tables/effects.csv",
        "results/demo",
        "Makefile",
        ".snakemake/metadata/x",
        "results/demo/models/.minilm.checkpoint/1.pt",
        "results/demo/archive/provenance.json",
        "results/demo/./tables/x.csv",
        "results//demo/x.csv",
        "results\\demo\\..\\..\\outside.txt",
        "results/demo/folder/",
        "results/demo/\x1b[2J.csv",
    ],
)
def test_no_member_leads_out_of_the_studys_folders(packed, clone, name):
    def change(files):
        files[name] = b"hostile"
        listed(files)

    repacked(packed, change)
    before = contents(clone.parent)
    for use in (archive.checked_study, lambda path: archive.unpack(path, clone)):
        with pytest.raises(InputError, match=r"leads out.*folders"):
            use(packed)
    assert contents(clone.parent) == before


def test_a_name_that_ends_at_a_zero_byte_is_refused(packed, clone):
    def change(files):
        files["results/demo/tables/ab.csv"] = b"hostile"
        listed(files)

    repacked(packed, change)
    packed.write_bytes(packed.read_bytes().replace(b"tables/ab.csv", b"tables/a\0.csv"))
    with pytest.raises(InputError, match=r"leads out|not in the|cannot be read"):
        archive.unpack(packed, clone)
    assert contents(clone) == {}


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR], ids=["link", "pipe", "device"])
def test_no_member_is_a_link(packed, clone, kind):
    link = "results/demo/tables/link.csv"

    def change(files):
        files[link] = b"/etc/passwd"
        listed(files)

    repacked(packed, change, {link: kind | 0o777})
    with pytest.raises(InputError, match=r"tables/link\.csv is a link"):
        archive.unpack(packed, clone)
    assert contents(clone) == {}


def replaced(files):
    files["results/demo/tables/effects.csv"] = b"cell,effect\n1,0.9\n"


def added(files):
    files["results/demo/tables/more.csv"] = b"more"


def removed(files):
    del files["results/demo/tables/effects.csv"]


def cut(files):
    files[archive.MANIFEST] = files[archive.MANIFEST][:100]


def without_manifest(files):
    del files[archive.MANIFEST]


def of_two_studies(files):
    files["results/other/study.yaml"] = b"study: other\n"
    listed(files)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (replaced, r"tables/effects\.csv has.*wrong checksum: SHA-256.*[0-9a-f]{64}"),
        (added, r"tables/more\.csv.*manifest"),
        (removed, r"tables/effects\.csv is not"),
        (cut, r"manifest-sha256\.txt, line 2 has no checksum"),
        (without_manifest, "no archive"),
        (of_two_studies, "no archive"),
    ],
)
def test_what_is_not_as_it_was_packed_is_named(packed, clone, change, said):
    repacked(packed, change)
    for use in (archive.checked_study, lambda path: archive.unpack(path, clone)):
        with pytest.raises(InputError, match=said):
            use(packed)
    assert contents(clone) == {}
    assert not list(clone.iterdir())


def test_a_member_that_is_there_twice_is_refused(packed, clone):
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(packed, "a") as members:
        members.writestr("results/demo/tables/effects.csv", b"the second")
    with pytest.raises(InputError, match=r"tables/effects\.csv is there twice"):
        archive.unpack(packed, clone)


def test_bytes_that_were_damaged_are_named_by_their_file(packed, clone):
    with zipfile.ZipFile(packed) as members:
        place = members.getinfo("results/demo/models/minilm/model.safetensors").header_offset + 120
    content = bytearray(packed.read_bytes())
    content[place] ^= 0xFF
    packed.write_bytes(content)
    with pytest.raises(InputError, match=r"model\.safetensors (cannot|has a wrong)"):
        archive.checked_study(packed)
    packed.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"no archive.*can be read"):
        archive.unpack(packed, clone)
    assert contents(clone) == {}


def test_more_than_the_disk_has_room_for_is_refused_at_once(packed, clone, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 9, 1))
    with pytest.raises(InputError, match="room for 1; free some"):
        archive.unpack(packed, clone)


ODD = ["a\nb.csv", "a\\b.csv", "a.csv ", "a\u2028b.csv", "\x1b[2J.csv", "\udcff.csv"]


@pytest.mark.parametrize("name", [f"results/demo/{name}" for name in ODD], ids=ascii)
def test_a_name_that_the_manifest_cannot_have_is_refused(project, tmp_path, name):
    (project / name).write_text("x")
    with pytest.raises(InputError, match="rename it"):
        archive.pack(project, archive.files_of_study(project, "demo"), TEXTS, tmp_path / "demo.zip")
    assert not list(tmp_path.glob("*.zip*")) + list(tmp_path.glob(".*zip*"))


def test_words_of_data_without_a_licence_are_refused_by_their_folders(tmp_path):
    table, answers = "results/talk/released/dialect_bigbench.parquet", "results/talk/answers/q/m/seed0/r.parquet"
    effects, page = "results/talk/tables/effects.html", "results/talk/index.html"
    records = {
        table: Record("import_released"),
        answers: Record("record_answers", (table,)),
        effects: Record("tabulate_effects", (answers,)),
        page: Record("write_page", (answers,)),
    }
    for name in records:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b'{"texts": true}')
    with pytest.raises(InputError) as refused:
        archive.refuse_unlicensed(tmp_path, "talk", records, records)
    assert str(refused.value).startswith(f"{table}: has words")
    assert 'WITHOUT="answers released", and write' in str(refused.value)
    with pytest.raises(InputError, match=f'^{answers}: .*WITHOUT="answers". Tables'):
        archive.refuse_unlicensed(tmp_path, "talk", [answers, effects, "logs/talk/a.log"], records)
    # Numbers may be passed on, and a page without words; so may texts of other data.
    (tmp_path / page).write_bytes(b'{"texts": false}')
    archive.refuse_unlicensed(tmp_path, "talk", [effects, page], records)
    others = ("table.csv", "results/talk/released/walk_the_talk_questions.parquet", "dialect_bigbench.parquet")
    archive.refuse_unlicensed(tmp_path, "talk", [answers], {answers: Record("record_answers", others)})


def test_what_is_refused_is_a_table_that_a_study_may_ask_for():
    assert archive.UNLICENSED.keys() <= {f"{release}_" for release in released.RELEASES}
