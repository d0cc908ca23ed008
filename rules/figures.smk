# From scores and tables to what is read, for every kind of study.
#
# Comes in: <results>/scores/. Goes out: <results>/figures/scores/, panels/; and the helpers of all rules that render.
# What is rendered computes nothing: its settings are the labels, the directions and the levels that stand in it.

from dataclasses import dataclass, field

# Of every table in the report.
TABLE = {"kind": "table", "dataset": "all", "model": "all", "metric": "all"}


@dataclass(frozen=True)
class Page:
    """A page of tables: what it reads below <results>/tables/, its settings, its place in the report.

    ``csv``: the names of the CSV files, where they are not those of ``tables``.
    """

    tables: list[str]
    settings: str
    category: str
    csv: list[str] = field(default_factory=list)


def label(section, name):
    """What a dataset, model, explainer or metric is called."""
    entry = METRICS[name] if section == "metrics" else config[section][name]
    return entry.get("label", name)


def directions(names):
    """Labels and directions of metrics."""
    return {name: {"label": label("metrics", name), "better": METRICS[name]["better"]} for name in names}


def shown(*sections, **settings):
    """The settings of what is read: the names and labels in ``sections``, in the order of the configuration, and more."""
    labels = {section: {name: label(section, name) for name in config[section]} for section in sections}
    if "metrics" in sections:
        labels["metrics"] = directions(METRICS)
    return json.dumps(labels | settings)


def scores_shown(wildcards, metrics):
    """The settings of a figure of one model's scores on one dataset."""
    datasets, models = (
        {name: label(section, name)} for section, name in (("datasets", wildcards.dataset), ("models", wildcards.model))
    )
    settings = {"datasets": datasets, "models": models, "metrics": directions(metrics)}
    return shown("explainers", **settings, seeds=config["seeds"], levels=compared_levels())


def in_formats(path, **about):
    """One figure in every configured format; the first of them goes into the report."""
    first, *others = config["figures"]["formats"]
    return [report(f"{path}.{first}", **about), *(f"{path}.{form}" for form in others)]


def family_of(metric):
    """The family whose table of scores has the metric."""
    return METRICS[metric]["family"]


rule draw_scores:
    """Box plots of one metric per explainer and group, over all seeds of a model."""
    input:
        script=script("figures/draw_scores.py"),
        scores=lambda wildcards: every(
            "<results>/scores/{dataset}/{model}/seed{seed}/{family}.parquet",
            dataset=wildcards.dataset,
            model=wildcards.model,
            family=family_of(wildcards.metric),
        ),
    output:
        in_formats(
            "<results>/figures/scores/{dataset}/{model}/{metric}",
            caption="../resources/captions/score_boxes.rst",
            category="Scores",
            labels={"kind": "figure", "dataset": "{dataset}", "model": "{model}", "metric": "{metric}"},
        ),
    log:
        "<logs>/draw_scores/{dataset}/{model}/{metric}.log",
    benchmark:
        "<benchmarks>/draw_scores/{dataset}/{model}/{metric}.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: scores_shown(wildcards, [wildcards.metric]),
        code=code_of("figures/draw_scores.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --metric {wildcards.metric} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_score_panels:
    """Box plots of all metrics of one model on one dataset (Dhaini et al. 2025, Figures 2 to 7)."""
    input:
        script=script("figures/draw_score_panels.py"),
        scores=lambda wildcards: every(
            "<results>/scores/{dataset}/{model}/seed{seed}/{family}.parquet",
            dataset=wildcards.dataset,
            model=wildcards.model,
            family=METRIC_FAMILIES,
        ),
    output:
        in_formats(
            "<results>/figures/panels/{dataset}/{model}",
            caption="../resources/captions/score_panels.rst",
            category="Scores",
            labels={"kind": "figure", "dataset": "{dataset}", "model": "{model}", "metric": "all"},
        ),
    log:
        "<logs>/draw_score_panels/{dataset}/{model}.log",
    benchmark:
        "<benchmarks>/draw_score_panels/{dataset}/{model}.tsv"
    conda:
        "../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: scores_shown(wildcards, METRICS),
        code=code_of("figures/draw_score_panels.py"),
    shell:
        "python {input.script:q} --scores {input.scores:q} --settings {params.settings:q} "
        "--output {output:q} > {log:q} 2>&1"


SCORE_PAGE = Page(["scores"], shown(*COMPARED, levels=compared_levels()), "Scores")
MODEL_PAGE = Page(["models", "models_per_seed"], shown("datasets", "models"), "Models")
SCORE_FIGURES = [
    every(rules.draw_scores.output, metric=config["metrics"]),
    every(rules.draw_score_panels.output),
]
