"""How was this file made? The chain from a figure, a table or an attribution file back to its sources.

    python workflow/tools/explain_result.py results/demo/figures/control.svg

Tells for each rule the files that it made, what of, with which settings, versions, seeds and libraries, where, when and
for how long; and, last, the files that no rule has made. It names files that have changed since they were read.
"""

import argparse
import json
import textwrap
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.core.sources import digest
from evenlight.jobs import command_line, provenance

WIDTH = 118


def line(name: str, text: str) -> None:
    """Print one thing that is known, over as many lines as it needs."""
    begin = f"  {name:<10}"
    print(textwrap.fill(text, WIDTH, initial_indent=begin, subsequent_indent=" " * len(begin), break_on_hyphens=False))


def short(texts: list[str], whole: bool) -> str:
    """Some texts, or the first of them and how many there are."""
    if whole or len(texts) <= 3:
        return "; ".join(texts)
    return f"{'; '.join(texts[:2])}; and {len(texts) - 2} more (--all lists them)"


def tell_rule(rule: str, made: dict[str, provenance.Record], whole: bool) -> None:
    """What the jobs of one rule have made of what."""
    jobs = {record.job: record for record in made.values()}
    sums = {path: digest(path) for path in made if Path(path).is_file()}
    print(f"\n{rule}: {len(jobs)} job{'s' * (len(jobs) > 1)}")
    line(
        "made",
        short([f"{path} (SHA-256 {sums[path]})" if path in sums else f"{path} (not here)" for path in made], whole),
    )
    records = list(jobs.values())
    if inputs := list(dict.fromkeys(path for record in records for path in record.inputs)):
        line("of", short(inputs, whole))
    for settings in list(dict.fromkeys(text for record in records for text in record.settings))[: None if whole else 3]:
        line("settings", settings)
    if versions := dict.fromkeys(", ".join(record.named_versions) for record in records if record.versions):
        line("versions", short(list(versions), whole))
    said = dict.fromkeys(json.dumps(of, sort_keys=True) for path in made if (of := provenance.of_content(Path(path))))
    if said:
        line("says", short(list(said), whole))
    if places := list(dict.fromkeys(record.environment for record in records if record.environment)):
        line("on", short(places, whole))
    seconds = sum(record.ended - record.started for record in records)
    first, last = min(record.started for record in records), max(record.ended for record in records)
    line("when", f"{provenance.time_of(first)} to {provenance.time_of(last)}, {seconds:.1f} s in all")
    line("logs", short(list(dict.fromkeys(log for record in records for log in record.logs)), whole))
    if changed := list(dict.fromkeys(path for record in records for path in provenance.changed(record))):
        line("WARNING", f"no longer what was read here: {'; '.join(changed)}")
    if changed := [path for path, record in made.items() if path in sums and record.sha256 not in ("", sums[path])]:
        line("WARNING", f"no longer what the archive had: {'; '.join(changed)}")


def main(arguments: argparse.Namespace) -> None:
    """Print the chain."""
    path = arguments.file.removeprefix("./")
    records = provenance.Records()
    if not Path(path).is_file():
        if records.address_of(path):
            raise InputError(f"{path}: {provenance.stored_elsewhere(path, records)}")
        raise InputError(f"{path}: there is no such file; name one below results/, from the project's folder")
    by_rule: dict[str, dict[str, provenance.Record]] = {}
    sources = []
    for name, record in provenance.chain(path, records):
        if record is None:
            sources.append(name)
        else:
            by_rule.setdefault(record.rule, {})[name] = record
    if not by_rule:
        raise InputError(
            f"{path}: Snakemake has no record of it here; name a file that a rule has made in this folder, or one of "
            "an archive that was unpacked by `make unpack`"
        )
    print(path)
    for rule, made in by_rule.items():
        tell_rule(rule, made, arguments.all)
    print("\nsources")
    for name in sources:
        found = f"SHA-256 {digest(name)}" if Path(name).is_file() else "not here"
        line("", f"{name}: {found}; {provenance.origin(name)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="its path from the project's folder")
    parser.add_argument("--all", action="store_true", help="every file, also where a rule has made hundreds")
    command_line.run(main, parser)
