"""Where a model lies, in a folder or on the Hugging Face hub, which may not answer; and what it is loaded from."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import HfApi, constants
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils import get_session

from evenlight.core.errors import InputError
from evenlight.core.sources import (
    adapter_files,
    digest,
    is_missing_folder,
    key_of_revision,
    nearest_folder,
    transformers_files,
)
from evenlight.models.base import Architecture
from evenlight.models.fields import GivenTokenizer

# How often the hub is asked for an answer, and the seconds in which it is not asked again where it gave none.
ATTEMPTS, SILENCE = 2, 60.0
# How a file begins that stands for one that git-lfs has not fetched, and bytes that it has fewer of.
POINTER, LARGEST_POINTER = b"version https://git-lfs.github.com/spec/", 1024
_silent_since: dict[str, float] = {}


@contextmanager
def located(
    source: str | Path, revision: str | None = None, what: str = "model", key: str = "source"
) -> Iterator[None]:
    """Within it, a library may ask the hub for ``source``; one that does not answer has its cache read instead.

    Left to itself, the hub's client tries for half a minute per file.

    Args:
        source: hub id or folder.
        revision: on the hub; where it is named, the source is an id.
        what: the source is, for messages.
        key: of ``models.<model>`` that names the source, for messages.

    Raises:
        InputError: the source looks like a path, and there is no such folder; or its files are not there yet.
    """
    if said := missing_folder(str(source), revision):
        raise InputError(f"{what} {source}: cannot be loaded ({said}). Give an existing folder as models.<model>.{key}")
    if Path(source).is_dir():
        refuse_pointers(Path(source))
    if Path(source).is_dir() or constants.HF_HUB_OFFLINE or _answers(str(source), revision or "main"):
        yield
        return
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = False


def refuse_pointers(folder: Path) -> None:
    """Refuse a folder in which git-lfs has left what points to a file in the place of the file.

    Raises:
        InputError: there is one.
    """
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.stat().st_size < LARGEST_POINTER and path.read_bytes().startswith(POINTER):
            raise InputError(
                f"{path}: is a pointer of git-lfs, and not the file itself; run git lfs pull in {folder}, or download "
                "the file from where the model is published"
            )


def pinned(model: Architecture) -> Architecture:
    """A model with a commit of the hub in the place of each revision; folders stay as they are.

    A job reads several files of a model. A branch that moves meanwhile would mix two versions.
    """
    changed: dict = {}
    for source, revision in (("source", "revision"), ("adapter", "adapter_revision")):
        if name := getattr(model, source, None):
            changed[revision] = commit_of(name, getattr(model, revision), key=source)
    tokenizer = getattr(model, "tokenizer", None)
    if isinstance(tokenizer, GivenTokenizer):
        commit = commit_of(tokenizer.source, tokenizer.revision, key="tokenizer.source")
        changed["tokenizer"] = tokenizer.model_copy(update={"revision": commit})
    return model.model_copy(update=changed)


def commit_of(source: str, revision: str | None = None, key: str = "source") -> str | None:
    """The commit that a revision on the hub is today; None of a folder. Says so where it was another one before.

    Where nothing can be found out, it is the revision itself, and whoever loads it says why.

    ``key`` of ``models.<model>`` names the source, for messages.
    """
    if Path(source).is_dir():
        return None
    named = revision or constants.DEFAULT_REVISION
    kept = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=source, repo_type="model") / "refs" / named
    try:
        before = kept.read_text() if kept.is_file() else None
        with located(source, revision, key=key):
            commit = HfApi().resolve_revision(source, revision=revision, local_files_only=constants.HF_HUB_OFFLINE)
    # Of errors there are as many as libraries below the hub's client.
    except Exception:
        return revision
    if commit.resolved != revision:
        moved = f", and no longer {before}" if before not in (None, commit.resolved) else ""
        told = f"name a commit as {key_of_revision(f'models.<model>.{key}')} to have the same files next year"
        print(f"{source}: {named} is commit {commit.resolved}{moved}; {told}", flush=True)
    return commit.resolved


def files_on_hub(source: str, revision: str | None = None) -> list[str]:
    """The names of all files of a model on the hub; none of a folder, or where the hub does not say."""
    try:
        return [] if Path(source).is_dir() else HfApi().list_repo_files(source, revision=revision)
    except Exception:
        return []


def missing_folder(source: str, revision: str | None = None) -> str | None:
    """What is wrong with a source that looks like a path and is no folder; None where it may be loaded.

    A name such as ``models/mien`` may be an id on the hub. It is taken for a path where there is a folder ``models``,
    unless a revision is named or the hub's cache has it.
    """
    if Path(source).is_dir():
        return None
    is_path = is_missing_folder(source)
    if not is_path:
        parent = source.rpartition("/")[0]
        cached = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=source, repo_type="model")
        if not parent or revision or not Path(parent).is_dir() or cached.is_dir():
            return None
    near = nearest_folder(source)
    said = f"there is no such folder{f'; did you mean {near}?' if near else ''}"
    return said if is_path else f"{said}; an id on the hub beside a folder of that name needs a revision, such as main"


def _answers(source: str, revision: str) -> bool:
    """Whether the hub says anything of a model, be it that there is none."""
    endpoint = constants.ENDPOINT
    if time.monotonic() - _silent_since.get(endpoint, -SILENCE) < SILENCE:
        return False
    for _ in range(ATTEMPTS):
        try:
            address = f"{endpoint}/{source}/resolve/{revision}/config.json"
            if get_session().head(address, timeout=constants.HF_HUB_ETAG_TIMEOUT).status_code < 500:
                return True
        # Which library is below the hub's client, and with it the errors of a network, changes with its version.
        except Exception:
            continue
    _silent_since[endpoint] = time.monotonic()
    return False


def loaded_files(source: str, revision: str | None = None, is_adapter: bool = False, commit: str | None = None) -> dict:
    """What a classifier is loaded from, for its manifest: ``source``, ``revision``, and ``files``, SHA-256 by name.

    Of a model on the hub also its ``commit``, which its newest version need not be any more. With ``is_adapter`` the
    source is an adapter.

    Raises:
        InputError: a file is not the one that the hub has under its name.
    """
    loaded = {"source": source, "revision": revision}
    folder = folder_of(source, revision, commit, "adapter_config.json" if is_adapter else "config.json")
    if not Path(source).is_dir():
        loaded["commit"] = folder.name
    files = adapter_files(folder) if is_adapter else transformers_files(folder)
    return loaded | {"files": {path.name: _checked_digest(path) for path in files}}


def folder_of(source: str, revision: str | None, commit: str | None, configuration: str = "config.json") -> Path:
    """The folder of a source, of one on the hub that in the hub's cache."""
    if Path(source).is_dir():
        return Path(source)
    # Here, so that whoever only looks where a model lies need not load Transformers.
    from transformers.utils import cached_file

    with located(source, revision):
        return Path(cached_file(source, configuration, revision=commit or revision)).parent


def begun_with(model: Architecture, commits: Architecture) -> dict:
    """What a model that is trained here begins with, for its manifest: files of its ``source`` and ``tokenizer``.

    ``commits`` is the model with the commits of the hub (:func:`pinned`).

    Returns:
        what :func:`loaded_files` says of either; empty where everything begins at random.
    """
    both = {"source": (model, commits)}
    if hasattr(model, "tokenizer"):
        both["tokenizer"] = (model.tokenizer, commits.tokenizer)
    return {
        name: loaded_files(given.source, given.revision, commit=pinned.revision)
        for name, (given, pinned) in both.items()
        if hasattr(given, "source")
    }


def _checked_digest(path: Path) -> str:
    """The SHA-256 of a file; of a large one in the hub's cache it is the name of what its link leads to.

    The hub's client compares sizes only.
    """
    found, name = digest(path), path.readlink().name if path.is_symlink() else ""
    if re.fullmatch("[0-9a-f]{64}", name) and name != found:
        raise InputError(
            f"{path}: wrong checksum: SHA-256 should be {name}, found {found}; delete {path.resolve()}, so that it is "
            "downloaded again"
        )
    return found
