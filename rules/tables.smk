# What the study shows: pages of tables and their figures, as the modules of evenlight.reports.pages say.
#
# Comes in: <results>/tables/*.parquet.
# Goes out: <results>/tables/*.html and *.tex, a rule for each page; <results>/figures/, a rule for each plot; the
# targets `tables` and `figures`.


# What the report says first.
report: "../resources/report/study.rst"


for page, asked in study.tabulated.items():

    rule:
        name:
            f"tabulate_{page}"
        input:
            script=study.script("figures/tabulate.py"),
            tables=study.paths(study.tables_of(page)),
            record=study.record_of(asked),
        output:
            html=report(
                f"<results>/tables/{page}.html",
                caption=study.caption("pages", page),
                category=asked.category,
                labels=labelled(page, "table"),
            ),
            latex=f"<results>/tables/{page}.tex",
        log:
            f"<logs>/tabulate_{page}.log",
        benchmark:
            f"<benchmarks>/tabulate_{page}.tsv"
        localrule: True
        conda:
            "../envs/statistics.yaml"
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            page=page,
            settings=asked.settings,
            notes=study.notes_of(asked),
            versions=study.rendered_by("tabulate", f"pages/{page}.py"),
        shell:
            "python {input.script:q} --page {params.page} --tables {input.tables:q} --settings {params.settings:q} "
            "{params.notes:q} --record {input.record:q} --html {output.html:q} --latex {output.latex:q} > {log:q} 2>&1"


for plot, drawn in study.plots.items():

    rule:
        name:
            f"draw_{plot}"
        input:
            script=study.script("figures/draw.py"),
            table=study.paths(study.names_of([drawn.table])),
        output:
            study.in_formats(
                f"<results>/figures/{drawn.path}",
                caption=study.caption("plots", plot),
                category=drawn.category,
                labels=labelled(drawn.shows, **drawn.named),
            ),
        log:
            f"<logs>/draw_{plot}{drawn.place}.log",
        benchmark:
            f"<benchmarks>/draw_{plot}{drawn.place}.tsv"
        wildcard_constraints:
            **({"view": drawn.views} if drawn.views else {}),
        localrule: True
        conda:
            "../envs/statistics.yaml"
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            plot=plot,
            dataset=lambda wildcards: [f"--dataset={name}" for name in wildcards.get("dataset", "").split()],
            settings=drawn.settings,
            versions=study.rendered_by("draw", f"plots/{plot}.py"),
        shell:
            "python {input.script:q} --figure {params.plot:q} --table {input.table:q} {params.dataset:q} "
            "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"

    study.inside.describe(f"draw_{plot}", drawn.about)


rule tables:
    """All tables."""
    input:
        [getattr(rules, f"tabulate_{page}").output for page in study.tabulated],
        study.csv_shown(),
        study.every("<results>/datasets/{dataset}/co_occurrence.csv", dataset=study.gendered_datasets()),


rule figures:
    """All figures."""
    input:
        study.figures(rules),
