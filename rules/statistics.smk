# From scores to tests and tables.
#
# Comes in: <results>/scores/, <results>/predictions/, <results>/datasets/. Goes out: <results>/tables/.

SCORES = "<results>/scores/{dataset}/{model}/seed{seed}/{family}.parquet"
PUBLISHED = [f"resources/published/{name}.csv" for name in ("disparity_counts", "disparity_effect_sizes", "model_bias")]
# Of every table in the report.
TABLE = {"kind": "table", "dataset": "all", "model": "all", "metric": "all"}


rule measure_disparity:
    """Compare the groups' scores, seed by seed: tests of items and of pairs, effect sizes, equivalence."""
    input:
        script=script("statistics/measure_disparity.py"),
        scores=every(SCORES, family=METRIC_FAMILIES),
    output:
        "<results>/tables/disparity.parquet",
    log:
        "<logs>/measure_disparity.log",
    benchmark:
        "<benchmarks>/measure_disparity.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        settings=compared_settings("equivalence_bound", "sign_flips"),
        code=code_of("statistics/measure_disparity.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule tabulate_disparity:
    """The disparity study's tables: how many seeds are significant, and how large the effect is."""
    input:
        script=script("statistics/tabulate_disparity.py"),
        disparity="<results>/tables/disparity.parquet",
    output:
        csv="<results>/tables/disparity.csv",
        html=report(
            "<results>/tables/disparity.html",
            caption="../resources/captions/disparity_table.rst",
            category="Disparity",
            labels=TABLE,
        ),
        latex="<results>/tables/disparity.tex",
    log:
        "<logs>/tabulate_disparity.log",
    benchmark:
        "<benchmarks>/tabulate_disparity.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study_settings(),
        code=code_of("statistics/tabulate_disparity.py"),
    shell:
        "python {input.script:q} --disparity {input.disparity:q} --settings {params.settings:q} "
        "--csv {output.csv:q} --html {output.html:q} --latex {output.latex:q} > {log:q} 2>&1"


rule tabulate_scores:
    """Mean of every metric over items and seeds, per dataset, model, explainer and group."""
    input:
        script=script("statistics/tabulate_scores.py"),
        scores=every(SCORES, family=METRIC_FAMILIES),
    output:
        csv="<results>/tables/scores.csv",
        html=report(
            "<results>/tables/scores.html",
            caption="../resources/captions/score_table.rst",
            category="Scores",
            labels=TABLE,
        ),
        latex="<results>/tables/scores.tex",
    log:
        "<logs>/tabulate_scores.log",
    benchmark:
        "<benchmarks>/tabulate_scores.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        settings=study_settings(),
        code=code_of("statistics/tabulate_scores.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --settings {params.settings:q} "
        "--csv {output.csv:q} --html {output.html:q} --latex {output.latex:q} > {log:q} 2>&1"


rule tabulate_models:
    """Accuracy, recall per class and group, and average prediction difference of every model."""
    input:
        script=script("statistics/tabulate_models.py"),
        datasets=every("<results>/datasets/{dataset}/items.parquet"),
        units=every("<results>/datasets/{dataset}/units.parquet"),
        predictions=every("<results>/predictions/{dataset}/{model}/seed{seed}.parquet"),
    output:
        csv="<results>/tables/models.csv",
        csv_per_seed="<results>/tables/models_per_seed.csv",
        html=report(
            "<results>/tables/models.html",
            caption="../resources/captions/model_table.rst",
            category="Models",
            labels=TABLE,
        ),
        latex="<results>/tables/models.tex",
    log:
        "<logs>/tabulate_models.log",
    benchmark:
        "<benchmarks>/tabulate_models.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=compared_settings(parts=("datasets", "models")),
        code=code_of("statistics/tabulate_models.py"),
    shell:
        "python {input.script:q} --items {input.datasets:q} --predictions {input.predictions:q} "
        "--settings {params.settings:q} --csv {output.csv:q} --csv-per-seed {output.csv_per_seed:q} "
        "--html {output.html:q} --latex {output.latex:q} > {log:q} 2>&1"


rule estimate_effects:
    """Estimate every cell's effect over all seeds, with intervals, and say what can be claimed."""
    input:
        script=script("statistics/estimate_effects.py"),
        scores=every(SCORES, family=METRIC_FAMILIES),
    output:
        "<results>/tables/effects.parquet",
    log:
        "<logs>/estimate_effects.log",
    benchmark:
        "<benchmarks>/estimate_effects.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        settings=compared_settings("alpha", "equivalence_bound", "confidence", "bootstrap_draws", "power"),
        code=code_of("statistics/estimate_effects.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule tabulate_effects:
    """The effects with their intervals and verdicts, and what each way of testing finds."""
    input:
        script=script("statistics/tabulate_effects.py"),
        disparity="<results>/tables/disparity.parquet",
        effects="<results>/tables/effects.parquet",
    output:
        csv="<results>/tables/effects.csv",
        counts="<results>/tables/tests.csv",
        html=report(
            "<results>/tables/effects.html",
            caption="../resources/captions/effect_table.rst",
            category="Disparity",
            labels=TABLE,
        ),
        latex="<results>/tables/effects.tex",
    log:
        "<logs>/tabulate_effects.log",
    benchmark:
        "<benchmarks>/tabulate_effects.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study_settings(),
        code=code_of("statistics/tabulate_effects.py"),
    shell:
        "python {input.script:q} --disparity {input.disparity:q} --effects {input.effects:q} "
        "--settings {params.settings:q} --csv {output.csv:q} --counts {output.counts:q} --html {output.html:q} "
        "--latex {output.latex:q} > {log:q} 2>&1"


rule compare_many_groups:
    """Compare more than two groups: Kruskal-Wallis, and Dunn's comparisons of their pairs."""
    input:
        script=script("statistics/compare_many_groups.py"),
        scores=every(SCORES, family=METRIC_FAMILIES),
    output:
        csv="<results>/tables/groups.csv",
        dunn="<results>/tables/group_pairs.csv",
        html=report(
            "<results>/tables/groups.html",
            caption="../resources/captions/group_table.rst",
            category="Disparity",
            labels=TABLE,
        ),
        latex="<results>/tables/groups.tex",
    log:
        "<logs>/compare_many_groups.log",
    benchmark:
        "<benchmarks>/compare_many_groups.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        settings=study_settings(),
        code=code_of("statistics/compare_many_groups.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --settings {params.settings:q} "
        "--csv {output.csv:q} --dunn {output.dunn:q} --html {output.html:q} --latex {output.latex:q} > {log:q} 2>&1"


rule permute_groups:
    """Test again with the groups' labels permuted: how many cells are significant without any disparity?"""
    input:
        script=script("statistics/permute_groups.py"),
        scores=every(SCORES, family=METRIC_FAMILIES),
    output:
        csv="<results>/tables/control.csv",
        html=report(
            "<results>/tables/control.html",
            caption="../resources/captions/control_table.rst",
            category="Disparity",
            labels=TABLE,
        ),
        latex="<results>/tables/control.tex",
    log:
        "<logs>/permute_groups.log",
    benchmark:
        "<benchmarks>/permute_groups.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        settings=compared_settings("alpha", "sign_flips", "control_draws"),
        code=code_of("statistics/permute_groups.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --settings {params.settings:q} "
        "--csv {output.csv:q} --html {output.html:q} --latex {output.latex:q} > {log:q} 2>&1"


rule explain_disparity:
    """Split every disparity into what token counts and the model's confidence carry, and what remains."""
    input:
        script=script("statistics/explain_disparity.py"),
        scores=every(SCORES, family=METRIC_FAMILIES),
        datasets=every("<results>/datasets/{dataset}/items.parquet"),
        predictions=every("<results>/predictions/{dataset}/{model}/seed{seed}.parquet"),
        attributions=every(
            "<results>/attributions/{dataset}/{model}/seed{seed}/{explainer}.parquet",
            explainer=next(iter(config["explainers"])),
        ),
    output:
        csv="<results>/tables/causes.csv",
        html=report(
            "<results>/tables/causes.html",
            caption="../resources/captions/cause_table.rst",
            category="Disparity",
            labels=TABLE,
        ),
        latex="<results>/tables/causes.tex",
    log:
        "<logs>/explain_disparity.log",
    benchmark:
        "<benchmarks>/explain_disparity.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        settings=study_settings(),
        code=code_of("statistics/explain_disparity.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --items {input.datasets:q} "
        "--predictions {input.predictions:q} --attributions {input.attributions:q} "
        "--settings {params.settings:q} --csv {output.csv:q} --html {output.html:q} --latex {output.latex:q} > {log:q} 2>&1"


rule tabulate_definitions:
    """What each definition of a disputed metric finds, and how far two of them agree."""
    input:
        script=script("statistics/tabulate_definitions.py"),
        disparity="<results>/tables/disparity.parquet",
    output:
        csv="<results>/tables/definitions.csv",
        html=report(
            "<results>/tables/definitions.html",
            caption="../resources/captions/definition_table.rst",
            category="Disparity",
            labels=TABLE,
        ),
        latex="<results>/tables/definitions.tex",
    log:
        "<logs>/tabulate_definitions.log",
    benchmark:
        "<benchmarks>/tabulate_definitions.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study_settings(),
        code=code_of("statistics/tabulate_definitions.py"),
    shell:
        "python {input.script:q} --disparity {input.disparity:q} --settings {params.settings:q} "
        "--csv {output.csv:q} --html {output.html:q} --latex {output.latex:q} > {log:q} 2>&1"


rule compare_published:
    """Lay the study's tables beside those that Dhaini et al. (2025) print."""
    input:
        script=script("statistics/compare_published.py"),
        disparity="<results>/tables/disparity.parquet",
        models="<results>/tables/models.csv",
        published=[repository_file(path) for path in PUBLISHED],
    output:
        csv="<results>/tables/published.csv",
        agreement="<results>/tables/published_agreement.csv",
        quality="<results>/tables/published_models.csv",
        html=report(
            "<results>/tables/published.html",
            caption="../resources/captions/published_table.rst",
            category="Disparity",
            labels=TABLE,
        ),
        latex="<results>/tables/published.tex",
    log:
        "<logs>/compare_published.log",
    benchmark:
        "<benchmarks>/compare_published.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=study_settings(),
        published=content_of(BASE / path for path in PUBLISHED),
        code=code_of("statistics/compare_published.py"),
    shell:
        "python {input.script:q} --disparity {input.disparity:q} --models {input.models:q} "
        '--published "$(dirname {input.published[0]:q})" --settings {params.settings:q} --csv {output.csv:q} '
        "--agreement {output.agreement:q} --quality {output.quality:q} --html {output.html:q} --latex {output.latex:q} "
        "> {log:q} 2>&1"


rule tables:
    """All tables."""
    input:
        rules.tabulate_disparity.output,
        rules.tabulate_effects.output,
        rules.permute_groups.output,
        rules.explain_disparity.output,
        optional_tables(),
        rules.tabulate_scores.output,
        rules.tabulate_models.output,
        every("<results>/datasets/{dataset}/co_occurrence.csv", dataset=datasets_with("gender", annotation.GROUPS)),
