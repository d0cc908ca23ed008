"""Studies whose results lie in a bucket, and whose jobs run in pods: the same files as on one machine."""

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import kubernetes_api
import pytest
import yaml
from running import (
    CONFIGURATION,
    PROJECT,
    SMALLER,
    configuration,
    contents,
    copy_of_project,
    environment,
    listed_jobs,
    planned_jobs,
    results,
    without_times,
)
from test_concepts_study import STUDY as CONCEPTS
from test_strategies_study import STUDY as STRATEGIES

pytestmark = pytest.mark.slow

PATIENCE = 900  # seconds until a test gives up, much more than any machine should need
PROFILE = "profiles/kubernetes"

# A bucket on this machine; it ends with whoever started it, or earlier.
STORAGE = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), sep=":", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def storage(kubernetes_python) -> Iterator[str]:
    """The address of a service that keeps buckets."""
    command = [kubernetes_python, "-c", STORAGE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as service:
        lines = iter(service.stdout.readline, "")
        yield "http://" + next(line for line in lines if line.startswith("127.0.0.1:")).strip()
        service.stdin.close()
        service.kill()


def variables(python: Path, storage: str) -> dict[str, str]:
    """The environment of a run with a bucket."""
    # Its commands go before those of the environment that runs the tests.
    path = os.pathsep.join([str(python.parent), environment()["PATH"]])
    keys = {f"SNAKEMAKE_STORAGE_S3_{name}_KEY": "none" for name in ("ACCESS", "SECRET")}
    return environment(PATH=path, SNAKEMAKE_STORAGE_S3_ENDPOINT_URL=storage, **keys)


def snakemake(project: Path, python: Path, storage: str, *arguments: str, **more: str) -> str:
    """Run Snakemake in the environment with the plugins to its end, which must be a success; what it said."""
    done = subprocess.run(
        [python, "-m", "snakemake", *arguments, "--configfile", CONFIGURATION],
        cwd=project,
        env=variables(python, storage) | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def in_bucket(name: str) -> tuple[str, ...]:
    """The flags that keep everything in a bucket."""
    return "--default-storage-provider", "s3", "--default-storage-prefix", f"s3://{name}/here"


def kept(storage: str, bucket: str, path: str | Path) -> bytes:
    """What the bucket has under the path of a file."""
    # Whose signature it is, the service does not check.
    asked = urllib.request.Request(f"{storage}/{bucket}/here/{path}", headers={"Authorization": "AWS none:none"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return answer.read()


@pytest.mark.parametrize("study", [STRATEGIES, CONCEPTS], ids=["strategies", "concepts"])
def test_other_kinds_are_planned_with_a_bucket_as_without(study, kubernetes_python, storage, tmp_path):
    # A bucket does not keep the record of looks.
    study = study | {"statistics": study["statistics"] | {"looks": []}}
    project = copy_of_project(tmp_path / "project", study)
    (project / "own.yaml").write_text("{}")  # which the study of concepts names
    said = snakemake(project, kubernetes_python, storage, "--dry-run", "all", *in_bucket("kinds"))
    planned = listed_jobs(said)
    assert len(planned) > 10
    assert planned == planned_jobs(project, "all")


def test_the_same_jobs_are_planned_with_a_bucket(kubernetes_python, storage, tmp_path):
    """Also those of a corpus; with the profile, whose cluster a dry run does not ask."""
    demo = yaml.safe_load((PROJECT / "config/demo.yaml").read_text(encoding="utf-8"))
    books = demo["datasets"]["demo_books"] | {"file": "results/tiny/corpus/resolved.parquet"}
    project = copy_of_project(tmp_path / "project", SMALLER | {"corpus": demo["corpus"], "datasets": {"books": books}})
    said = snakemake(project, kubernetes_python, storage, "--profile", PROFILE, "--dry-run", "all")
    planned = listed_jobs(said)
    assert {"extract_paragraphs", "import_dataset", "train", "draw_effects", "write_page"} <= {
        rule for rule, _ in planned
    }
    assert planned == planned_jobs(project, "all")


def test_a_study_in_a_bucket_is_that_of_one_machine(finished_smaller, kubernetes_python, storage, tmp_path):
    """Then nothing is left to do, in whatever folder; of what it made, none lies in the folder in which it ran."""
    project = copy_of_project(tmp_path / "project", SMALLER)
    bucket = in_bucket("study")
    snakemake(project, kubernetes_python, storage, "--cores", "2", *bucket)
    expected = without_times(contents(results(finished_smaller)))
    shown = [name for name in expected if name.startswith(("tables/", "figures/"))]
    assert len(shown) > 20
    folder = f"results/{configuration(project)['study']}"
    assert [name for name in shown if kept(storage, "study", f"{folder}/{name}") != expected[name]] == []
    assert kept(storage, "study", "logs/tiny/import_dataset/demo.log")
    assert not (project / "results").exists()

    elsewhere = copy_of_project(tmp_path / "elsewhere", SMALLER)
    assert listed_jobs(snakemake(elsewhere, kubernetes_python, storage, "--dry-run", *bucket)) == set()

    # A further explainer is scored in one job with the others, whose files are in the bucket already.
    study = SMALLER | {"explainers": SMALLER["explainers"] | {"gradient": {"method": "saliency"}}}
    (elsewhere / CONFIGURATION).write_text(yaml.safe_dump(study, sort_keys=False))
    score = f"{folder}/scores/demo/ola_cea/seed0/complexity/gradient.parquet"
    snakemake(elsewhere, kubernetes_python, storage, score, "--cores", "1", *bucket)
    assert kept(storage, "study", score)


# What `aws s3 sync` does: files of a bucket under their paths, with their dates.
FETCH = """
import os, sys
import boto3
service, bucket = boto3.client("s3", endpoint_url=sys.argv[1], region_name="us-east-1"), sys.argv[2]
for each in service.list_objects_v2(Bucket=bucket)["Contents"]:
    path, date = each["Key"].removeprefix("here/"), each["LastModified"].timestamp()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    service.download_file(bucket, each["Key"], path)
    os.utime(path, (date, date))
"""


def test_what_a_bucket_keeps_is_explained_once_it_is_fetched(kubernetes_python, archive_python, storage, tmp_path):
    project = copy_of_project(tmp_path / "project", SMALLER)
    file = "results/tiny/datasets/demo/items.parquet"
    snakemake(project, kubernetes_python, storage, file, "--cores", "1", *in_bucket("fetched"))

    def tool(name: str, *arguments: str, python: str | Path = sys.executable) -> subprocess.CompletedProcess:
        command = [python, f"workflow/tools/{name}.py", *arguments]
        variables = environment(PYTHONPATH="workflow/scripts")
        return subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True)

    packing = ("archive_study", "--study", "tiny", "--output", "tiny.zip")
    for done in (tool("explain_result", file), tool(*packing, python=archive_python)):
        assert done.returncode == 1
        assert f"{file}: lies in a" in done.stderr
        assert "aws s3 sync s3://fetched/here/results results" in done.stderr
        assert "aws s3 sync s3://fetched/here/logs logs" in done.stderr
    (project / "fetch.py").write_text(FETCH)
    keys = {f"AWS_{key}": "none" for key in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")}
    command = [kubernetes_python, "fetch.py", storage, "fetched"]
    subprocess.run(command, cwd=project, env=environment(**keys), check=True)
    done = tool("explain_result", file)
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "import_dataset: 1 job" in words
    assert "resources/demo/sentences.yaml: SHA-256" in words
    assert '"classes": "binary"' in words
    assert os.uname().nodename in words
    assert "WARNING" not in words
    # Nothing of it is made again here: dates are those of the bucket.
    assert "import_dataset" not in {rule for rule, _ in planned_jobs(project)}


def test_jobs_run_in_pods(finished_smaller, kubernetes_python, storage, tmp_path):
    """Each in an empty folder, with the GPU that it claims; one that is killed for its memory has another attempt."""
    project = copy_of_project(tmp_path / "project", SMALLER | {"device": "auto"})
    # What git knows is what pods get.
    for arguments in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *arguments], cwd=project, check=True)
    model = "results/tiny/models/demo/ola_cea/seed0/model.safetensors"
    plugins = tmp_path / "plugins"
    asking = [kubernetes_python, "-m", "pip", "download", "-qq", "--no-deps", "--dest", plugins]
    subprocess.run([*asking, "-r", PROJECT / "envs" / "kubernetes.txt"], check=True)
    installing = f"export PIP_NO_INDEX=1 PIP_NO_DEPS=1 PIP_FIND_LINKS={plugins}"
    image = {name: variables(kubernetes_python, storage)[name] for name in ("PATH", "HOME")}
    with kubernetes_api.answering(tmp_path / "cluster", **image) as cluster:
        cluster.needed = 10_000
        here = (
            "--profile",
            PROFILE,
            *in_bucket("pods"),
            "--precommand",
            installing,
            "--seconds-between-status-checks",
            "1",
        )
        kubeconfig = str(cluster.folder / "kubeconfig")
        try:
            snakemake(project, kubernetes_python, storage, model, *here, KUBECONFIG=kubeconfig)
        finally:
            for pod in cluster.pods.values():
                print(pod.said.read_text(), file=sys.stderr)
    # The import runs where Snakemake does.
    first, second = cluster.pods.values()
    assert (first.memory, first.status) == (8000, kubernetes_api.KILLED)
    assert (second.memory, second.status) == (16000, 0)
    limits = second.container["resources"]["limits"]
    assert limits == {"cpu": "1000m", "memory": "16000M", "ephemeral-storage": "20000M", "nvidia.com/gpu": "1"}
    assert (
        second.container["image"] == yaml.safe_load((project / PROFILE / "config.yaml").read_text())["container-image"]
    )
    assert kept(storage, "pods", model) == (finished_smaller / model).read_bytes()
    assert cluster.secrets == {}
