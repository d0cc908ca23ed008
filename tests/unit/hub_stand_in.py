"""A stand-in of the Hugging Face hub on this machine: repositories with commits, over real HTTP.

It says what huggingface_hub's client asks: commits of revisions, listings of files, and files with their etags, commits
and ranges. Small files are behind a redirect on the same host; large ones (safetensors, Parquet, pickles) behind one to
another host, as on the hub. It has no Xet storage.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from http_services import running

LARGE = (".safetensors", ".bin", ".parquet")
TOKEN = "hf_stand_in"


@dataclass
class Repository:
    """One model or dataset.

    Attributes:
        branches: the commit of each branch or tag.
        commits: the files of each commit, content by path.
        gated: only who has :data:`TOKEN` may load it.
        size_said: another size than a file has, by path.
        cut: after so many bytes the first answer with a file breaks off, by path; each happens once.
        damaged: content that is sent in a file's place, by path.
    """

    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    gated: bool = False
    size_said: dict[str, int] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    damaged: dict[str, bytes] = field(default_factory=dict)

    def commit(self, files: Mapping[str, bytes] | Path, branch: str = "main") -> str:
        """Add a commit to a branch, with the files of a mapping or a folder; its name."""
        if isinstance(files, Path):
            files = {str(path.relative_to(files)): path.read_bytes() for path in files.rglob("*") if path.is_file()}
        content = json.dumps({path: hashlib.sha256(data).hexdigest() for path, data in sorted(files.items())})
        name = hashlib.sha1(f"{self.branches.get(branch)}{content}".encode()).hexdigest()
        self.commits[name], self.branches[branch] = dict(files), name
        return name

    def found(self, revision: str) -> str | None:
        """The commit that a revision is; None where there is none."""
        return revision if revision in self.commits else self.branches.get(revision)


@dataclass
class Hub:
    """What the server has: repositories by kind and id, other ids of the same, and what it was asked.

    Before each answer it calls ``watching`` with the path.
    """

    address: str = ""
    repositories: dict[tuple[str, str], Repository] = field(default_factory=dict)
    renamed: dict[tuple[str, str], str] = field(default_factory=dict)
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    watching: Callable[[str], object] = lambda path: None

    def add(self, name: str, files: Mapping[str, bytes] | Path, kind: str = "models", **about) -> Repository:
        """A new repository with one commit."""
        repository = self.repositories[kind, name] = Repository(**about)
        repository.commit(files)
        return repository

    def downloads(self, end: str) -> list[str | None]:
        """The range of each request for the content of a file whose path ends so; None is the whole file."""
        return [given for method, path, given in self.asked if method == "GET" and path.endswith(end)]


class _Refused(Exception):
    """An answer that is no file: status, code and message."""


def _etag(path: str, data: bytes) -> str:
    """The name of a file's content: SHA-256 of a large file, git's of another."""
    if path.endswith(LARGE):
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append((self.command, path, self.headers.get("Range")))
        self.hub.watching(path)
        try:
            self._answer(*path.strip("/").split("/"))
        except _Refused as refused:
            status, code, message = refused.args
            about = {"X-Error-Code": code, "X-Error-Message": message}
            self._send(status, json.dumps({"error": message}).encode(), about)

    do_HEAD = do_POST = do_GET

    def log_message(self, *_):
        pass

    def _answer(self, *parts: str) -> None:
        raw = urlsplit(self.path).path.strip("/").split("/")
        if parts[0] == "content":  # where the redirects lead: content / kind / id / commit / path
            kind, owner, name, commit = parts[1:5]
            repository, path = self.hub.repositories[kind, f"{owner}/{name}"], "/".join(parts[5:])
            about = {} if path.endswith(LARGE) else {"X-Repo-Commit": commit}
            return self._content(repository, path, repository.commits[commit][path], about)
        if parts[0] == "api":
            kind, name, what = parts[1], "/".join(parts[2:4]), raw[4:]
            repository = self._repository(kind, name)
            if what == ["auth-check"]:
                self._refuse_restricted(name, repository)
            commit = self._commit(repository, unquote(what[1]) if len(what) > 1 else "main")
            return self._described(kind, name, repository, commit, what)
        kind = "datasets" if parts[0] == "datasets" else "models"
        raw = raw[1:] if kind == "datasets" else raw
        name, revision, path = "/".join(raw[:2]), unquote(raw[3]), unquote("/".join(raw[4:]))
        if renamed := self.hub.renamed.get((kind, name)):
            return self._send(307, b"", {"Location": self.path.replace(name, renamed)})
        repository = self._repository(kind, name)
        self._refuse_restricted(name, repository)
        commit = self._commit(repository, revision)
        files = repository.commits[commit]
        if path not in files:
            raise _Refused(404, "EntryNotFound", "Entry not found")
        is_large, size = path.endswith(LARGE), repository.size_said.get(path, len(files[path]))
        host = self.hub.address.replace("127.0.0.1", "localhost") if is_large else ""
        about = {
            "Location": f"{host}/content/{kind}/{name}/{commit}/{path}",
            "X-Repo-Commit": commit,
            "X-Linked-Size": str(size),
            "X-Linked-Etag": f'"{_etag(path, files[path])}"',
        }
        self._send(302 if is_large else 307, b"", about)

    def _repository(self, kind: str, name: str) -> Repository:
        repository = self.hub.repositories.get((kind, self.hub.renamed.get((kind, name), name)))
        has_token = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        if repository is None:  # which may also be private
            raise _Refused(404 if has_token else 401, "RepoNotFound", "Repository not found")
        return repository

    def _refuse_restricted(self, name: str, repository: Repository) -> None:
        """Of a restricted repository everybody may know what is there, but not have it."""
        if repository.gated and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise _Refused(401, "GatedRepo", f"Access to {name} is restricted. You must be authenticated to access it.")

    def _commit(self, repository: Repository, revision: str) -> str:
        if (commit := repository.found(revision)) is None:
            raise _Refused(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return commit

    def _described(self, kind: str, name: str, repository: Repository, commit: str, what: list[str]) -> None:
        entries = []
        for path, data in sorted(repository.commits[commit].items()):
            entry = {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
            large = {"lfs": {"oid": _etag(path, data), "size": len(data), "pointerSize": 130}}
            entries.append(entry | (large if path.endswith(LARGE) else {}))
        folders = sorted({path.rpartition("/")[0] for path in repository.commits[commit] if "/" in path})
        entries += [{"type": "directory", "path": path, "size": 0, "oid": "0" * 40} for path in folders]
        if what == ["auth-check"]:
            answer = {}
        elif not what or what[0] == "revision":
            siblings = [{"rfilename": entry["path"]} for entry in entries if entry["type"] == "file"]
            about = {"id": name, "sha": commit, "private": False, "gated": repository.gated and "auto", "tags": []}
            answer = about | {"downloads": 0, "likes": 0, "siblings": siblings}
        elif what[0] == "paths-info":
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            is_json = "json" in self.headers.get("Content-Type", "")
            paths = json.loads(body)["paths"] if is_json else parse_qs(body)["paths"]
            answer = [entry for entry in entries if entry["path"] in paths]
        elif what[0] == "tree":
            below = unquote("/".join(what[2:]))
            whole = parse_qs(urlsplit(self.path).query).get("recursive", ["False"])[0].lower() in ("true", "1")
            if below and below not in folders:
                raise _Refused(404, "EntryNotFound", f"{below} does not exist")
            inside = [entry for entry in entries if not below or entry["path"].startswith(f"{below}/")]
            start = len(below) + 1 if below else 0
            answer = [entry for entry in inside if whole or "/" not in entry["path"][start:]]
        else:
            raise _Refused(404, "EntryNotFound", f"the stand-in has no {what[0]}")
        self._send(200, json.dumps(answer).encode(), {"Content-Type": "application/json", "X-Repo-Commit": commit})

    def _content(self, repository: Repository, path: str, data: bytes, about: dict) -> None:
        """A file or a range of it; of another host it has no commit."""
        about |= {"ETag": f'"{_etag(path, data)}"', "Accept-Ranges": "bytes"}
        data = repository.damaged.get(path, data)
        first, status = 0, 200
        if given := self.headers.get("Range"):
            start, _, end = given.removeprefix("bytes=").partition("-")
            first = int(start) if start else len(data) - int(end)
            last = int(end) if start and end else len(data) - 1
            about["Content-Range"], status = f"bytes {first}-{last}/{len(data)}", 206
            data = data[first : last + 1]
        cut = repository.cut.pop(path, None) if self.command == "GET" else None
        self._send(status, data, about, cut)

    def _send(self, status: int, data: bytes, about: Mapping[str, str], cut: int | None = None) -> None:
        self.send_response(status)
        for name, value in about.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data[:cut])
        if cut is not None:
            self.wfile.flush()
            self.close_connection = True


@contextmanager
def running_hub() -> Iterator[Hub]:
    """A hub that answers at ``address`` until the context ends."""
    hub = Hub()
    with running(type("Handler", (_Handler,), {"hub": hub})) as hub.address:
        yield hub
