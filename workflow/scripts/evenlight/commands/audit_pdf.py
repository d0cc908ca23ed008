"""``evenlight audit-pdf``: the page of an audit as PDF, and a list of checksums of its study, to be filed."""

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from evenlight.core.errors import InputError, first_line
from evenlight.core.tables import replacing
from evenlight.jobs.checksums import checksums_of, write_checksums

DESCRIPTION = """\
Print the page of an audit as PDF by Chromium, and write a list with the SHA-256 of every file of its study. See
docs/audit.md.
"""
# The page below a study's folder, and what is written beside it.
PAGE = "index.html"
PDF = "audit.pdf"
CHECKSUMS = "audit.sha256"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 300


def add_parser(commands) -> None:
    """Add the command to those of the package."""
    parser = commands.add_parser("audit-pdf", help="an audit as PDF, and checksums", description=DESCRIPTION)
    parser.add_argument("study", type=Path, metavar="FOLDER", help="folder of the study, such as results/my_audit")
    parser.add_argument("--checksums-only", action="store_true", help="print nothing, which needs no Chromium")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> None:
    """Print the page, write the list, and say how it is signed and checked."""
    study = arguments.study
    page = study / PAGE
    if not page.is_file():
        raise InputError(f"{page}: no such page; run snakemake audit, and name the folder of the study")
    if not arguments.checksums_only:
        print_page(browser_for(page), page, study / PDF)
        print(f"Written: {study / PDF}")
    checksums = checksums_of(study, CHECKSUMS)
    write_checksums(checksums, study / CHECKSUMS)
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
