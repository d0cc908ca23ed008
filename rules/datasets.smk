# From published files to items.
#
# Comes in: files by address and SHA-256, or of this repository. Goes out: <results>/datasets/{dataset}/.


def source_files(wildcards):
    """The downloaded files of a dataset."""
    settings = config["datasets"][wildcards.dataset]
    return expand("results/sources/{name}", name=datasets.reader_for(settings).sources(settings))


def resource_files(wildcards):
    """The files of this repository that a dataset is read from.

    As with scripts, their dates say nothing, since a fresh clone is newer than all results; see ``resource_digests``.
    """
    return [ancient(in_project(path)) for path in datasets.reader_for(config["datasets"][wildcards.dataset]).resources]


def resource_digests(wildcards):
    """What the files of ``resource_files`` contain, for ``params``."""
    return [sources.digest(path) for path in resource_files(wildcards)]


def named_sources(wildcards, input):
    """Flags that say which source each file is."""
    return [f"--source {path.removeprefix('results/sources/')}={path}" for path in input.sources]


def import_code(wildcards):
    """Digest of the import and of the dataset's reader."""
    return code_of("import_dataset.py", datasets.reader_for(config["datasets"][wildcards.dataset]).module)


rule fetch_source:
    """Take one published file from the mirror folder, or download it, and check its SHA-256."""
    input:
        script=script("fetch_source.py"),
    output:
        "results/sources/{name}",
    log:
        "logs/fetch_source/{name}.log",
    wildcard_constraints:
        name=".+",
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=500,
        runtime=30,
    shell:
        "python {input.script:q} --name {wildcards.name:q} --output {output:q} > {log:q} 2>&1"


rule import_dataset:
    """Read a dataset, check it, and set aside its validation split."""
    input:
        script=script("import_dataset.py"),
        sources=source_files,
        resources=resource_files,
    output:
        "<results>/datasets/{dataset}/items.parquet",
    log:
        "<logs>/import_dataset/{dataset}.log",
    benchmark:
        "<benchmarks>/import_dataset/{dataset}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: as_json(dataset=wildcards.dataset, **config["datasets"][wildcards.dataset]),
        named_sources=named_sources,
        named_resources=lambda wildcards, input: [f"--resource {path}" for path in input.resources],
        resource_digests=resource_digests,
        code=import_code,
    shell:
        "python {input.script:q} --settings {params.settings:q} {params.named_sources} {params.named_resources} "
        "--output {output:q} > {log:q} 2>&1"


rule measure_co_occurrence:
    """Measure how evenly the groups' words occur together with all others (GECOBench, Eq. 1 and 2)."""
    input:
        script=script("measure_co_occurrence.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
    output:
        "<results>/datasets/{dataset}/co_occurrence.csv",
    log:
        "<logs>/measure_co_occurrence/{dataset}.log",
    benchmark:
        "<benchmarks>/measure_co_occurrence/{dataset}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code_of("measure_co_occurrence.py"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --output {output:q} > {log:q} 2>&1"
