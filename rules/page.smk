# From scores, explanations and verdicts to the page of the study.
#
# Comes in: <results>/scores/, <results>/datasets/; where texts are shown, <results>/attributions/ and
# <results>/predictions/, and <results>/answers/; where the study tells verdicts, <results>/tables/ and <results>/models/.
# Goes out: <results>/index.html, with verdicts audit.json and audit.md, too; the target `page`, and `audit`, which makes
# nothing else.


rule write_page:
    """Write the page of the study: its answer, every question, the texts behind it, and how sure it is."""
    input:
        **study.files_explored(),
        **{flag: study.every(path, explainer=study.explainers_of(of)) for flag, (path, of) in study.spoken().items()},
        **{flag: study.every(path) for flag, path in study.told_models().items()},
        script=study.script("figures/write_page.py"),
        tables=[f"<results>/tables/{table}.parquet" for table in study.read_tables()],
    output:
        html="<results>/index.html",
        words=study.audit_files(),
    log:
        "<logs>/write_page.log",
    benchmark:
        "<benchmarks>/write_page.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        settings=study.page_settings(),
        folders=study.folders(
            **study.patterns_explored(),
            **{flag: path for flag, (path, _) in study.spoken().items()},
            **study.told_models(),
        ),
        tables=lambda wildcards, input: [f"--tables={Path(path).parent}" for path in input.tables[:1]],
        versions=study.rendered_by("write_page", "index/*"),
    shell:
        "python {input.script:q} {params.folders} {params.tables:q} --settings {params.settings:q} "
        "--output {output.html:q} --words {output.words:q} > {log:q} 2>&1"


rule page:
    """The page of the study, for readers who run no code, with the tables that it names."""
    input:
        rules.write_page.output,
        study.files_beside(),


if config["kind"] == "disparity":

    rule audit:
        """The same, after saying how long explanations will take: what an auditor asks for."""
        input:
            rules.page.input,
            study.to_be_planned() if study.explainers else [],
