# From scores and predictions to the tables of a study: a rule for each entry of study.results, which has its name.
#
# Comes in: study.results of rules/statistics.smk, verdicts.smk and kinds/; what each of them reads.
# Goes out: <results>/tables/*.parquet.

for result, asked in study.results.items():

    rule:
        name:
            result
        input:
            **asked.files,
            script=study.script("results/compute.py"),
            tables=[f"<results>/tables/{table}.parquet" for table in asked.reads],
            content=[study.repository_file(path) for path in asked.content],
        output:
            study.written(asked),
        log:
            f"<logs>/{result}.log",
        benchmark:
            f"<benchmarks>/{result}.tsv"
        localrule: asked.minutes is None
        conda:
            "../envs/statistics.yaml"
        resources:
            mem_mb=growing(4000) if asked.minutes else 2000,
            runtime=growing(asked.minutes) if asked.minutes else 10,
        params:
            result=result,
            settings=asked.settings,
            folders=study.folders_of(asked),
            content=content_of(study.base / path for path in asked.content),
            versions=study.versions("compute", results=[result]),
        shell:
            "python {input.script:q} --result {params.result:q} {params.folders} --tables {input.tables:q} "
            "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1 && "
            # What must be read first is said where one looks.
            "{{ grep '^warning: ' {log:q} || true; }}"

    study.inside.describe(result, asked.about)
