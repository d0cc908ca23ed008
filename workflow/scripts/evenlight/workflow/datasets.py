"""Of datasets: how they are read, and from which files."""

from snakemake.exceptions import WorkflowError
from snakemake.io import expand

from evenlight.core import sources
from evenlight.datasets.base import NOT_OF_TEXTS
from evenlight.workflow.naming import as_argument, content_of


class Datasets:
    """Of datasets: how they are read, and from which files."""

    def source_files(self, wildcards):
        """The downloaded files of a dataset."""
        return expand("results/sources/{name}", name=self.readers[wildcards.dataset].sources())

    def named_files(self, wildcards):
        """The files that a dataset's settings name: the user's own, or what another rule makes."""
        return list(map(self.own_file, self.readers[wildcards.dataset].named_files()))

    def source_digest(self, wildcards):
        """What the file must be, so that another pinned version is fetched again."""
        source = sources.source(wildcards.name)
        if source is None:
            raise WorkflowError(
                f"results/sources/{wildcards.name}: no known source; evenlight/core/sources.py lists them"
            )
        return source.sha256

    def resource_files(self, wildcards):
        """The files of this repository that a dataset is read from."""
        return [self.repository_file(path) for path in self.readers[wildcards.dataset].resources]

    def resource_digests(self, wildcards):
        """What the files of ``resource_files`` contain, for ``params``."""
        return content_of(self.resource_files(wildcards))

    def import_settings(self, wildcards):
        """What a dataset is read with."""
        # Not sorted: the attributes of a table stand in its tables as the configuration has them. All other keys have
        # one order, whatever that of the configuration.
        settings = {"dataset": wildcards.dataset} | self.config["datasets"][wildcards.dataset]
        return as_argument({key: value for key, value in settings.items() if key not in NOT_OF_TEXTS})

    def datasets_shown(self):
        """The datasets whose texts and words may be printed."""
        return [name for name, settings in self.config["datasets"].items() if settings["show_texts"]]

    def named_sources(self, wildcards, input):
        """Flags that say which source each file is."""
        return [f"--source={self.in_study(path).removeprefix('results/sources/')}={path}" for path in input.sources]
