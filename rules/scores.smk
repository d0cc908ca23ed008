# From a table of scores that were made elsewhere to verdicts, and to what is read of them. Nothing is trained,
# predicted or explained in such a study.
#
# Comes in: the table, which the one dataset of the study names.
# Goes out: study.results, which rules/results.smk makes; study.tables, plots and figures, which rules/tables.smk makes;
# <results>/explorer.html, <results>/audit.html, .json, .md; the targets `explorer` and `audit`.


# What the report says first.
report: "../resources/report/study.rst"


study.results |= {
    "read_scores": Result(
        "Read the table of scores, and refuse what is no score.",
        ["judged_scores"],
        study.table_settings(),
        study.table_of_scores(),
        minutes=30,
    ),
    "judge_scores": Result(
        "Say of which group the scores are better more often, in every cell of the table.",
        ["effects", "effect_counts"],
        study.judging_settings(),
        study.table_of_scores(),
        reads=["looks"] if study.planned_looks else [],
        minutes=120,
    ),
    "record_score_analyses": Result(
        "Write down which units the verdicts have judged, and say where they were judged several times without a plan.",
        ["interim_analyses"],
        study.recorded_settings(study.analyses, plan=config["statistics"]["plan"] if study.planned_looks else ""),
        study.table_of_scores(),
        reads=["judged_scores", "effects", *["looks"] * bool(study.planned_looks)],
        keeps=True,
    ),
    "estimate_texts_needed": Result(**study.texts_needed()),
}


if study.planned_looks:
    study.results["record_score_looks"] = Result(
        "Write down the interim analyses that the table has units for, and refuse what would void the level.",
        ["looks"],
        study.recorded_settings(study.looks_made, **study.planned_analyses()),
        reads=["judged_scores"],
        keeps=True,
    )


if study.first_time("interim_analyses"):
    study.tell_score_analyses()


study.tables = {
    "effects": Page(
        ["effects", "effect_counts"], study.scores_told("as_often_bound", "confidence"), "Scores", verdicts=True
    )
}
if study.planned_looks:
    study.tables["looks"] = Page(
        ["looks"],
        study.shown(plan=config["statistics"]["plan"], planned=study.planned_looks),
        "Scores",
        verdicts=True,
    )


study.plots = {
    "verdicts": Plot(
        "Wins, ties and losses of every comparison, the largest surplus first.",
        "effects",
        "verdicts",
        study.scores_told(),
        caption="verdicts",
        category="Scores",
        labels=labelled("verdicts"),
    )
}
study.figures = [study.drawn("verdicts")]


rule write_score_explorer:
    """Write the explorer: verdicts and distributions of all scores in one HTML file."""
    input:
        script=study.script("figures/write_score_explorer.py"),
        tables=[
            f"<results>/tables/{table}.parquet"
            for table in ("judged_scores", "effects", "effect_counts", "interim_analyses")
        ],
    output:
        "<results>/explorer.html",
    log:
        "<logs>/write_score_explorer.log",
    benchmark:
        "<benchmarks>/write_score_explorer.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        # Its figures are of the whole table, and of no dataset that could be chosen.
        settings=study.scores_told("alpha", "as_often_bound", study=config["study"], formats=[]),
        versions=study.rendered_by("write_score_explorer", "explorer/*"),
    shell:
        'python {input.script:q} --tables "$(dirname {input.tables[0]:q})" --settings {params.settings:q} '
        "--output {output:q} > {log:q} 2>&1"


rule write_score_audit:
    """Write the audit: a page in plain words, the same as JSON, and a section for a report."""
    input:
        script=study.script("figures/write_score_audit.py"),
        tables=[
            f"<results>/tables/{table}.parquet"
            for table in ("judged_scores", "effects", "effect_counts", "interim_analyses", "texts_needed")
        ],
        evidence="<results>/tables/effects.html",
    output:
        html="<results>/audit.html",
        json="<results>/audit.json",
        card="<results>/audit.md",
    log:
        "<logs>/write_score_audit.log",
    benchmark:
        "<benchmarks>/write_score_audit.tsv"
    localrule: True
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study.scores_told("alpha", "as_often_bound", "power", study=config["study"]),
        versions=study.rendered_by("write_score_audit", "audit/*"),
    shell:
        'python {input.script:q} --tables "$(dirname {input.tables[0]:q})" --settings {params.settings:q} '
        "--output {output.html:q} --json {output.json:q} --card {output.card:q} > {log:q} 2>&1 && "
        # What must be read first is said where the run ends.
        "{{ grep '^warning: ' {log:q} || true; }}"


rule explorer:
    """The page of the study for readers who run no code."""
    input:
        rules.write_score_explorer.output,


rule audit:
    """The page that answers an auditor's question."""
    input:
        rules.write_score_audit.output,
