# From scores and tables to what is read, for every kind of study.
#
# Comes in: <results>/scores/. Goes out: <results>/figures/scores/, panels/; and the helpers of all rules that render.
# What is rendered computes nothing: its settings are the labels, the directions and the levels that stand in it.

from dataclasses import dataclass, field


# What the report says first.
report: "../resources/report/study.rst"


def labelled(shows, form="figure", **place):
    """The columns that the report lists a table or a figure with."""
    return {"shows": shows, "as": form, "dataset": "all", "model": "all", "metric": "all"} | place


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
    families = {name: METRICS[name]["family"] for name in metrics}
    names = {"seeds": config["seeds"], "families": families, "factors": list(comparisons())}
    return shown("explainers", **settings, **names, levels=compared_levels())


def scores_drawn(wildcards, families):
    """The score files of one model on one dataset."""
    names = {"family": families, "explainer": config["explainers"]}
    return every(SCORES, dataset=wildcards.dataset, model=wildcards.model, **names)


def dataset_drawn(wildcards):
    """The texts and units of one dataset."""
    return every(DATASETS, dataset=wildcards.dataset, table=["items", "units"])


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
        scores=lambda wildcards: scores_drawn(wildcards, family_of(wildcards.metric)),
        datasets=dataset_drawn,
    output:
        in_formats(
            "<results>/figures/scores/{dataset}/{model}/{metric}",
            caption="../resources/captions/score_boxes.rst",
            category="Scores",
            labels=labelled("scores", dataset="{dataset}", model="{model}", metric="{metric}"),
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
        folders=folders(scores=SCORES, datasets=DATASETS),
        code=code_of("figures/draw_scores.py"),
    shell:
        "python {input.script:q} {params.folders} --metric {wildcards.metric} "
        "--settings {params.settings:q} --output {output:q} > {log:q} 2>&1"


rule draw_score_panels:
    """Box plots of all metrics of one model on one dataset (Dhaini et al. 2025, Figures 2 to 7)."""
    input:
        script=script("figures/draw_score_panels.py"),
        scores=lambda wildcards: scores_drawn(wildcards, METRIC_FAMILIES),
        datasets=dataset_drawn,
    output:
        in_formats(
            "<results>/figures/panels/{dataset}/{model}",
            caption="../resources/captions/score_panels.rst",
            category="Scores",
            labels=labelled("scores", dataset="{dataset}", model="{model}"),
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
        folders=folders(scores=SCORES, datasets=DATASETS),
        code=code_of("figures/draw_score_panels.py"),
    shell:
        "python {input.script:q} {params.folders} --settings {params.settings:q} " "--output {output:q} > {log:q} 2>&1"


SCORE_PAGE = Page(["scores"], shown(*COMPARED, levels=compared_levels()), "Scores")
MODEL_PAGE = Page(["models", "models_per_seed"], shown("datasets", "models"), "Models")
SCORE_FIGURES = [
    every(rules.draw_scores.output, metric=config["metrics"]),
    every(rules.draw_score_panels.output),
]
