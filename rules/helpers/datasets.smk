# What rules/datasets.smk asks: its settings, and which files it needs.


def source_files(wildcards):
    """The downloaded files of a dataset."""
    settings = config["datasets"][wildcards.dataset]
    return expand("results/sources/{name}", name=datasets.reader_for(settings).sources(settings))


def named_files(wildcards):
    """The files that a dataset's settings name: the user's own, or what another rule makes."""
    settings = config["datasets"][wildcards.dataset]
    return datasets.reader_for(settings).files(settings)


def source_digest(wildcards):
    """What the file must be, so that another pinned version is fetched again."""
    if wildcards.name not in sources.SOURCES:
        raise WorkflowError(f"results/sources/{wildcards.name}: no known source; evenlight/sources.py lists them")
    return sources.SOURCES[wildcards.name].sha256


def resource_files(wildcards):
    """The files of this repository that a dataset is read from."""
    return [repository_file(path) for path in datasets.reader_for(config["datasets"][wildcards.dataset]).resources]


def resource_digests(wildcards):
    """What the files of ``resource_files`` contain, for ``params``."""
    return content_of(resource_files(wildcards))


def named_sources(wildcards, input):
    """Flags that say which source each file is."""
    return [f"--source={path.removeprefix('results/sources/')}={path}" for path in input.sources]


def import_code(wildcards):
    """Digest of the import and of the dataset's reader."""
    return code_of("datasets/import_dataset.py", datasets.reader_for(config["datasets"][wildcards.dataset]).module)
