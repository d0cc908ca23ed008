"""``evenlight audit-pdf`` writes what of an audit is filed, a PDF and checksums; ``evenlight check-audit`` checks it.

``sha256sum --check`` reads the list of checksums, too.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from evenlight.commands import UNUSABLE
from evenlight.core.errors import InputError, first_line
from evenlight.core.files import read_text
from evenlight.core.sources import digest
from evenlight.core.tables import replacing

PRINTING = """\
Print the page of an audit as PDF by Chromium, and write a list with the SHA-256 of every file of its study. See
docs/audit.md.
"""
CHECKING = """\
Compare a filed audit with its study, by the list of checksums that `evenlight audit-pdf` wrote. The status is 0 where
every file is as it was filed, 1 where one is changed or missing, and 3 where the input cannot be used.
"""
# The page below a study's folder, and what is written beside it.
PAGE = "index.html"
PDF = "audit.pdf"
CHECKSUMS = "audit.sha256"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 300
_LINE = re.compile(r"([0-9a-f]{64}) [ *](\S.*)")


def add_parser(commands) -> None:
    """Add both commands to those of the package."""
    parser = commands.add_parser("audit-pdf", help="an audit as PDF, and checksums", description=PRINTING)
    parser.add_argument("study", type=Path, metavar="FOLDER", help="folder of the study, such as results/my_audit")
    parser.add_argument("--checksums-only", action="store_true", help="print nothing, which needs no Chromium")
    parser.set_defaults(command=write)
    parser = commands.add_parser("check-audit", help="compare a filed audit with its study", description=CHECKING)
    parser.add_argument("filed", type=Path, metavar="FILED", help=f"folder with the filed audit and its {CHECKSUMS}")
    parser.add_argument(
        "study", type=Path, nargs="?", metavar="FOLDER", help="folder of the study; default: the same folder"
    )
    parser.set_defaults(command=check)


def write(arguments: argparse.Namespace) -> None:
    """Print the page, write the list, and say how it is signed and checked."""
    study = arguments.study
    page = study / PAGE
    if not page.is_file():
        raise InputError(f"{page}: no such page; run snakemake audit, and name the folder of the study")
    if not arguments.checksums_only:
        print_page(browser_for(page), page, study / PDF)
        print(f"Written: {study / PDF}")
    checksums = checksums_of(study)
    with replacing(study / CHECKSUMS) as temporary:
        lines = [f"{sha256}  {name}\n" for name, sha256 in checksums.items()]
        temporary.write_text("".join(lines), encoding="utf-8", newline="\n")
    print(
        f"Written: {study / CHECKSUMS}, of {len(checksums):,} files. Sign it with a tool of yours, such as\n"
        f"  gpg --armor --detach-sign {study / CHECKSUMS}\nFile both with the page. This says whether the study "
        f"is still the same:\n  evenlight check-audit FILED_FOLDER {study}"
    )


def print_page(browser: str, page: Path, pdf: Path) -> None:
    """Print a page as PDF.

    Raises:
        InputError: the browser does not.
    """
    # Chromium starts as root only without its sandbox; the page loads nothing.
    flags = ["--headless=new", "--disable-gpu", "--no-pdf-header-footer", *["--no-sandbox"] * (os.geteuid() == 0)]
    with tempfile.TemporaryDirectory() as folder, replacing(pdf) as temporary:
        flags += [f"--user-data-dir={folder}", f"--print-to-pdf={temporary.absolute()}"]
        try:
            command = [browser, *flags, page.absolute().as_uri()]
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
            said = done.stderr
        except (OSError, subprocess.TimeoutExpired) as error:
            said = str(error)
        if not temporary.read_bytes().startswith(b"%PDF"):
            raise InputError(f"{pdf}: {browser} has printed nothing ({first_line(said)}); print {page} in a browser")


def browser_for(page: Path) -> str:
    """The program that prints a page.

    Raises:
        InputError: there is none.
    """
    if found := next(filter(None, map(shutil.which, BROWSERS)), None):
        return found
    raise InputError(
        f"{page}: there is no Chromium here, which prints it ({', '.join(BROWSERS)}); install it (apt install "
        "chromium), or print the page in any browser and give --checksums-only"
    )


def checksums_of(folder: Path) -> dict[str, str]:
    """SHA-256 (hexadecimal) of every file of a folder by its path from there, sorted.

    Hidden files are left out, which are parts of what is not finished, and the list itself with its signature.
    """
    paths = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        name.as_posix(): digest(path)
        for name, path in sorted(paths.items())
        if not any(part.startswith(".") for part in name.parts) and not name.as_posix().startswith(CHECKSUMS)
    }


def read_checksums(path: Path) -> dict[str, str]:
    """What such a list says.

    Raises:
        InputError: it cannot be read, or a line of it is no checksum with a name.
    """
    found = {}
    for number, line in enumerate(read_text(path, "name the folder of a filed audit").splitlines(), start=1):
        if (match := _LINE.fullmatch(line)) is None:
            raise InputError(f"{path}, line {number}: no SHA-256 with the name of a file; file the audit again")
        found[match[2]] = match[1]
    return found


def check(arguments: argparse.Namespace) -> None:
    """Print what differs, and exit with the status."""
    study = arguments.study or arguments.filed
    try:
        if not study.is_dir():
            raise InputError(f"{study}: no such folder; name the folder of the study, such as results/my_audit")
        listed = read_checksums(arguments.filed / CHECKSUMS)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(UNUSABLE)
    found = checksums_of(study)
    # Of what was filed only some files lie in its folder, which were copied there.
    filed = changed(listed, checksums_of(arguments.filed)) if study != arguments.filed else []
    differing, missing = changed(listed, found), sorted(listed.keys() - found.keys())
    for what, names, folder in (
        ("changed since it was filed", filed, arguments.filed),
        ("changed", differing, study),
        ("missing", missing, study),
        ("not in the list", sorted(found.keys() - listed.keys()), study),
    ):
        print(*(f"{what}: {folder / name}" for name in names), sep="\n", end="\n" * bool(names))
    same = len(listed) - len(differing) - len(missing)
    print(f"Of {len(listed):,} files that were listed {same:,} are as they were.")
    sys.exit(int(bool(filed or differing or missing)))


def changed(listed: dict[str, str], found: dict[str, str]) -> list[str]:
    """The files that are in both and have other checksums, sorted."""
    return sorted(name for name in listed.keys() & found.keys() if listed[name] != found[name])
