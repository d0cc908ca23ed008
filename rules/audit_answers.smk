# From the verdicts of a study of answers in words to one page: are decisions equal, and are the reasons alike?
#
# Comes in: <results>/tables/. Goes out: <results>/audit.html, .json, .md and the target `audit`; beside attributions
# <results>/audit_answers.html, .json, .md, for the target of rules/audit.smk.


from evenlight.workflow.audit import AUDITED_OF_ANSWERS


rule write_answer_audit:
    """Write the audit of answers: a page in plain words, the same as JSON, and a section for a model card."""
    input:
        script=study.script("figures/write_answer_audit.py"),
        tables=[f"<results>/tables/{table}.parquet" for table in AUDITED_OF_ANSWERS],
        evidence=[f"<results>/tables/{page}.html" for page in ("effects", "draws", "decisions") if page in study.pages],
    output:
        html=f"<results>/{study.audit_of_answers}.html",
        json=f"<results>/{study.audit_of_answers}.json",
        card=f"<results>/{study.audit_of_answers}.md",
    log:
        "<logs>/write_answer_audit.log",
    benchmark:
        "<benchmarks>/write_answer_audit.tsv"
    localrule: True
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study.answer_audit_settings(),
        versions=study.rendered_by("write_answer_audit", "audit/*"),
    shell:
        'python {input.script:q} --tables "$(dirname {input.tables[0]:q})" --settings {params.settings:q} '
        "--output {output.html:q} --json {output.json:q} --card {output.card:q} > {log:q} 2>&1"


if not study.explainers:

    rule audit:
        """The page that answers an auditor's question."""
        input:
            rules.write_answer_audit.output,
