# From scores and predictions to the tables of a study: a rule for each result that it has, which has its name.
#
# Comes in: what the classes of evenlight.statistics and evenlight.judging read.
# Goes out: <results>/tables/*.parquet and, of the same tables, *.csv.

for name, result in study.results.items():

    rule:
        name:
            name
        input:
            **study.read(result),
            script=study.script("results/compute.py"),
            tables=study.paths(result.tables_read(study)),
        output:
            tables=study.written(result),
            csv=study.paths(result.tables, "csv"),
        log:
            f"<logs>/{name}.log",
        benchmark:
            f"<benchmarks>/{name}.tsv"
        localrule: result.minutes is None
        conda:
            "../envs/statistics.yaml"
        resources:
            mem_mb=growing(4000) if result.minutes else 2000,
            runtime=growing(result.minutes) if result.minutes else 10,
        params:
            result=name,
            settings=study.settings_of(result),
            folders=study.folders_read(result),
            content=content_of(study.base / path for path in result.resources),
            versions=study.versions("compute", results=[name]),
        shell:
            "python {input.script:q} --result {params.result:q} {params.folders} --tables {input.tables:q} "
            "--settings {params.settings:q} --output {output.tables:q} > {log:q} 2>&1 && "
            # What must be read first is said where one looks.
            "{{ grep '^warning: ' {log:q} || true; }}"

    study.inside.describe(name, result.about())
