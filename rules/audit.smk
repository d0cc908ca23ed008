# From the verdicts of a study to one page that says what was audited, found, left open and not tested.
#
# Comes in: <results>/tables/, <results>/models/, and where texts are shown, <results>/datasets/; for the tables that it
# alone shows, <results>/scores/, <results>/predictions/, <results>/attributions/ and <results>/datasets/.
# Goes out: study.results, which rules/results.smk makes; <results>/audit.html, .json, .md and the target `audit`.


from evenlight.workflow.audit import EVIDENCE

study.results |= {
    # All have scores of the same texts.
    "count_texts": Result(
        about="How many texts are audited: of each dataset and group, explained ones, and copies of others.",
        tables=["audited_texts", "audited_groups", "different_texts"],
        **study.counted_texts(study.scored_families, study.first_explainers, kinds.TOKENS),
    ),
    "estimate_texts_needed": Result(**study.texts_needed()),
    "classify_empty_texts": Result(
        "Which class each model has for texts without words.",
        ["without_words"],
        as_argument(study.runs_of_models() | {"hidden": study.hidden_tokens()}),
        study.of_runs(PREDICTIONS, TEXTS),
    ),
    "describe_decisions": Result(
        "How often each group gets each decision, and how often it is right.",
        ["decision_rates"],
        as_argument(study.runs_of_models()),
        study.of_runs(PREDICTIONS, TEXTS),
    ),
    "find_examples": Result(
        "Which pairs of texts differ most in the question of each comparison whose answer is clearest.",
        ["examples"],
        as_argument(study.scored(kinds.TOKENS) | {"comparisons": study.comparisons_of(kinds.TOKENS)}),
        study.of_texts(ATTRIBUTION_FILE),
        reads=["effects"],
        minutes=60,
    ),
}


rule write_audit:
    """Write the audit: a page in plain words, the same as JSON, and a section for a model card."""
    input:
        script=study.script("figures/write_audit.py"),
        tables=[f"<results>/tables/{table}.parquet" for table in study.audited_tables()],
        evidence=[f"<results>/tables/{page}.html" for page in EVIDENCE if page in study.tables],
        models=study.every(MANIFEST),
        datasets=study.shown_texts(study.every_unit("datasets")),
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
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        settings=study.audit_settings(),
        folders=study.folders(models=MANIFEST, **study.shown_texts({"datasets": TEXTS})),
        versions=study.rendered_by("write_audit", "audit/*"),
    shell:
        'python {input.script:q} {params.folders} --tables "$(dirname {input.tables[0]:q})" --settings {params.settings:q} '
        "--output {output.html:q} --json {output.json:q} --card {output.card:q} > {log:q} 2>&1 && "
        # What must be read first is said where the run ends.
        "{{ grep '^warning: ' {log:q} || true; }}"


rule audit:
    """The page that answers an auditor's question."""
    input:
        rules.write_audit.output,
        f"<results>/{study.beside_attributions}" if study.beside_attributions else [],
        study.to_be_planned(),
