import hashlib
import http.server
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from wording import says

from evenlight.core import sources
from evenlight.core.errors import InputError

NAME = "made_up/sentences.txt"
CONTENT = b"He goes.\nShe goes.\n" * 10_000
SCRIPTS = Path(sources.__file__).parents[2]


@dataclass
class Server:
    """A server on this machine whose next answers a test writes down in advance; the last one is repeated."""

    url: str = ""
    answers: list[str] = field(default_factory=lambda: ["whole"])
    requests: int = 0


@pytest.fixture
def server():
    state = Server()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer = state.answers[min(state.requests, len(state.answers) - 1)]
            state.requests += 1
            if answer.isdigit():
                self.send_error(int(answer))
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT if answer == "whole" else CONTENT[: len(CONTENT) // 2])
            if answer == "stalled":
                self.wfile.flush()
                stop.wait(30)

        def log_message(self, *arguments):
            pass

    stop = threading.Event()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        threading.Thread(target=served.serve_forever, args=[0.01], daemon=True).start()
        state.url = f"http://127.0.0.1:{served.server_port}/{NAME}"
        yield state
        stop.set()
        served.shutdown()


@pytest.fixture(autouse=True)
def made_up_source(server, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    source = sources.Source(server.url, hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setitem(sources.SOURCES, NAME, source)


@pytest.fixture
def output(tmp_path) -> Path:
    return tmp_path / "output" / "sentences.txt"


def fetch(output: Path, mirror: Path | None = None):
    sources.fetch(NAME, output, mirror, waits=(0, 0, 0))


def in_mirror(folder: Path, content: bytes) -> Path:
    """Put ``content`` into ``folder`` as the made-up source and return the folder."""
    file = folder / NAME
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return folder


def nothing_is_left(output: Path) -> bool:
    return not list(output.parent.iterdir())


def test_a_file_is_downloaded(server, output):
    fetch(output)
    assert output.read_bytes() == CONTENT
    assert [path.name for path in output.parent.iterdir()] == [output.name]
    assert server.requests == 1


@pytest.mark.parametrize("failure", ["503", "429", "truncated"])
def test_a_download_is_tried_again(server, output, failure):
    server.answers = [failure, failure, "whole"]
    fetch(output)
    assert output.read_bytes() == CONTENT
    assert server.requests == 3


@pytest.mark.parametrize("failure", ["503", "truncated"])
def test_a_download_is_given_up_in_the_end(server, output, failure):
    server.answers = [failure]
    with pytest.raises(InputError, match="cannot be downloaded"):
        fetch(output)
    assert server.requests == 4
    assert nothing_is_left(output)


def test_waits_grow_and_are_kept(server, output, monkeypatch):
    waited = []
    monkeypatch.setattr(time, "sleep", waited.append)
    server.answers = ["503"]
    with pytest.raises(InputError):
        sources.fetch(NAME, output)
    assert waited == list(sources.WAITS) == sorted(set(waited))


def test_a_missing_page_is_not_asked_for_again(server, output, tmp_path):
    server.answers = ["404"]
    with pytest.raises(InputError, match=rf"404.*place the file at {tmp_path / NAME}"):
        fetch(output, mirror=tmp_path)
    assert server.requests == 1
    assert nothing_is_left(output)


def test_no_network(output, monkeypatch):
    # Nothing listens on port 1.
    monkeypatch.setitem(sources.SOURCES, NAME, sources.Source("http://127.0.0.1:1/file", "0" * 64))
    with pytest.raises(InputError, match=rf"<folder>/{NAME}.*EVENLIGHT_MIRROR"):
        fetch(output)
    assert nothing_is_left(output)


def test_a_download_with_a_wrong_checksum_is_refused(server, output, monkeypatch):
    monkeypatch.setitem(sources.SOURCES, NAME, sources.Source(server.url, "0" * 64))
    found = hashlib.sha256(CONTENT).hexdigest()
    with pytest.raises(InputError, match=f"{NAME}: wrong checksum: .* {'0' * 64}, found {found};"):
        fetch(output)
    assert nothing_is_left(output)


def test_an_older_output_survives_a_failed_download(server, output):
    output.parent.mkdir()
    output.write_text("older")
    server.answers = ["404"]
    with pytest.raises(InputError):
        fetch(output)
    assert output.read_text() == "older"


@pytest.mark.parametrize(("sent", "leaves_temporary_file"), [(signal.SIGINT, False), (signal.SIGKILL, True)])
def test_a_killed_download_leaves_no_output(server, output, sent, leaves_temporary_file):
    server.answers = ["stalled", "whole"]
    # A test run in the background, as by nohup, ignores the interrupt, and its children with it.
    code = f"""
        import signal
        from pathlib import Path
        from evenlight.core import sources
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sources.SOURCES["{NAME}"] = sources.Source("{server.url}", "{sources.SOURCES[NAME].sha256}")
        sources.fetch("{NAME}", Path("{output}"))
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=SCRIPTS, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 600
    # The rest of a half-sent body never comes, so the process is still writing when the signal arrives.
    while not any(path.stat().st_size for path in output.parent.glob(".*")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(sent)
    assert process.wait(timeout=600) != 0
    assert not output.exists()
    assert nothing_is_left(output) is not leaves_temporary_file
    fetch(output)
    assert output.read_bytes() == CONTENT


def test_the_mirror_comes_first(server, output, tmp_path):
    fetch(output, mirror=in_mirror(tmp_path / "mirror", CONTENT))
    assert output.read_bytes() == CONTENT
    assert server.requests == 0


def test_what_the_mirror_lacks_is_downloaded(server, output, tmp_path):
    fetch(output, mirror=tmp_path)
    assert output.read_bytes() == CONTENT
    assert server.requests == 1


def test_a_wrong_checksum_in_the_mirror_is_refused(server, output, tmp_path):
    mirror = in_mirror(tmp_path / "mirror", b"something else")
    expected, found = sources.SOURCES[NAME].sha256, hashlib.sha256(b"something else").hexdigest()
    with pytest.raises(InputError, match=f"{mirror / NAME}: .* {expected}, found {found}; delete it"):
        fetch(output, mirror)
    assert server.requests == 0
    assert nothing_is_left(output)


def test_the_mirror_is_named_by_flag_or_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("EVENLIGHT_MIRROR", raising=False)
    assert sources.mirror_folder() is None
    monkeypatch.setenv("EVENLIGHT_MIRROR", str(tmp_path))
    assert sources.mirror_folder() == tmp_path
    (tmp_path / "other").mkdir()
    assert sources.mirror_folder(tmp_path / "other") == tmp_path / "other"


def test_a_mirror_that_does_not_exist_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENLIGHT_MIRROR", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"nowhere: .*not a folder; .*--mirror or EVENLIGHT_MIRROR"):
        sources.mirror_folder()


def test_an_unknown_source_is_refused(output):
    with pytest.raises(InputError, match=r"'unknown' is unknown; .*geco/binary_gender_all/train.jsonl"):
        sources.fetch("unknown", output)


def test_the_registry_is_pinned():
    for name, source in sources.SOURCES.items():
        if name == NAME:
            continue
        assert re.fullmatch(r"[0-9a-f]{64}", source.sha256), name
        assert source.url.startswith("https://"), name
        assert not name.startswith("/"), name
        assert ".." not in Path(name).parts, name
        # Upstream the folder of the ten draws has a name of its own.
        path = name.removeprefix("dialect/uncertainty/") if "uncertainty" in name else name.split("/", 1)[1]
        assert source.url.endswith("/" + path), name
        # A commit and not a branch, which could move.
        assert any(len(part) == 40 for part in source.url.split("/")), name


def test_script(output, tmp_path):
    """The command reports an unusable mirror in one line, without a traceback."""
    command = [sys.executable, str(SCRIPTS / "datasets/fetch_source.py"), "--name", "geco/binary_gender_all/test.jsonl"]
    command += ["--mirror", str(tmp_path / "nowhere"), "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_every_geco_file_of_the_mirror_is_accepted(mirror, tmp_path):
    names = [name for name in sources.SOURCES if name.startswith(("geco/", "geco_annotation/"))]
    assert len(names) == 8 + 4
    for name in names:
        sources.fetch(name, tmp_path / name, mirror)
        assert (tmp_path / name).read_bytes() == (mirror / name).read_bytes()


def test_advice_names_a_command_that_is_there_wherever_a_run_is_started(tmp_path, monkeypatch):
    for folder in (tmp_path, SCRIPTS, SCRIPTS.parents[1]):
        monkeypatch.chdir(folder)
        assert Path(sources.tool("convert_weights.py")).is_file()
    assert sources.tool("none.py") == "workflow/tools/none.py (of Evenlight's repository)"


def test_a_file_that_is_not_there_is_told_with_the_nearest_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "reviews.csv").touch()
    assert "mean data/reviews.csv?" in sources.missing("data/revews.csv")
    assert "mean data?" in sources.missing("date/reviews.csv")
    assert sources.missing("./elsewhere.csv") == says("./elsewhere.csv: no such file", "paths begin")
