# What every kind of study computes that compares two levels of something, cell by cell, and how it is drawn.
#
# Comes in: <results>/scores/, <results>/predictions/, <results>/datasets/.
# Goes out: <results>/tables/effects.parquet, effect_counts.parquet, disparity.parquet, disparity_summary.parquet,
# verdict_control.parquet, interim_analyses.parquet; <results>/figures/disparity/, effects/. Which kind is asked, its settings say.


include: "helpers/verdicts.smk"


RESULTS |= {
    "measure_disparity": Result(
        "Compare the groups' scores, seed by seed: tests of items and of pairs, effect sizes.",
        ["disparity"],
        compared_settings(),
        of_runs(*SCORED),
        minutes=60,
    ),
    "summarise_disparity": Result(
        "Per cell, how many seeds are significant, and how large the effect is.",
        ["disparity_summary"],
        as_json(
            higher_is_better=higher_is_better(),
            **of_statistics("alpha", "considerable_effect"),
        ),
        reads=["disparity"],
    ),
    "estimate_effects": Result(
        "Count in how many pairs each group is explained better, estimate effect sizes, and say what can be claimed.",
        ["effects", "effect_counts"],
        verdict_settings(**looks()),
        of_runs(*SCORED),
        reads=["looks"] if LOOKS else [],
        minutes=120,
    ),
    "permute_verdicts": Result(
        "Judge again with the groups' labels permuted: how many verdicts come out without any disparity?",
        ["verdict_control"],
        verdict_settings("verdict_permutations", **looks()),
        of_runs(*SCORED),
        reads=["looks"] if LOOKS else [],
        minutes=120,
    ),
    "record_analyses": Result(
        "Write down which texts the verdicts have judged, and say where they were judged several times without a plan.",
        ["interim_analyses"],
        compared_settings(**analysis_settings()),
        of_runs(*SCORED),
        keeps=True,
    ),
}


if first_to_tell("interim_analyses"):
    tell_interim_analyses()
    tell_too_few_pairs()


if LOOKS:
    refuse_what_voids_the_plan()
    RESULTS |= {
        "check_looks": Result(
            "Refuse, before anything is explained, what would void the level of the plan.",
            ["look_texts"],
            verdict_settings(pairs=config["explain"]["pairs"], record=LOOKS_MADE, **looks()),
            of_runs(*EXPLAINED.values(), PREDICTIONS),
        ),
        "record_looks": Result(
            "Write down the look that is made, and refuse what would void the level of the plan.",
            ["looks"],
            verdict_settings(pairs=config["explain"]["pairs"], record=LOOKS_MADE, **looks()),
            of_runs(*SCORED),
            reads=["look_texts"],
            keeps=True,
        ),
    }


PLOTS |= {
    "disparity": Plot(
        "Map of the effect sizes on one dataset: explainers by metrics, significant cells marked.",
        "disparity_summary",
        "disparity/{dataset}",
        drawn_of_dataset(
            "models",
            "explainers",
            "metrics",
            **names_compared(),
            **modalities_drawn(),
            **of_statistics("considerable_effect"),
        ),
        caption="disparity_map",
        category=CATEGORY,
        labels=labelled("disparity", dataset="{dataset}"),
    ),
    "effects": Plot(
        "Wins, ties and losses of every comparison on one dataset, with verdicts.",
        "effects",
        "effects/{dataset}",
        drawn_of_dataset(
            "models",
            "explainers",
            "metrics",
            **names_compared(),
            **effects_drawn(),
            **modalities_drawn(),
            **of_statistics("confidence"),
        ),
        caption="effects",
        category=CATEGORY,
        labels=labelled("effects", dataset="{dataset}"),
    ),
}
