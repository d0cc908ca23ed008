"""Services: what is sent, what comes back, what is kept, and what becomes of every kind of failure."""

import contextlib
import gzip
import itertools
import json
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from http_services import answered, scored, serving
from hypothesis import given
from hypothesis import strategies as st
from wording import says

from evenlight.core.addresses import checked_address
from evenlight.core.errors import InputError
from evenlight.models.architectures.service import Asking, Service
from evenlight.models.services import client
from evenlight.models.services.asking import CachedService
from evenlight.models.services.shapes import UnusableAnswer, body_of, compiled, parsed, probabilities_in
from evenlight.models.services.store import Answers

TEXTS = [f"text number {number} here" for number in range(10)]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)


@pytest.fixture
def served():
    with serving() as service:
        yield service


@pytest.fixture
def ask(served, tmp_path):
    """Asks the service as a new job would; gives probabilities, and the job's service."""

    def ask(texts=TEXTS, classes=None, policy=None, **settings):
        policy = {"batch": 4, "asked_again": 0, "retries": 2} | (policy or {})
        settings = {"architecture": "service", "address": served.address, "classes": classes or {}} | settings
        job = CachedService(Service.parse(settings), tmp_path / "answers", Asking(**policy))
        return job.probabilities(texts), job

    return ask


def expected(texts):
    return np.array([[entry["score"] for entry in answer] for answer in scored(texts)])


def failing(status, content=b"busy", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda body: (status, content, named)


def saying(value):
    return lambda body: (200, value if isinstance(value, bytes) else json.dumps(value).encode(), {})


# Asking ---------------------------------------------------------------------------------------------------------------


def test_each_text_is_asked_once_by_all_jobs(served, ask):
    found, job = ask([*TEXTS, TEXTS[0]])
    np.testing.assert_array_equal(found, expected([*TEXTS, TEXTS[0]]))
    assert job.labels == ["dull", "eager"]
    assert served.bodies[0] == {"inputs": TEXTS[:4], "parameters": {"top_k": None}}
    assert sorted(served.texts) == sorted(TEXTS)
    assert len(served.bodies) == 3
    again, second = ask(["new", *reversed(TEXTS)])
    np.testing.assert_array_equal(again, expected(["new", *reversed(TEXTS)]))
    assert served.texts[len(TEXTS) :] == ["new"]
    assert second.asked == 1


def test_another_version_and_another_request_are_asked_anew(served, ask):
    ask(TEXTS[:1])
    ask(TEXTS[:1], version="May")
    ask(TEXTS[:1], request="{inputs: texts}")
    assert served.texts == TEXTS[:1] * 3


def test_batches_and_connections_change_no_answer(served, ask):
    texts = [f"{number} eels" for number in range(60)]
    found, _ = ask(texts, policy={"batch": 1, "connections": 8})
    np.testing.assert_array_equal(found, expected(texts))
    assert len(served.bodies) == 60


def test_the_rate_holds_over_connections_and_jobs(served, ask, monkeypatch):
    """When requests may leave, not when they arrive: a busy machine delays some of them."""
    seconds, note = [], Answers.note_request
    monkeypatch.setattr(Answers, "note_request", lambda store: (seconds.append(time.time()), note(store)))
    policy = {"batch": 1, "connections": 3, "requests_per_minute": 600}
    ask(TEXTS[:3], policy=policy)
    ask(TEXTS[3:5], policy=policy)
    assert len(seconds) == len(served.bodies) == 5
    assert np.diff(seconds).min() > 0.09


def test_the_key_is_sent_and_told_nobody(served, ask, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("TINY_KEY", "s3cret ")
    served.script = [failing(503, b"who sent s3cret?"), answered]
    ask(TEXTS[:1], policy={"key_variable": "TINY_KEY"})
    ask(TEXTS[1:2], policy={"key_variable": "TINY_KEY", "key_header": "X-Api-Key: {key}"})
    assert [headers.get("Authorization") for headers in served.headers] == ["Bearer s3cret", "Bearer s3cret", None]
    assert served.headers[2]["X-Api-Key"] == "s3cret"
    served.script = [failing(401, b"s3cret is no key")]
    with pytest.raises(InputError, match=r"HTTP 401 Unauthorized: <key> is.*look at"):
        ask(TEXTS[2:3], policy={"key_variable": "TINY_KEY"})
    assert "s3cret" not in "".join(capsys.readouterr())
    assert b"s3cret" not in b"".join(path.read_bytes() for path in (tmp_path / "answers").iterdir())


@pytest.mark.parametrize(("key", "said"), [(None, "is not set"), ("a\nX-Other: b", "holds what is no")])
def test_a_key_that_cannot_be_sent_is_refused_before_anything_is(served, ask, monkeypatch, key, said):
    monkeypatch.delenv("TINY_KEY", raising=False)
    if key:
        monkeypatch.setenv("TINY_KEY", key)
    with pytest.raises(InputError, match=rf"variable TINY_KEY \(models.<model>.asking.key_variable\) {said}"):
        ask(policy={"key_variable": "TINY_KEY"})
    assert served.bodies == []


def test_a_password_file_does_not_replace_the_key(served, ask, monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password mine\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    ask(TEXTS[:1])
    assert "Authorization" not in served.headers[0]


# Failing --------------------------------------------------------------------------------------------------------------

NAN = b'[[{"label": "dull", "score": NaN}, {"label": "eager", "score": 1}]]'
NONSENSE = {
    "no_json": (b"<html>down for repair</html>", "is no JSON .*: <html>down for repair"),
    "not_a_number": (NAN, "NaN, which is no number of JSON"),
    "negative": ([[{"label": "dull", "score": -0.5}, {"label": "eager", "score": 1.5}]], "is -0.5, which is no prob"),
    "text_as_score": ([[{"label": "dull", "score": "1"}, {"label": "eager", "score": 0}]], 'is "1", which is no prob'),
    "not_summing": (
        [[{"label": "dull", "score": 0.2}, {"label": "eager", "score": 0.3}]],
        "add up to 0.5 and not to 1",
    ),
    "too_many": ([[{"label": "dull", "score": 1}]] * 2, "gives 2 answers to 1 texts"),
    "an_error": ({"error": "loading"}, "gives no list of answers to 1 texts"),
    "other_labels": ([[{"label": "dull", "score": 1}]], "probabilities of dull, where others have dull, eager"),
    "nothing": (b"", "is no JSON"),
    "deep": (b"[" * 100000, "is no JSON"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_has_a_second_chance_and_is_then_refused_with_what_was_said(served, ask, name):
    reply, said = NONSENSE[name]
    ask(["known before"])
    served.script = [saying(reply)]
    found, _ = ask(TEXTS[:1])
    np.testing.assert_array_equal(found, expected(TEXTS[:1]))
    served.script = [saying(reply)] * 2
    with pytest.raises(InputError, match=rf"{said}(.|\n)*after 2 attempts(; .*)?. What.*kept"):
        ask(TEXTS[1:2])
    assert served.script == []
    served.bodies.clear()
    found, _ = ask(["known before", *TEXTS[:2]])
    assert served.texts == TEXTS[1:2]
    np.testing.assert_array_equal(found, expected(["known before", *TEXTS[:2]]))


def test_answers_before_a_failure_are_kept_and_not_asked_again(served, ask):
    served.script = [answered, answered, failing(400, b"no such text")]
    with pytest.raises(InputError, match=r"service http://127.*HTTP 400.*no such text.*What it has"):
        ask()
    before = served.texts[:8]
    served.bodies.clear()
    found, _ = ask()
    assert sorted(served.texts) == sorted(set(TEXTS) - set(before))
    np.testing.assert_array_equal(found, expected(TEXTS))


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_busy_service_is_asked_again_and_not_for_ever(served, ask, status):
    served.script = [failing(status)] * 2
    found, _ = ask(TEXTS[:1])
    np.testing.assert_array_equal(found, expected(TEXTS[:1]))
    served.script = [failing(status)] * 9
    with pytest.raises(InputError, match=rf"HTTP {status} .*: busy, after 3 attempts") as refused:
        ask(TEXTS[1:2])
    assert ("requests_per_minute" in str(refused.value)) == (status == 429)
    assert len(served.script) == 6


def test_it_waits_as_long_as_the_service_asks_within_bounds(served, ask):
    served.script = [failing(429, Retry_After="1")]
    started = time.monotonic()
    ask(TEXTS[:1])
    assert time.monotonic() - started >= 1
    served.script = [failing(429, Retry_After="4000")]
    with pytest.raises(InputError, match=r"4000.*1 attempt"):
        ask(TEXTS[1:2])


def test_no_redirection_is_followed(served, ask):
    served.script = [failing(307, Location="http://127.0.0.1:9/elsewhere")]
    with pytest.raises(InputError, match=r"HTTP 307.*http://127.0.0.1:9/elsewhere"):
        ask(TEXTS[:1])


def test_a_slow_service_and_one_that_hangs_up_are_asked_again(served, ask):
    slow = threading.Event()
    served.script = [lambda body: (slow.wait(60), answered(body))[1], failing(200, b"[[", Content_Length="900")]
    found, _ = ask(TEXTS[:1], policy={"timeout": 1, "retries": 20})
    slow.set()
    np.testing.assert_array_equal(found, expected(TEXTS[:1]))
    assert len(served.bodies) >= 3  # on a busy machine others may be late, too


def dripping(sends_headers: bool, stopped: threading.Event) -> int:
    """The port of a service that answers a blank every now and then, for ever."""
    server = socket.create_server(("127.0.0.1", 0))

    def drip(connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            connection.sendall(b"Transfer-Encoding: chunked\r\n\r\n" if sends_headers else b"X-Long: ")
            while not stopped.wait(0.05):
                connection.sendall(b"1\r\n \r\n" if sends_headers else b" ")

    def serve() -> None:
        with contextlib.suppress(OSError), server:
            while not stopped.is_set():
                threading.Thread(target=drip, args=(server.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1]


@pytest.mark.parametrize("sends_headers", [True, False])
def test_a_service_that_drips_is_left_when_its_time_is_over(ask, sends_headers):
    stopped = threading.Event()
    # What is not bounded is ended by the service itself.
    end = threading.Timer(60, stopped.set)
    end.start()
    address = f"http://127.0.0.1:{dripping(sends_headers, stopped)}/"
    with pytest.raises(InputError, match=r"not complete after 0\.3 s\), after 1 attempt"):
        ask(address=address, policy={"retries": 0, "timeout": 0.3})
    assert not stopped.is_set()
    end.cancel()
    stopped.set()


def test_a_packed_answer_without_end_is_left_at_once(served, ask):
    served.script = [failing(200, gzip.compress(b" " * (65 << 20), 1), Content_Encoding="gzip")]
    started = time.process_time()
    with pytest.raises(InputError, match="more than 64 MiB"):
        ask(TEXTS[:1], policy={"retries": 0})
    assert time.process_time() - started < 5


def test_a_service_that_is_not_there_is_named(ask):
    message = r"service http://127.0.0.1:9/: no answer \(.*refused.*\), after 1 attempt; .*<model>.address"
    with pytest.raises(InputError, match=message):
        ask(address="http://127.0.0.1:9/", policy={"retries": 0})


def test_an_address_that_the_service_has_not_is_told(served, ask):
    served.script = [failing(404)]
    with pytest.raises(InputError, match=r"HTTP 404 .*; look at models.<model>.address, and .*models.<model>.called"):
        ask(TEXTS[:1])


def test_answers_that_change_are_noted_and_the_first_counts(served, ask):
    ask(TEXTS[:4])
    found, job = ask(policy={"asked_again": 3})
    assert job.notes == []
    again = served.texts[-3:]
    assert set(again) <= set(TEXTS[:4])
    served.usual = lambda body: saying(
        [[{"label": "dull", "score": 0.5}, {"label": "eager", "score": 0.5}]] * len(body["inputs"])
    )(body)
    second, job = ask([*TEXTS, "new"], policy={"asked_again": 3})
    np.testing.assert_array_equal(second[:-1], found)
    largest = max(np.abs(expected([text]) - 0.5).max() for text in served.texts[-3:])
    assert job.notes == [says("of 3 texts", "3 had other", f"up to {largest:.2g}", "first answer counts")]
    # Asked nothing, it is not asked again either.
    count = len(served.bodies)
    assert ask(policy={"asked_again": 3})[1].notes == []
    assert len(served.bodies) == count


# Keeping --------------------------------------------------------------------------------------------------------------


def test_jobs_at_the_same_time_ask_nothing_twice(served, ask):
    results = []
    threads = [threading.Thread(target=lambda: results.append(ask()[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all((each == expected(TEXTS)).all() for each in results)
    assert sorted(served.texts) == sorted(TEXTS)


# Keeps an answer of its own and reads it, in each folder that is named on a line of the standard input.
KEEPING = """
import sys
sys.path[:0] = sys.argv[2:]
from evenlight.models.services.store import Answers
for line in sys.stdin:
    answers = Answers(line.strip(), {})
    answers.keep({sys.argv[1]: {"dull": 0.25, "eager": 0.75}})
    print(answers.known([sys.argv[1]])[sys.argv[1]].tolist(), answers.labels, flush=True)
"""
# As above, and ends itself before the statement of that number.
KILLED_AT = """
import os, sqlite3, sys
connect = sqlite3.connect
def connected(*arguments, **settings):
    opened, left = connect(*arguments, **settings), iter(range(int(sys.argv[1]), -1, -1))
    opened.set_trace_callback(lambda statement: next(left) or os.kill(os.getpid(), 9))
    return opened
sqlite3.connect = connected
"""
KEPT = "[0.25, 0.75] ['dull', 'eager']"


def keeping(program: str, name: str) -> subprocess.Popen:
    command = [sys.executable, "-c", program, name, *filter(None, sys.path)]
    return subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_many_jobs_that_make_the_file_at_once_all_find_its_tables(tmp_path):
    jobs = [keeping(KEEPING, str(number)) for number in range(8)]
    folders = [str(tmp_path / f"new{number}") for number in range(20)]
    for folder in folders:
        for job in jobs:
            job.stdin.write(f"{folder}\n")
            job.stdin.flush()
        for job in jobs:
            assert job.stdout.readline().strip() == KEPT, job.communicate()[1]
    for job in jobs:
        assert job.communicate() == ("", "")
    assert [len(Answers(folder, {})) for folder in folders] == [len(jobs)] * len(folders)


def test_a_job_that_is_killed_at_any_step_leaves_a_file_of_which_others_go_on(tmp_path):
    for step in itertools.count():
        folder = tmp_path / str(step)
        job = keeping(KILLED_AT + KEEPING, str(step))
        said, _ = job.communicate(f"{folder}\n")
        answers = Answers(folder, {})
        if job.returncode == 0:
            break
        assert (job.returncode, said) == (-signal.SIGKILL, "")
        assert answers.path.exists()
        answers.keep({"text": {"dull": 0.5, "eager": 0.5}})
        np.testing.assert_array_equal(answers.known(["text"])["text"], [0.5, 0.5])
        assert answers.labels == ["dull", "eager"]
    assert said.strip() == KEPT
    assert step > 5


def test_answers_that_cannot_be_written_are_read(served, ask, monkeypatch):
    found, _ = ask()
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **settings: connect(f"{path.as_uri()}?mode=ro", uri=True))
    again, _ = ask()
    np.testing.assert_array_equal(again, found)
    assert len(served.texts) == len(TEXTS)


def test_a_file_that_holds_no_answers_is_named(ask):
    _, job = ask()
    job.store.path.write_bytes(b"no database, but long enough to look like one" * 99)
    with pytest.raises(InputError, match=r"\.sqlite:.*service.*move the file"):
        ask()


def test_the_file_says_whose_answers_it_holds_and_holds_no_text(served, ask):
    _, job = ask()
    [[description]] = sqlite3.connect(job.store.path).execute("SELECT * FROM service").fetchall()
    assert json.loads(description)["address"] == served.address
    assert b"text number" not in job.store.path.read_bytes()
    assert len(job.store) == len(TEXTS)


# Shapes ---------------------------------------------------------------------------------------------------------------


def test_other_shapes_by_two_expressions(served, ask):
    served.usual = lambda body: saying({"results": [{"p": {"no": 0.25, "yes": 0.75}} for _ in body["documents"]]})(body)
    shapes = {"request": "{documents: texts[].{content: @}}", "answers": "results[].p"}
    found, job = ask(["a", "b"], **shapes)
    assert served.bodies == [{"documents": [{"content": "a"}, {"content": "b"}]}]
    np.testing.assert_array_equal(found, [[0.25, 0.75]] * 2)
    assert job.labels == ["no", "yes"]


def test_one_text_as_hugging_face_answers_it():
    flat = [{"label": "a", "score": 0.4}, {"label": "b", "score": 0.6}]
    assert probabilities_in(flat, "@", 1) == probabilities_in([flat], "@", 1) == [{"a": 0.4, "b": 0.6}]


def test_labels_that_do_not_exclude_each_other_need_not_add_up():
    answer = [{"toxic": 0.9, "threat": 0.8}]
    assert probabilities_in(answer, "@", 1, excluding=False) == answer
    with pytest.raises(UnusableAnswer, match=r"add up to 1\.7"):
        probabilities_in(answer, "@", 1)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(0, 2) | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["label", "score", "x"]), inner, max_size=3)
        ),
        max_leaves=9,
    )
)
def test_whatever_comes_back_is_probabilities_or_refused(value):
    """As JSON, which has no other values."""
    try:
        found = probabilities_in(parsed(json.dumps(value).encode()), "@", 1)
    except UnusableAnswer:
        return
    [of_text] = found
    assert all(isinstance(label, str) and 0 <= score <= 1 for label, score in of_text.items())
    assert abs(sum(of_text.values()) - 1) <= 0.02


@pytest.mark.parametrize("expression", ["{inputs: ", "texts[", "unknown(texts)"])
def test_an_expression_that_is_none_is_refused(expression):
    with pytest.raises(InputError, match=r"JMESPath|cannot be used"):
        compiled(expression) and body_of(expression, ["a"])


# Addresses ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "https://models.org/a?api-version=2024-10-21&deployment=gpt-4o-mini-2024-07-18",
        "http://localhost/a",
        "http://127.0.0.1:80",
        "http://[::1]:8080/predict",
    ],
)
def test_addresses_that_may_be_asked(address):
    assert checked_address(address) == address


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://models.org/a", "unencrypted"),
        ("http://127.0.0.1.models.org/", "unencrypted"),
        ("http://localhost@models.org/", r"name.*password"),
        ("https://me:secret@models.org/", r"name.*password"),
        ("http://10.0.0.1/", "unencrypted"),
        ("https://models.org/a?api_key=mine", r"key in it \(api_key\).*key_variable"),
        ("https://models.org/a?api-version=2024-10-21&Code=mine", r"key in it \(Code\)"),
        ("https://models.org/a?v=AIzaSyA1b2c3d4e5f6g7h8", "key in it"),
        ("https://models.org/a#access_token=mine", "key in it"),
        ("ftp://models.org/", "no address of HTTP"),
        ("file:///etc/passwd", "no address of HTTP"),
        ("models.org", "no address of HTTP"),
        ("https://[::1/", "no address"),
        ("https://host:99999999/", "no address"),
    ],
)
def test_addresses_that_may_not_be_asked(address, said):
    with pytest.raises(InputError, match=said):
        checked_address(address)


def test_unencrypted_by_permission():
    assert checked_address("http://models.org/a", plain_http=True) == "http://models.org/a"
