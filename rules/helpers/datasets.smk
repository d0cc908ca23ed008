# What rules/datasets.smk asks: its settings, and which files it needs.

from evenlight.datasets.base import NOT_OF_TEXTS


def source_files(wildcards):
    """The downloaded files of a dataset."""
    return expand("results/sources/{name}", name=READERS[wildcards.dataset].sources())


def named_files(wildcards):
    """The files that a dataset's settings name: the user's own, or what another rule makes."""
    return list(map(own_file, READERS[wildcards.dataset].named_files()))


def source_digest(wildcards):
    """What the file must be, so that another pinned version is fetched again."""
    source = sources.source(wildcards.name)
    if source is None:
        raise WorkflowError(f"results/sources/{wildcards.name}: no known source; evenlight/core/sources.py lists them")
    return source.sha256


def resource_files(wildcards):
    """The files of this repository that a dataset is read from."""
    return [repository_file(path) for path in READERS[wildcards.dataset].resources]


def resource_digests(wildcards):
    """What the files of ``resource_files`` contain, for ``params``."""
    return content_of(resource_files(wildcards))


def import_settings(wildcards):
    """What a dataset is read with."""
    # Not sorted: the attributes of a table stand in its tables as the configuration has them. All other keys have
    # one order, whatever that of the configuration.
    settings = {"dataset": wildcards.dataset} | config["datasets"][wildcards.dataset]
    return as_argument({key: value for key, value in settings.items() if key not in NOT_OF_TEXTS})


def datasets_shown():
    """The datasets whose texts and words may be printed."""
    return [name for name, settings in config["datasets"].items() if settings["show_texts"]]


def only_datasets(names):
    """A constraint of the wildcard; no names match nothing."""
    return "|".join(sorted(names)) or "(?!)"


def named_sources(wildcards, input):
    """Flags that say which source each file is."""
    return [f"--source={in_study(path).removeprefix('results/sources/')}={path}" for path in input.sources]
