# Where the files of this repository are. Read before anything else, so it imports nothing of the project.
#
# Goes out: REPOSITORY, the folder with Snakefile, rules, scripts, resources and environments.
# Used on this machine, it is the folder above. Used from a commit elsewhere (`module` with `git+file://...@commit`,
# `github(...)` or `gitlab(...)`), Snakemake reads single files of it, while Python, the scripts and the environments
# need folders: then the commit is laid out whole below .snakemake/evenlight/, once, and used from there.

import os
import shutil
import tarfile
import tempfile
from pathlib import Path

import git
from snakemake.exceptions import WorkflowError
from snakemake.sourcecache import HostingProviderFile, LocalGitFile, LocalSourceFile


def clone_of(source):
    """The clone on this machine, bare or not, that has the commit of a file in a git repository."""
    if isinstance(source, LocalGitFile):
        return git.Repo(source.repo_path)
    source.cache_path = workflow.sourcecache.cache_path
    source.fetch_if_required()
    return source.hosted_repo.repo


def laid_out(clone, commit):
    """The folder with all files of a commit; runs that start at once may both make it, and one of them moves it in."""
    folder = Path(".snakemake", "evenlight", commit).absolute()
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{commit}.", dir=folder.parent) as unfinished:
            archive, files = Path(unfinished, "archive.tar"), Path(unfinished, "files")
            with archive.open("wb") as stream:
                clone.archive(stream, commit)
            with tarfile.open(archive) as packed:
                packed.extractall(files, filter="data")
            try:
                files.rename(folder)
            except OSError:
                # The other one was faster, or nothing can be written here.
                if not folder.exists():
                    raise
    return folder


def repository(source):
    """The folder of the repository in which this file, ``source``, lies two levels down."""
    if isinstance(source, LocalSourceFile):
        return Path(source.get_path_or_uri(secret_free=True)).parent
    if not isinstance(source, (LocalGitFile, HostingProviderFile)):
        raise WorkflowError(
            f"{source}: only a folder or a git repository has all files of this workflow; "
            'use snakefile: github("owner/name", path="workflow/Snakefile", tag="...") or '
            '"git+file:///path/to/clone/workflow/Snakefile@commit"'
        )
    clone = clone_of(source)
    return laid_out(clone, clone.commit(source.ref).hexsha)


REPOSITORY = repository(workflow.current_basedir)
