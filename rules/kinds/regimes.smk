# The study of regimes: does how a model was trained change how correct its explanations are?
#
# Comes in: <results>/scores/, <results>/predictions/, <results>/datasets/.
# Goes out: <results>/tables/*.parquet with means, tests and effects; <results>/figures/ of them; study.tables and figures, which
# say what the study shows.


include: "../verdicts.smk"


study.results |= {
    "summarise_regimes": Result(
        "How correct the explanations are in every regime, beside the baseline and beside random scores.",
        ["regimes"],
        study.compared_settings("confidence", "bootstrap_draws", mass_accuracies=study.mass_accuracies()),
        study.of_runs(*study.scored_patterns),
        minutes=60,
    ),
    "compare_attributions": Result(
        "How differently the ground-truth words of both forms of a sentence are explained, run by run.",
        ["attribution_differences"],
        as_argument(study.runs_of_study() | {"explainers": study.explainers, "comparisons": study.comparisons()}),
        study.of_runs(ATTRIBUTION_FILE, TEXTS, PREDICTIONS),
        minutes=60,
    ),
    "compare_proposed_methods": Result(
        "Whether explainers that challenge all others are better than each of them.",
        ["proposed_methods", "proposed_method_pairs"],
        study.proposed_method_settings(),
        study.of_runs(SCORES, TEXTS),
        reads=["looks"] if study.planned_looks else [],
        minutes=60,
    ),
    "check_ground_truth": Result(
        "Which words are associated with the labels, and are they those that are marked as ground truth?",
        ["ground_truth", "word_associations"],
        # Of the others no table may have the words.
        as_json(datasets=study.datasets_shown(), permutations=1000, **study.of_statistics("alpha")),
        study.of_runs(TEXTS),
        minutes=30,
    ),
    "measure_predictions": Result(
        "What the models take for what: confusions, and curves of true and false positives.",
        ["confusions", "roc_curves"],
        as_argument(study.runs_of_models()),
        study.of_runs(TEXTS, PREDICTIONS),
    ),
    "summarise_masked_words": Result(
        "Means of the scores of masked words, and their differences between the forms of a sentence.",
        ["masked_words"],
        study.masked_summary_settings(),
        {
            "masked_words": (
                MASKED,
                [file for model in study.masked_models() for file in study.every(MASKED, model=model)],
            ),
            **study.of_runs(TEXTS),
        },
    ),
}


study.plots |= {
    "regimes": Plot(
        "One metric in every regime on one dataset: by regime, by explainer, or relative to the baseline.",
        "regimes",
        "regimes/{dataset}/{metric}_{view}",
        lambda wildcards: study.regimes_shown(
            dataset=study.label("datasets", wildcards.dataset), metric=wildcards.metric, view=wildcards.view
        ),
        caption="regimes",
        category="Regimes",
        labels=labelled("{view}", dataset="{dataset}", metric="{metric}"),
        views="by_regime|by_explainer|relative",
    ),
    "attribution_differences": Plot(
        "Differences between forms on one dataset: how large they are, or a map of their p-values for each run.",
        "attribution_differences",
        "attribution_differences/{dataset}_{view}",
        lambda wildcards: study.shown(
            "explainers",
            regimes=config["statistics"]["regimes"],
            dataset=study.label("datasets", wildcards.dataset),
            view=wildcards.view,
            **study.of_statistics("alpha"),
        ),
        caption="attribution_differences",
        category="Regimes",
        labels=labelled("attribution differences, {view}", dataset="{dataset}"),
        views="sizes|tests",
    ),
    "roc": Plot(
        "True against false positives of every class and run, regime by regime.",
        "roc_curves",
        "roc/{dataset}",
        study.drawn_of_dataset(regimes=config["statistics"]["regimes"]),
        caption="roc",
        category="Models",
        labels=labelled("true and false positives", dataset="{dataset}"),
    ),
    "associations": Plot(
        "The words that are associated most with each class, and how far all others do.",
        "word_associations",
        "word_associations/{dataset}",
        study.drawn_of_dataset(),
        caption="word_associations",
        category="Data",
        labels=labelled("associations of words", dataset="{dataset}"),
    ),
    "masked_words": Plot(
        "How probable the words of the texts are before and after each training, by group.",
        "masked_words",
        "masked_words/{dataset}",
        lambda wildcards: study.masked_shown(dataset=study.label("datasets", wildcards.dataset)),
        caption="masked_words",
        category="Models",
        labels=labelled("masked words", dataset="{dataset}"),
    ),
}


rule draw_sentence:
    """One sentence with what its words get in every regime: bars, and highlighted text."""
    input:
        script=study.script("figures/draw_sentence.py"),
        attributions=study.first_attribution_files,
        datasets=study.every(TEXTS, dataset="{dataset}", table=["items", "units"]),
        predictions=study.first_predictions,
    output:
        page="<results>/figures/sentences/{dataset}.html",
        figure=study.in_formats(
            "<results>/figures/sentences/{dataset}",
            caption="../../resources/captions/sentence.rst",
            category="Regimes",
            labels=labelled("one sentence", dataset="{dataset}"),
        ),
    log:
        "<logs>/draw_sentence/{dataset}.log",
    benchmark:
        "<benchmarks>/draw_sentence/{dataset}.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: study.shown(
            "explainers",
            models=study.models_in_regimes(),
            dataset=study.label("datasets", wildcards.dataset),
            item=config["figures"]["sentences"].get(wildcards.dataset),
        ),
        folders=study.folders(attributions=ATTRIBUTION_FILE, datasets=TEXTS, predictions=PREDICTIONS),
        versions=study.rendered_by("draw_sentence", "plots/sentence.py"),
    shell:
        "python {input.script:q} {params.folders} --dataset {wildcards.dataset} --settings {params.settings:q} "
        "--page {output.page:q} --output {output.figure:q} > {log:q} 2>&1"


rule score_masked_words:
    """How probable the words of the explained texts are to a masked language model, or what a training made of it."""
    input:
        script=study.script("models/score_masked_words.py"),
        dataset="<results>/datasets/{dataset}/items.parquet",
        predictions=PREDICTIONS,
        weights="<results>/models/{dataset}/{model}/seed{seed}/model.safetensors",
        tokenizer="<results>/models/{dataset}/{model}/seed{seed}/tokenizer.json",
        beside=study.beside_weights,
        source=study.masked_source,
    output:
        MASKED,
    log:
        "<logs>/score_masked_words/{dataset}/{model}/seed{seed}.log",
    benchmark:
        "<benchmarks>/score_masked_words/{dataset}/{model}/seed{seed}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: config["threads"]
    resources:
        device=config["device"],
        tokens_per_batch=config["explain"]["tokens_per_batch"],
        gpu=study.gpu,
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        settings=study.masked_settings,
        versions=lambda wildcards: study.versions("score_masked_words", "ask_model", models=[wildcards.model]),
    shell:
        "python {input.script:q} --items {input.dataset:q} --predictions {input.predictions:q} "
        "--model $(dirname {input.weights:q}) --settings {params.settings:q} --device {resources.device} "
        "--threads {threads} --tokens-per-batch {resources.tokens_per_batch} --output {output:q} > {log:q} 2>&1"


study.tables = {
    "effects": study.effects_page("Regimes"),
    "regimes": Page(["regimes"], study.regimes_shown(**study.of_statistics("confidence")), "Regimes"),
    "disparity": Page(
        ["disparity_summary"],
        study.shown(
            *COMPARED,
            **study.names_compared(),
            noise=configuration.no_hypotheses(config),
            **study.of_statistics("alpha", "considerable_effect"),
        ),
        "Regimes",
        csv=["disparity"],
        at_one_look=True,
    ),
    "predictions": Page(
        ["confusions", "roc_curves", "models"],
        study.shown("datasets", regimes=config["statistics"]["regimes"], published=study.published_values()),
        "Models",
        csv=["confusions", "roc_curves", "regime_models"],
    ),
    "scores": SCORE_PAGE,
    **MODEL_PAGES,
    **study.explainer_pages,
}
study.figures = [
    study.every(
        study.drawn("regimes"),
        metric=study.correctness_metrics() or list(study.metrics),
        view=["by_regime", "by_explainer", "relative"],
    ),
    study.every(study.drawn("effects")),
    study.every(study.drawn("roc")),
    study.every(study.drawn("associations"), dataset=study.datasets_shown()),
    study.every(rules.draw_sentence.output, dataset=study.datasets_shown()),
    *study.explainer_figures,
]
# What only some studies have.
if study.proposed_methods():
    study.tables["proposed_methods"] = Page(
        ["proposed_methods", "proposed_method_pairs"],
        study.shown(
            "datasets",
            "explainers",
            "metrics",
            proposed_methods=study.proposed_methods(),
            regimes=config["statistics"]["regimes"],
            **study.of_statistics("confidence"),
        ),
        "Regimes",
        verdicts=True,
    )
if study.datasets_shown():
    study.tables["ground_truth"] = Page(
        ["word_associations", "ground_truth"], study.shown("datasets", **study.of_statistics("alpha")), "Data"
    )
if study.comparisons():
    study.tables["attribution_differences"] = Page(
        ["attribution_differences"],
        study.shown("datasets", "explainers", regimes=config["statistics"]["regimes"], **study.of_statistics("alpha")),
        "Regimes",
        at_one_look=True,
    )
    study.figures.append(study.every(study.drawn("attribution_differences"), view=["sizes", "tests"]))
if config["masked_words"] and study.masked_models():
    study.tables["masked_words"] = Page(
        ["masked_words"],
        study.shown("datasets", regimes=config["statistics"]["regimes"], **study.of_statistics("confidence")),
        "Models",
    )
    study.figures.append(study.every(study.drawn("masked_words")))
