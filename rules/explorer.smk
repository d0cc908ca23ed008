# From scores, explanations and verdicts to one page on which a reader looks around in the study.
#
# Comes in: <results>/scores/, <results>/datasets/; where texts are shown, <results>/attributions/ and
# <results>/predictions/, and <results>/answers/; where the study tells verdicts, <results>/tables/effects.parquet. Goes out:
# <results>/explorer.html and the target `explorer`. The page is made when it is asked for, and not by `all`: it holds
# the texts of the study.


rule write_explorer:
    """Write the explorer: verdicts, distributions, pairs and words of the whole study in one HTML file."""
    input:
        **{flag: study.every(path, explainer=study.explainers_of(of)) for flag, (path, of) in study.spoken().items()},
        script=study.script("figures/write_explorer.py"),
        scores=[file for of in study.explored for file in study.every_score(of)],
        datasets=study.every_unit(kinds.MODALITIES[study.first_explored].units),
        effects=study.told_effects(),
    output:
        "<results>/explorer.html",
    log:
        "<logs>/write_explorer.log",
    benchmark:
        "<benchmarks>/write_explorer.tsv"
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
        versions=study.rendered_by("write_explorer", "explorer/*"),
    shell:
        "python {input.script:q} {params.folders} {params.effects:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


rule explorer:
    """The page of the study for readers who run no code."""
    input:
        rules.write_explorer.output,
