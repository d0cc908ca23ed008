# What the kind of the study shows.
#
# Comes in: TABLES and FIGURES of rules/kinds/; <results>/tables/*.parquet.
# Goes out: <results>/tables/*.csv, *.html, *.tex, a rule for each page; the targets `tables` and `figures`.

for page, asked in TABLES.items():

    rule:
        name:
            f"tabulate_{page}"
        input:
            script=script("figures/tabulate.py"),
            tables=[f"<results>/tables/{table}.parquet" for table in asked.tables],
        output:
            csv=[f"<results>/tables/{table}.csv" for table in asked.csv or asked.tables],
            html=report(
                f"<results>/tables/{page}.html",
                caption=f"../resources/captions/{page}_table.rst",
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
            code=code_of("figures/tabulate.py", f"evenlight.figures.pages.{page}"),
        shell:
            "python {input.script:q} --page {params.page} --tables {input.tables:q} --settings {params.settings:q} "
            "--csv {output.csv:q} --html {output.html:q} --latex {output.latex:q} > {log:q} 2>&1"


rule tables:
    """All tables."""
    input:
        [getattr(rules, f"tabulate_{page}").output for page in TABLES],
        every("<results>/datasets/{dataset}/co_occurrence.csv", dataset=gendered_datasets()),


rule figures:
    """All figures."""
    input:
        FIGURES,
