# From the verdicts of a study to one page that says what was audited, found, left open and not tested.
#
# Comes in: <results>/tables/, <results>/scores/, <results>/datasets/, <results>/models/, <results>/readings/; where texts
# are shown, <results>/attributions/. Goes out: <results>/audit.html, .json, .md and the target `audit`.


include: "helpers/audit.smk"


rule write_audit:
    """Write the audit: a page in plain words, the same as JSON, and a section for a model card."""
    input:
        script=script("figures/write_audit.py"),
        tables=[
            f"<results>/tables/{table}.parquet"
            for table in ("effects", "disparity", "verdict_control", "models", "balanced_accuracy", *audited_tables())
        ],
        # The page names them as the evidence.
        evidence=[f"<results>/tables/{page}.html" for page in TABLES],
        scores=every_score(),
        datasets=every_unit("datasets"),
        models=every(MANIFEST),
        attributions=shown_texts(every(SHARD, explainer=EXPLAINERS)),
        readings=every(READINGS),
    output:
        html="<results>/audit.html",
        json="<results>/audit.json",
        card="<results>/audit.md",
    log:
        "<logs>/write_audit.log",
    benchmark:
        "<benchmarks>/write_audit.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        settings=audit_settings(),
        folders=folders(
            scores=SCORES,
            datasets=TEXTS,
            models=MANIFEST,
            readings=READINGS,
            **shown_texts({"attributions": SHARD}),
        ),
        page=content_of(in_project(f"workflow/scripts/evenlight/figures/audit/{part}") for part in AUDIT_PARTS),
        code=code_of("figures/write_audit.py"),
    shell:
        'python {input.script:q} {params.folders} --tables "$(dirname {input.tables[0]:q})" --settings {params.settings:q} '
        "--output {output.html:q} --json {output.json:q} --card {output.card:q} > {log:q} 2>&1 && "
        # What must be read first is said where the run ends.
        "{{ grep '^warning: ' {log:q} || true; }}"


rule audit:
    """The page that answers an auditor's question."""
    input:
        rules.write_audit.output,
        to_be_planned(),
