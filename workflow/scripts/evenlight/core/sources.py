"""Files from elsewhere: published data, where it comes from, what it must contain and how it gets here; and models.

A file's name is its path in a mirror, a folder that holds some or all of the files. What the mirror lacks is
downloaded. Nothing is accepted whose SHA-256 is not the one written here.
"""

import difflib
import hashlib
import os
import shutil
import sys
import tarfile
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, unquote

from evenlight.core.errors import InputError

MIRROR_VARIABLE = "EVENLIGHT_MIRROR"
WAITS = (1, 2, 4, 8)  # seconds between the attempts of a download
TIMEOUTS = (10, 60)  # seconds for the connection and for each answer
BLOCK = 1 << 16  # bytes
SETTLED = 2 * 10**9  # nanoseconds after which the time of a file tells whether it was written again
# What a model is loaded from. No other weights are: a `.bin` is a pickle, which can hold a program.
TOKENIZER_FILES = ("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab*", "merges.txt", "*.model")
WEIGHT_FILES = ("model*.safetensors*",)
ADAPTER_FILES = ("adapter_model.safetensors",)  # peft's
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.pickle", "*.h5", "*.msgpack")


@dataclass(frozen=True)
class Source:
    """A file's address upstream, at a pinned commit, and the SHA-256 of its content."""

    url: str
    sha256: str


@dataclass(frozen=True)
class Archive:
    """A repository at a pinned commit in one packed file, for data that is published in thousands of single files.

    Attributes:
        url: of the packed file (.tar.gz). Its bytes depend on who packed it, so that its content is what is checked.
        folder: which folder of the repository is read.
        sha256: of that folder. It is what ``find FOLDER -type f | LC_ALL=C sort | xargs sha256sum | sha256sum`` prints.
        tables: SHA-256 of the tables that are made of it, as a mirror may have them in place of the packed file.
    """

    url: str
    folder: str
    sha256: str
    tables: Mapping[str, str]


def _raw_github(repository: str, commit: str, *folder: str) -> str:
    return "/".join(["https://raw.githubusercontent.com", repository, commit, *folder])


GECOBENCH = ("braindatalab/gecobench", "f0907c69d95353016556a6cbd0c5fcaa76392ed9")
# Zhou et al. 2025 (arXiv 2503.04099); no licence is named, so that nothing of it is passed on.
DIALECT = ("Runtaozhou/dialect_bias_eval", "dce014cf60b69fbf3d965c2452da3d40095265eb")
# By the folder in which they lie in a mirror, where published files come from; the first folder that fits counts.
ADDRESSES = {
    # Text derived from Wikipedia, CC BY-SA 4.0; and what GECO's annotators made.
    "geco": _raw_github(*GECOBENCH, "data/dataset"),
    "geco_annotation": _raw_github(*GECOBENCH, "data/dataset_generation/data"),
    # ProPublica's two-year recidivism table; public records, published with no licence file.
    "compas": _raw_github("propublica/compas-analysis", "bafff5da3f2e45eca6c2d5055faad269defd135a"),
    # CC BY-SA 4.0.
    "crows_pairs": _raw_github("nyu-mll/crows-pairs", "8aaac11c485473159ec9328a65253a5be9a479dc", "data"),
    # MIT licence.
    "winobias": _raw_github("uclanlp/corefBias", "0bce984dd081bbc10b0622f326727a024c607895", "WinoBias/wino/data"),
    # CC BY 4.0, these three.
    "cebab": _raw_github("CEBaBing/CEBaB", "40e68518fe66a3b5e53b52741c5b180c8a096295"),
    "hatecheck": _raw_github("paul-rottger/hatecheck-data", "d84302298ceeb34f4b0dde2d8a1f4932c2caa612"),
    "multilingual_hatecheck": _raw_github(
        "rewire-online/multilingual-hatecheck", "a03f2caf2023a402d85064bda243e46d280408f0", "MHC%20Final%20Cases"
    ),
    "dialect/uncertainty": _raw_github(*DIALECT, "uncertainty_exp"),
    "dialect": _raw_github(*DIALECT, "bigbench_dataset"),
}


def _published() -> dict[str, Source]:
    """The published files by name; ``published.sha256`` has their checksums, as ``sha256sum`` writes them."""
    found = {}
    for line in Path(__file__).with_name("published.sha256").read_text(encoding="utf-8").splitlines():
        sha256, name = line.split("  ")
        folder = next(folder for folder in ADDRESSES if name.startswith(f"{folder}/"))
        found[name] = Source(f"{ADDRESSES[folder]}{name.removeprefix(folder)}", sha256)
    return found


SOURCES = _published()
# Matton et al. 2025, MIT licence.
ARCHIVES = {
    "walk_the_talk": Archive(
        url="https://github.com/kmatton/walk-the-talk/archive/0497b60d5aa4e5ab7acb6e40bee4479ac7a80f40.tar.gz",
        folder="outputs/iclr-2025/bbq",
        sha256="3b1aeb6a649ea40e46a70beb3b3cb97a073f4e9b9bb106e3758a815b9a8f3af0",
        tables={
            "bbq_answers.parquet": "a439d71443215f9547ca59e640f652f2c1e7d8aabb66e2c1a85f5576a91644fb",
            "bbq_concepts.parquet": "3f0b594ed3718b374650b834c2b44033e89ea8066bd86b010482a240d62db151",
            "bbq_implied.parquet": "6d2bf2f38f3f3ec325af31d693c6c471d9792a191bd73be58fa336248b4a762d",
        },
    )
}

# What begins the name of a file that a study names by its address: name, SHA-256 and address are one.
ADDRESSED = "at"


def addressed(url: str, sha256: str) -> str:
    """The name of a file that a study names by its address and SHA-256, under which it lies like any other source.

    >>> addressed("https://host/a/answers.csv", "0f")
    'at/0f/https%3A%2F%2Fhost%2Fa%2Fanswers.csv'
    """
    return f"{ADDRESSED}/{sha256}/{quote(url, safe='')}"


def source(name: str) -> Source | None:
    """Where the file of a name comes from and what it must contain; None of an unknown name.

    >>> source(addressed("https://host/a/answers.csv", "0f"))
    Source(url='https://host/a/answers.csv', sha256='0f')
    """
    folder, _, rest = name.partition("/")
    sha256, _, url = rest.partition("/")
    return Source(unquote(url), sha256) if folder == ADDRESSED and url else SOURCES.get(name)


def known_source(name: str) -> Source:
    """The same, of a name that must be known.

    Raises:
        InputError: it is not.
    """
    if (found := source(name)) is None:
        raise InputError(f"source '{name}' is unknown; known sources: {', '.join(SOURCES)}")
    return found


def is_address(path: str) -> bool:
    """Whether what names a file is no path."""
    return path.startswith(("https://", "http://"))


def digest(path: str | Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal; a process reads once what is as it was."""
    state = os.stat(path)
    changed = max(state.st_mtime_ns, state.st_ctime_ns)
    # Two writings so close together may have one time.
    read = _digest_of.__wrapped__ if time.time_ns() - changed < SETTLED else _digest_of
    return read(str(path), state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


@lru_cache(maxsize=1024)
def _digest_of(path: str, *state: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def missing(path: str | Path) -> str:
    """What is said of a path with nothing there: the nearest name beside the first part of it that is missing.

    >>> missing("/no/such/folder/mine.csv")
    '/no/such/folder/mine.csv: no such file, since there is no /no; paths begin where Snakemake is started'
    """
    said = nearest(path)
    return f"{said}{'' if said.endswith('?') else ';'} paths begin where Snakemake is started"


def nearest(path: str | Path) -> str:
    """The first part of that: which path is not there, and which may have been meant.

    >>> nearest("/no/such/folder/mine.csv")
    '/no/such/folder/mine.csv: no such file, since there is no /no'
    """
    absent = next(part for part in (*reversed(Path(path).parents), Path(path)) if not part.exists())
    near = get_close_matches(absent.name, [other.name for other in absent.parent.iterdir()], n=1)
    if near:
        return f"{path}: no such file; did you mean {absent.with_name(near[0])}?"
    return f"{path}: no such file" + ("" if absent == Path(path) else f", since there is no {absent}")


def is_missing_folder(source: str) -> bool:
    """Whether a source can only be a path, since the hub has no such names, and there is no such folder.

    >>> is_missing_folder("/no/such/folder"), is_missing_folder("./none"), is_missing_folder("organisation/model")
    (True, True, False)
    >>> is_missing_folder("my/models/first"), is_missing_folder("models/"), is_missing_folder("model")
    (True, True, False)
    """
    is_path = source.startswith(("/", ".", "~")) or source.endswith("/") or source.count("/") > 1
    return is_path and not Path(source).is_dir()


def nearest_folder(source: str) -> str | None:
    """The folder whose path is nearest to one that is not there, as it would be written; None where none is near."""
    path = Path(source)
    there = next((parent for parent in path.parents if parent.is_dir()), None)
    if there is None:
        return None
    wrong, *below = path.relative_to(there).parts
    names = [each.name for each in there.iterdir() if each.is_dir() and not each.name.startswith(".")]
    for name in difflib.get_close_matches(wrong, names):
        if (near := Path(there, name, *below)).is_dir():
            return str(near)
    return None


def transformers_files(folder: str | Path) -> list[Path]:
    """The files in a folder that its model is loaded from, by name; none where there is no such folder."""
    return sorted({*_of_patterns(folder, WEIGHT_FILES), *tokenizer_files(folder)})


def tokenizer_files(folder: str | Path) -> list[Path]:
    """Those that its tokenizer is loaded from, alike."""
    return sorted(_of_patterns(folder, ("config.json", *TOKENIZER_FILES)))


def adapter_files(folder: str | Path) -> list[Path]:
    """The files in a folder that an adapter is loaded from, by name; none where there is no such folder."""
    return sorted(_of_patterns(folder, ("adapter_config.json", *ADAPTER_FILES)))


def _of_patterns(folder: str | Path, patterns: Iterable[str]) -> set[Path]:
    return {path for pattern in patterns for path in Path(folder).glob(pattern)}


def check_no_pickle(source: str, weights: Sequence[str]) -> None:
    """Refuse a folder whose only weights are of a kind that can hold a program.

    Args:
        source: folder, or hub id, of which nothing is known here.
        weights: patterns of the weights that are read.

    Raises:
        InputError: naming the file and how to convert it.
    """
    folder = Path(source)
    if not folder.is_dir() or _of_patterns(folder, weights):
        return
    if pickles := sorted(_of_patterns(folder, PICKLES) - set(folder.glob("training_args.bin"))):
        raise InputError(f"{pickles[0]}: {convert(source)}")


def convert(source: str | Path, revision: str | None = None) -> str:
    """Why such weights are not read, and what to do."""
    named = f" --revision {revision}" if revision else ""
    return (
        "weights are read as safetensors only, since a file of another kind can hold a program; where you trust its "
        f"author, convert it: python {tool('convert_weights.py')} {source} NEW_FOLDER{named}"
    )


def tool(name: str) -> str:
    """Where a command of ``workflow/tools`` is, from where the run was started; a library alone has none of them."""
    path = Path(__file__).parents[3] / "tools" / name
    if not path.is_file():
        return f"workflow/tools/{name} (of Evenlight's repository)"
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def mirror_folder(named: str | Path | None = None) -> Path | None:
    """The mirror that is ``named`` or, failing that, the one of the environment variable ``EVENLIGHT_MIRROR``."""
    folder = named or os.environ.get(MIRROR_VARIABLE)
    if not folder:
        return None
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            f"{folder}: the mirror is not a folder; name an existing one with --mirror or {MIRROR_VARIABLE}, "
            "or leave both away to download the data"
        )
    return folder


def refuse_changed(name: str, path: str | Path) -> None:
    """Refuse a fetched file that is no longer what was fetched."""
    remedy = "delete it and run the workflow again, rule fetch_source makes it"
    _check_digest(Path(path), known_source(name).sha256, path, remedy)


def fetch(name: str, output: str | Path, mirror: Path | None = None, waits: Sequence[float] = WAITS) -> None:
    """Write the file ``name`` of :data:`SOURCES` to ``output``, from ``mirror`` if it is there, else by download.

    ``waits`` are the seconds before each further attempt of a download. The output appears only when it is
    complete and its SHA-256 is right.
    """
    # Here and not above, so that the Snakefile can read the registry without loading pandas.
    from evenlight.core.tables import replacing

    found = known_source(name)
    with replacing(output) as temporary:
        _check_digest(temporary, found.sha256, *_bring(name, found.url, temporary, mirror, waits))


def fetch_tables(
    name: str, make: Callable, folder: Path, mirror: Path | None = None, waits: Sequence[float] = WAITS
) -> None:
    """Write the tables of :data:`ARCHIVES` under ``name`` below ``folder``: those of the mirror, else of the archive.

    Args:
        name: of the archive; tables have it as their folder, in ``mirror`` and in ``folder``.
        make: makes the tables, by name, of the files, by path.
        folder: where sources lie.
        mirror: the folder with the tables, or with the packed file under the commit's name.
        waits: seconds before each further attempt of a download.
    """
    from evenlight.core.tables import replacing

    archive, tables = ARCHIVES[name], [f"{name}/{table}" for table in ARCHIVES[name].tables]
    if mirror and all((mirror / table).is_file() for table in tables):
        for table, sha256 in zip(tables, archive.tables.values(), strict=True):
            with replacing(folder / table) as temporary:
                _check_digest(temporary, sha256, *_bring(table, archive.url, temporary, mirror, waits))
        return
    with TemporaryDirectory() as scratch:
        packed = Path(scratch, "packed")
        origin = _bring(f"{name}/{archive.url.rpartition('/')[2]}", archive.url, packed, mirror, waits)
        made = make(unpacked(archive, packed, *origin))
    for table in archive.tables:
        with replacing(folder / name / table) as temporary:
            made[table].to_parquet(temporary, index=False, compression="zstd")


def unpacked(archive: Archive, path: Path, origin: str | Path, remedy: str) -> dict[str, bytes]:
    """The files of an archive's folder, by their paths in it, in the order of these.

    Args:
        archive: what is read, and what it must contain.
        path: the packed file.
        origin: where it is from, and ``remedy``, what to do where it is wrong.

    Raises:
        InputError: the file is no packed repository, or what is in its folder is not what was published.
    """
    files = {}
    try:
        with tarfile.open(path, "r|gz") as packed:
            for member in packed:
                # All lies in one folder, whose name depends on who packed it.
                name = member.name.partition("/")[2]
                is_there = member.isfile() and name.startswith(f"{archive.folder}/")
                if is_there and (file := packed.extractfile(member)):
                    files[name.removeprefix(f"{archive.folder}/")] = file.read()
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise InputError(f"{origin}: no packed repository ({error}); {remedy}") from None
    files = dict(sorted(files.items()))
    listed = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {archive.folder}/{name}\n" for name, content in files.items()
    )
    _check_same(hashlib.sha256(listed.encode()).hexdigest(), archive.sha256, f"{origin}, {archive.folder}", remedy)
    return files


def _bring(name: str, url: str, output: Path, mirror: Path | None, waits: Sequence[float]) -> tuple[str | Path, str]:
    """Copy the file of a name from the mirror, or download it; where it is from, and what to do where it is wrong."""
    mirrored = mirror / name if mirror else None
    if mirrored and mirrored.is_file():
        shutil.copyfile(mirrored, output)
        return mirrored, "delete it there to have it downloaded, or replace it by the published file"
    destination = mirrored or f"<folder>/{name} and name that folder with --mirror or {MIRROR_VARIABLE}"
    remedy = f"check the network, or place the file at {destination}"
    _download(url, output, remedy, waits)
    return url, "something on the way changed the file; " + remedy


def _check_digest(path: Path, expected: str, origin: str | Path, remedy: str) -> None:
    _check_same(digest(path), expected, origin, remedy)


def _check_same(actual: str, expected: str, origin: str | Path, remedy: str) -> None:
    if actual != expected:
        raise InputError(f"{origin}: wrong checksum: SHA-256 should be {expected}, found {actual}; {remedy}")


def _download(url: str, path: Path, remedy: str, waits: Sequence[float]) -> None:
    """Download ``url`` into ``path``; failures that may pass are tried again after each of ``waits``."""
    import requests

    for wait in (*waits, None):
        try:
            return _download_once(url, path)
        except requests.RequestException as error:
            if wait is None or not _may_pass(error):
                raise InputError(f"{url}: cannot be downloaded ({_reason(error)}); {remedy}") from None
            print(f"{url}: {_reason(error)}; next attempt in {wait} s", file=sys.stderr)
            time.sleep(wait)


def _download_once(url: str, path: Path) -> None:
    """One attempt; ``requests`` raises an error when the body ends before its announced length."""
    import requests
    from tqdm import tqdm

    # Uncompressed, so that the announced length is that of the file and the progress is true.
    with requests.get(url, headers={"Accept-Encoding": "identity"}, stream=True, timeout=TIMEOUTS) as response:
        response.raise_for_status()
        length = int(response.headers.get("Content-Length", 0)) or None
        progress = tqdm(total=length, unit="B", unit_scale=True, desc=url.rsplit("/", 1)[-1], mininterval=1)
        with progress, open(path, "wb") as file:
            for block in response.iter_content(BLOCK):
                file.write(block)
                progress.update(len(block))


def _reason(error: Exception) -> str:
    """What went wrong, without the wrapping that repeats the address."""
    return str(getattr(error.args[0], "reason", error) if error.args else error)


def _may_pass(error: Exception) -> bool:
    """Whether another attempt may end better: no answer, a broken one, or a server that is busy or down."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status is None or status == 429 or status >= 500


def key_of_revision(key: str) -> str:
    """The key that names the revision of what another key names.

    >>> key_of_revision("models.<model>.tokenizer.source"), key_of_revision("models.<model>.adapter")
    ('models.<model>.tokenizer.revision', 'models.<model>.adapter_revision')
    """
    return f"{key}_revision" if key.endswith("adapter") else f"{key.removesuffix('source')}revision"


def refused_by_hub(error: object, source: str | Path, key: str = "models.<model>.source") -> str | None:
    """Why the hub does not give what was asked for, and what to do; None where it has no part in an error.

    Args:
        error: of any library, and what it came from; what is no error has nothing to do with the hub.
        source: id on the hub.
        key: that names it.
    """
    # Here, so that whoever is refused nothing need not load the hub's client.
    from huggingface_hub import constants
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    page = f"{constants.ENDPOINT}/{'datasets/' if key.startswith('datasets') else ''}{source}"
    token = "the token of your account in the environment variable HF_TOKEN (or log in: hf auth login)"
    while isinstance(error, BaseException):
        if isinstance(error, GatedRepoError):
            return f"access to it is restricted). Ask for access on {page}, and give {token}"
        if isinstance(error, RepositoryNotFoundError):
            return f"the hub has none of this name, or it is private). Look at {key}, or give {token}"
        if isinstance(error, RevisionNotFoundError):
            return f"it has no such revision). Name one of {page}/commits/main as {key_of_revision(key)}"
        if "Consistency check failed" in str(error):
            said = str(error).partition(".\n")[0]
            return f"a download was not complete: {said}). Run it again; what is complete is not downloaded again"
        error = error.__cause__ or error.__context__
    return None


def asked_about(dataset: str, revision: str | None) -> Exception | None:
    """What the hub's client says of a dataset that another library was not given; None where it may be had."""
    from huggingface_hub import HfApi

    try:
        HfApi().auth_check(dataset, repo_type="dataset")
        HfApi().repo_info(dataset, repo_type="dataset", revision=revision)
    except Exception as error:
        return error
    return None


def asked_wait(header: str | None) -> float | None:
    """The seconds of a header Retry-After (RFC 9110, section 10.2.3), None without one or with one that says nothing.

    >>> asked_wait("7"), asked_wait("Wed, 01 Jan 2020 00:00:00 -0000"), asked_wait("soon"), asked_wait(None)
    (7.0, 0.0, None, None)
    """
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    if header is None:
        return None
    try:
        # Whether to wait so long is for the caller to say.
        return float(Retry(retry_after_max=sys.maxsize).parse_retry_after(header))
    except (InvalidHeader, ValueError):
        return None
