# From scores, explanations and verdicts to the page of the study.
#
# Comes in: <results>/scores/, <results>/datasets/; where texts are shown, <results>/attributions/ and
# <results>/predictions/, and <results>/answers/; where the study tells verdicts, <results>/tables/effects.parquet. Goes out:
# <results>/index.html and the target `page`. A study with verdicts has it from `all`.


rule write_page:
    """Write the page of the study: its answer, every question, and the texts behind it."""
    input:
        **{flag: study.every(path, explainer=study.explainers_of(of)) for flag, (path, of) in study.spoken().items()},
        script=study.script("figures/write_page.py"),
        scores=[file for of in study.explored for file in study.every_score(of)],
        datasets=study.every_unit(kinds.MODALITIES[study.first_explored].units),
        effects=study.told_effects(),
    output:
        "<results>/index.html",
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
        settings=study.explorer_settings(),
        folders=study.folders(
            scores=SCORES,
            datasets=UNITS[kinds.MODALITIES[study.first_explored].units],
            **{flag: path for flag, (path, _) in study.spoken().items()},
        ),
        effects=lambda wildcards, input: [
            f"--{flag}={path}" for flag, path in zip(("effects", "counts", "record"), input.effects)
        ],
        versions=study.rendered_by("write_page", "index/*"),
    shell:
        "python {input.script:q} {params.folders} {params.effects:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule page:
    """The page of the study, for readers who run no code."""
    input:
        rules.write_page.output,
