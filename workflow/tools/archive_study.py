"""Pack a study into one archive: its results, its configuration, how each file was made, and checksums.

    make archive STUDY=demo

The archive is an RO-Crate (Workflow Run Crate): a zip file with `ro-crate-metadata.json`. The same results give the
same bytes. Where several configuration files are of the study, or it lies elsewhere, name it: CONFIGFILE=my_study.yaml.
`WITHOUT="models attributions"` leaves these folders out; figures and pages are drawn without them.
"""

import argparse
import json
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from evenlight.configuration import BUILTIN, written
from evenlight.core.errors import InputError
from evenlight.core.sources import SOURCES, digest
from evenlight.jobs import archive, command_line, own_files, provenance

REPOSITORY = Path(__file__).parents[2]
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
# Terms that the context of RO-Crate 1.1 does not have.
TERMS = {
    "sha256": "http://schema.org/sha256",
    "environment": "https://w3id.org/ro/terms/workflow-run#environment",
}
MEDIA = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".log": "text/plain",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".safetensors": "application/octet-stream",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".tsv": "text/tab-separated-values",
    ".yaml": "application/yaml",
}
UNLICENSED = "No licence was named. What is made of texts stands under the conditions of those texts as well."
README = """# The study `{study}`

`ro-crate-metadata.json` describes the files, `manifest-sha256.txt` has a checksum of each, and `provenance.json` says
how each was made. To check them and to draw a figure again, in a clone of the workflow:

    make unpack ARCHIVE=path/of/this/archive.zip
    python3 -m venv .venv && source .venv/bin/activate
    pip install -r envs/figures.txt
    snakemake --cores 1 --force results/{study}/figures/<any>.svg --configfile results/{study}/study.yaml
"""


def configuration_of(study: str) -> Path:
    """The configuration file of a study, by its name. Raises InputError where there is none, or more than one."""
    unpacked = Path("results", study, archive.CONFIGURATION)
    folders = (Path(), Path("config"), Path("config", "studies"))
    paths = [unpacked] if unpacked.is_file() else [path for folder in folders for path in sorted(folder.glob("*.yaml"))]
    found = [path for path in paths if _named(path) == study]
    if len(found) != 1:
        said = f"{' and '.join(map(str, found))} are" if found else "no file here or below config/ is"
        raise InputError(f"STUDY: {said} of the study '{study}'; name its file with CONFIGFILE=...")
    return found[0]


def _named(path: Path) -> str | None:
    """The study of a configuration file; None for one that is none."""
    try:
        return written(path).get("study")
    except InputError:
        return None


def check_complete(configuration: Path, trusts_archives: bool) -> None:
    """Refuse a study of which Snakemake would still make something."""
    trust = ["--config", "trust_parts=true"] if trusts_archives else []
    done = subprocess.run(
        ["snakemake", "--summary", "--configfile", str(configuration), *trust], capture_output=True, text=True
    )
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.startswith("results/")]
    if done.returncode or not rows:
        raise InputError(f"{configuration}: Snakemake cannot say what is there:\n{done.stderr.strip()[-2000:]}")
    if pending := [row for row in rows if row[-1] != "no update"]:
        records = provenance.Records()
        absent = (row[0] for row in pending if not Path(row[0]).is_file())
        if stored := next(filter(records.address_of, absent), None):
            raise InputError(f"{stored}: {provenance.stored_elsewhere(stored, records)}")
        # Files that are made beside a missing one are said to be ok.
        first = next((row for row in pending if row[-2] != "ok"), pending[0])
        raise InputError(
            f"{first[0]}: to be made ({first[-2]}), and {len(pending) - 1} other files; run "
            f"`snakemake --cores all --configfile {configuration}`, then pack the study"
        )


def own_parts(configuration: Path, study: str, trusts_archives: bool) -> dict[str, str]:
    """The code of one's own that a study runs, by the path beside its configuration in an archive.

    Raises:
        InputError: a file is named by a path that leads out of the study's folder or to a hidden one, or is no text.
    """
    config = written(configuration)
    own_files.locate(config, [configuration.parent, Path()], trusts_archives)
    texts = {}
    for _, _, name in own_files.named(config, BUILTIN):
        for file in own_files.files_of_class(name):
            below = Path(name.rpartition(":")[0]).parent / file.relative_to(own_files.path_of(name).parent)
            hidden = below.parts[0] == archive.ARCHIVE or any(part.startswith(".") for part in below.parts)
            if below.is_absolute() or hidden:
                said = "leads out of the study's folder, or into a hidden one; move the file beside the study's"
                raise InputError(f"{configuration}: {name} {said}")
            try:
                # As it is, whatever ends its lines.
                texts[f"results/{study}/{below.as_posix()}"] = file.read_bytes().decode()
            except UnicodeDecodeError as error:
                raise InputError(f"{file}: not UTF-8 ({error.reason}); write it so") from None
    return texts


def records_of(names: Iterable[str]) -> dict[str, provenance.Record]:
    """How each file was made, and what it is; also of what they were made of, which an archive may not have."""
    known = provenance.behind(names, provenance.Records().of)
    found = {name: record for name, record in known.items() if record}
    there = {name: replace(record, sha256=digest(name)) for name, record in found.items() if Path(name).is_file()}
    return found | there


def workflow_version() -> str:
    """The commit of the workflow, or its version where this is no clone."""
    done = subprocess.run(
        ["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() or version("evenlight")


def iso(seconds: float) -> str:
    """A time in seconds since 1970 as Workflow Run Crates have it."""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()


def crate_of(study: str, names: list[str], records: dict[str, provenance.Record], named: argparse.Namespace) -> str:
    """The metadata of the crate, as JSON-LD.

    Args:
        study: the name of the study.
        names: its files, and those that describe it.
        records: how they were made.
        named: ``license`` and ``agent``, or None.
    """
    crate = ROCrate(version="1.1")
    crate.metadata.extra_terms |= TERMS
    times = [time for record in records.values() for time in (record.started, record.ended) if time]
    first, last = (min(times), max(times)) if times else (0.0, max(Path(name).stat().st_mtime for name in names))
    root = crate.root_dataset
    crate.name = f"Evenlight: the study {study}"
    crate.description = f"Results of the study {study}: explanations of text classifiers, compared between groups."
    root["datePublished"] = iso(last)
    if named.license:
        crate.license = crate.add(ContextEntity(crate, named.license, {"@type": "CreativeWork", "name": named.license}))
    else:
        about = {"@type": "CreativeWork", "name": "No licence named", "description": UNLICENSED}
        crate.license = crate.add(ContextEntity(crate, "#license", about))
    for address, title in PROFILES.items():
        about = {"@type": "CreativeWork", "name": title, "version": address.rpartition("/")[2]}
        root.append_to("conformsTo", crate.add(ContextEntity(crate, address, about)))

    about = {
        "name": "Evenlight",
        "version": workflow_version(),
        "license": "https://spdx.org/licenses/MIT",
        "encodingFormat": "text/plain",
    }
    main = crate.add_workflow(
        dest_path=archive.WORKFLOW, main=True, lang="snakemake", lang_version=version("snakemake"), properties=about
    )
    main["conformsTo"] = {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"}
    files = {name: crate.add_file(dest_path=name, properties=_about(name, records)) for name in names}
    configuration = files[f"results/{study}/{archive.CONFIGURATION}"]
    slot = crate.add_formal_parameter("configuration", "File", "#configuration", "The study, as one YAML file", True)
    slot["workExample"], configuration["exampleOfWork"] = configuration, slot
    main["input"] = slot
    files[archive.README]["about"] = root
    sources = {name.removeprefix("results/sources/") for record in records.values() for name in record.inputs}
    downloaded = [
        crate.add_file(SOURCES[name].url, properties={"name": name, "sha256": SOURCES[name].sha256})
        for name in sorted(sources & SOURCES.keys())
    ]
    made = [files[name] for name in names if name.startswith((f"results/{study}/tables/", f"results/{study}/figures/"))]
    action = crate.add_action(
        main,
        "#run",
        object=[configuration, *downloaded] if downloaded else configuration,
        result=made,
        properties={
            "name": f"Run of the study {study}",
            "description": f"All jobs of the study; {provenance.RECORDS} has each, with its settings, inputs and times",
            "startTime": iso(first),
            "endTime": iso(last),
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    jobs = {record.job: record for record in records.values()}.values()
    action["environment"] = [
        crate.add(ContextEntity(crate, f"#environment-{number}", {"@type": "PropertyValue"} | about))
        for number, about in enumerate(_environment(jobs, names))
    ]
    if named.agent:
        action["agent"] = root["author"] = crate.add(
            ContextEntity(crate, "#agent", {"@type": "Person", "name": named.agent})
        )
    root["mentions"] = action
    metadata = crate.metadata.generate()
    metadata["@graph"].sort(key=lambda entity: entity["@id"])
    return json.dumps(metadata, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _about(name: str, records: dict[str, provenance.Record]) -> dict:
    """What the crate says of a file."""
    path = Path(name)
    about = {"name": path.name}
    if path.suffix in MEDIA:
        about["encodingFormat"] = MEDIA[path.suffix]
    if path.is_file():
        about["contentSize"] = str(path.stat().st_size)
        about["sha256"] = records[name].sha256 if name in records else digest(path)
    if name in records:
        about["description"] = f"made by the rule {records[name].rule}"
    return about


def _environment(jobs: Iterable[provenance.Record], names: list[str]) -> list[dict]:
    """Where the jobs ran, and for how long."""
    jobs = list(jobs)
    machines = sorted({job.environment for job in jobs if job.environment})
    devices = {provenance.of_content(Path(name)).get("device") for name in names if name.endswith("/manifest.json")}
    seconds = sum(job.ended - job.started for job in jobs)
    return [
        *({"name": "machine and libraries", "value": machine} for machine in machines),
        *({"name": "device of the models", "value": device} for device in sorted(filter(None, devices))),
        {"name": "time of all jobs", "value": f"{seconds:.0f}", "unitText": "s"},
    ]


def main(arguments: argparse.Namespace) -> None:
    """Write the archive."""
    study = arguments.study
    configuration = arguments.configfile or configuration_of(study)
    if _named(configuration) != study:
        raise InputError(f"{configuration}: of the study '{_named(configuration)}'; name the file of '{study}'")
    parts = own_parts(configuration, study, arguments.trust_parts)
    check_complete(configuration, arguments.trust_parts)
    kept = f"results/{study}/{archive.CONFIGURATION}"
    names = [name for name in archive.files_of_study(Path(), study, arguments.without) if name not in {kept, *parts}]
    records = records_of(names)
    archive.refuse_unlicensed(Path(), study, names, records)
    texts = parts | {
        kept: configuration.read_text(encoding="utf-8"),
        archive.WORKFLOW: (REPOSITORY / "Snakefile").read_text(encoding="utf-8"),
        archive.RECORDS: provenance.as_text(records),
        archive.README: README.format(study=study),
    }
    described = sorted({*names, *texts} - {archive.WORKFLOW})
    texts[archive.CRATE] = crate_of(study, described, records, arguments)
    archive.pack(Path(), names, texts, arguments.output)
    print(f"{arguments.output}: {len(names) + len(texts) + 1} files, {arguments.output.stat().st_size:,} bytes")
    print(f"SHA-256 {digest(arguments.output)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", required=True)
    parser.add_argument("--configfile", type=Path, help="its file, where it is not found by its name")
    parser.add_argument(
        "--without", nargs="*", default=[], metavar="FOLDER", help="of results/<study>/, or logs, benchmarks"
    )
    parser.add_argument("--trust-parts", action="store_true", help="run code that came with an archive, if you read it")
    parser.add_argument("--license", metavar="URL", help="of the results, such as https://spdx.org/licenses/CC-BY-4.0")
    parser.add_argument("--agent", metavar="NAME", help="who ran the study")
    parser.add_argument("--output", type=Path, required=True, metavar="ZIP")
    command_line.run(main, parser)
