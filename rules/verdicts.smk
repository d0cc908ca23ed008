# What every kind of study computes that compares two levels of something, cell by cell, and how it is drawn.
#
# Comes in: <results>/scores/, <results>/predictions/, <results>/datasets/.
# Goes out: <results>/tables/effects.parquet, effect_counts.parquet, disparity.parquet, disparity_summary.parquet,
# verdict_control.parquet, interim_analyses.parquet; <results>/figures/disparity/, effects/. Which kind is asked, its settings say.


study.results |= {
    "measure_disparity": Result(
        "Compare the groups' scores, seed by seed: tests of items and of pairs, effect sizes.",
        ["disparity"],
        study.compared_settings(),
        study.of_runs(*study.scored_patterns),
        minutes=60,
    ),
    "summarise_disparity": Result(
        "Per cell, how many seeds are significant, and how large the effect is.",
        ["disparity_summary"],
        as_json(
            higher_is_better=study.higher_is_better(),
            **study.of_statistics("alpha", "considerable_effect"),
        ),
        reads=["disparity"],
    ),
    "estimate_effects": Result(
        "Count in how many pairs each group is explained better, estimate effect sizes, and say what can be claimed.",
        ["effects", "effect_counts"],
        study.verdict_settings(**study.looks()),
        study.of_runs(*study.scored_patterns),
        reads=["looks"] if study.planned_looks else [],
        minutes=120,
    ),
    "permute_verdicts": Result(
        "Judge again with the groups' labels permuted: how many verdicts come out without any disparity?",
        ["verdict_control"],
        study.verdict_settings("verdict_permutations", **study.looks()),
        study.of_runs(*study.scored_patterns),
        reads=["looks"] if study.planned_looks else [],
        minutes=120,
    ),
    "record_analyses": Result(
        "Write down which texts the verdicts have judged, and say where they were judged several times without a plan.",
        ["interim_analyses"],
        study.compared_settings(**study.analysis_settings()),
        study.of_runs(*study.scored_patterns),
        keeps=True,
    ),
}


if study.first_time("interim_analyses"):
    study.tell_interim_analyses()
    study.tell_too_few_pairs()


if study.planned_looks:
    study.refuse_what_voids_the_plan()
    study.results |= {
        "check_looks": Result(
            "Refuse, before anything is explained, what would void the level of the plan.",
            ["look_texts"],
            study.verdict_settings(pairs=config["explain"]["pairs"], record=study.looks_made, **study.looks()),
            study.of_runs(*study.explained.values(), PREDICTIONS),
        ),
        "record_looks": Result(
            "Write down the look that is made, and refuse what would void the level of the plan.",
            ["looks"],
            study.verdict_settings(pairs=config["explain"]["pairs"], record=study.looks_made, **study.looks()),
            study.of_runs(*study.scored_patterns),
            reads=["look_texts"],
            keeps=True,
        ),
    }


study.plots |= {
    "disparity": Plot(
        "Map of the effect sizes on one dataset: explainers by metrics, significant cells marked.",
        "disparity_summary",
        "disparity/{dataset}",
        study.drawn_of_dataset(
            "models",
            "explainers",
            "metrics",
            **study.names_compared(),
            **study.modalities_drawn(),
            **study.of_statistics("considerable_effect"),
        ),
        caption="disparity_map",
        category=study.category,
        labels=labelled("disparity", dataset="{dataset}"),
    ),
    "effects": Plot(
        "Wins, ties and losses of every comparison on one dataset, with verdicts.",
        "effects",
        "effects/{dataset}",
        study.drawn_of_dataset(
            "models",
            "explainers",
            "metrics",
            **study.names_compared(),
            **study.effects_drawn(),
            **study.modalities_drawn(),
            **study.of_statistics("confidence"),
        ),
        caption="effects",
        category=study.category,
        labels=labelled("effects", dataset="{dataset}"),
    ),
}
