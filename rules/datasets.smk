# From published files to items.
#
# Comes in: files by address and SHA-256, or of this repository. Goes out: <results>/datasets/{dataset}/.


rule fetch_source:
    """Take one published file from the mirror folder, or download it, and check its SHA-256."""
    input:
        script=study.script("datasets/fetch_source.py"),
    output:
        "results/sources/{name}",
    log:
        "logs/fetch_source/{name}.log",
    benchmark:
        "benchmarks/fetch_source/{name}.tsv"
    wildcard_constraints:
        name=rf"(?!({'|'.join(sources.ARCHIVES)})/).+",
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=500,
        runtime=30,
    params:
        sha256=study.source_digest,
    shell:
        "python {input.script:q} --name {wildcards.name:q} --output {output:q} > {log:q} 2>&1"


SWAPPED = [name for name, settings in config["datasets"].items() if settings["swap_classes"]]


rule import_dataset:
    """Read a dataset, check it, set aside its validation split, and say which texts are compared."""
    input:
        script=study.script("datasets/import_dataset.py"),
        sources=study.source_files,
        resources=study.resource_files,
        files=study.named_files,
    output:
        texts="<results>/datasets/{dataset}/items.parquet",
        units="<results>/datasets/{dataset}/units.parquet",
    log:
        "<logs>/import_dataset/{dataset}.log",
    benchmark:
        "<benchmarks>/import_dataset/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of(name for name in config["datasets"] if name not in SWAPPED),
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study.import_settings,
        named_sources=study.named_sources,
        named_resources=lambda wildcards, input: [f"--resource={path}" for path in [*input.resources, *input.files]],
        resource_digests=study.resource_digests,
        versions=lambda wildcards: study.versions("import_dataset", datasets=[wildcards.dataset]),
    shell:
        "python {input.script:q} --settings {params.settings:q} {params.named_sources:q} {params.named_resources:q} --verify "
        "--items {output.texts:q} --units {output.units:q} > {log:q} 2>&1"


if SWAPPED:

    use rule import_dataset as import_in_order with:
        output:
            texts="<results>/datasets/{dataset}/in_order.parquet",
            units="<results>/datasets/{dataset}/units.parquet",
        log:
            "<logs>/import_in_order/{dataset}.log",
        benchmark:
            "<benchmarks>/import_in_order/{dataset}.tsv"
        wildcard_constraints:
            dataset=any_of(SWAPPED),

    rule swap_classes:
        """Give a dataset its classes in the other order, as a negative control."""
        input:
            script=study.script("datasets/swap_classes.py"),
            dataset="<results>/datasets/{dataset}/in_order.parquet",
        output:
            "<results>/datasets/{dataset}/items.parquet",
        log:
            "<logs>/swap_classes/{dataset}.log",
        benchmark:
            "<benchmarks>/swap_classes/{dataset}.tsv"
        wildcard_constraints:
            dataset=any_of(SWAPPED),
        localrule: True
        conda:
            "../envs/data.yaml"
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            versions=study.versions("swap_classes"),
        shell:
            "python {input.script:q} --items {input.dataset:q} --output {output:q} > {log:q} 2>&1"


rule measure_co_occurrence:
    """Measure how evenly the groups' words occur together with all others (GECOBench, Eq. 1 and 2)."""
    input:
        script=study.script("datasets/measure_co_occurrence.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
    output:
        "<results>/datasets/{dataset}/co_occurrence.csv",
    log:
        "<logs>/measure_co_occurrence/{dataset}.log",
    benchmark:
        "<benchmarks>/measure_co_occurrence/{dataset}.tsv"
    localrule: True
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        versions=study.versions("measure_co_occurrence"),
    shell:
        "python {input.script:q} --items {input.dataset:q} --output {output:q} > {log:q} 2>&1"
