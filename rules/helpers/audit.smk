# What rules/audit.smk asks: its settings, and which tables it needs.

# What an audit of answers reads, the verdicts first.
AUDITED_OF_ANSWERS = (
    "effects",
    "effect_counts",
    "verdict_control",
    "interim_analyses",
    "audited_questions",
    "texts_needed",
    "draws",
    "answered",
    "decided",
    "decisions",
)
# Beside the audit of attributions, that of answers has a name of its own; each names the page of the other.
AUDIT_OF_ANSWERS = "audit_answers" if EXPLAINERS else "audit"
BESIDE_ATTRIBUTIONS = f"{AUDIT_OF_ANSWERS}.html" if kinds.TEXT in MODALITIES else None
BESIDE_ANSWERS = "audit.html" if EXPLAINERS else None
# Of each dataset one that explains it.
FIRST_EXPLAINERS = list(dict.fromkeys(names[0] for names in RUNS.sets_of(EXPLAINERS)))
MANIFEST = "<results>/models/{dataset}/{model}/seed{seed}/manifest.json"
# What every audit shows beside the verdicts.
AUDITED = ("interim_analyses", "audited_texts", "audited_groups", "different_texts", "texts_needed", "without_words")
# The pages that an audit names as its evidence, where the study has them.
EVIDENCE = (
    "disparity",
    "effects",
    "control",
    "covariate_adjusted",
    "models",
    "costs",
    "groups",
    "beyond_random",
    "reliance",
    "looks",
)
# The pages of tables that only some studies have, with the tables that the audit reads.
SOMETIMES = {
    "beyond_random": ["beyond_random"],
    "reliance": ["pair_invariance", "group_reliance", "words_by_group"],
}


def audited_pages():
    """Those of them that this study has."""
    return [page for page in SOMETIMES if page in TABLES]


def audited_tables():
    """The tables that the audit reads, of these pages and of its own."""
    always = [
        "effects",
        "effect_counts",
        "disparity",
        "verdict_control",
        "models",
        "balanced_accuracy",
        "costs",
        *AUDITED,
    ]
    return always + [table for page in audited_pages() for table in SOMETIMES[page]] + shown_texts(["examples"])


def counted_texts(families, explainers, of):
    """What the texts of an audit are counted by: the scores of one family of metrics, which are of the same texts as all others."""
    family = next(iter(families))
    names = {"family": family, "explainers": explainers, "comparisons": comparisons_of(of)}
    return {
        "settings": as_argument(runs_of_study() | names),
        "of_runs": {"scores": (SCORES, every(SCORES, family=family, explainer=explainers)), **of_runs(TEXTS)},
        "minutes": 30,
    }


def texts_needed():
    """What estimates how many texts, or questions with answers, would decide what is open."""
    return {
        "about": "How many texts would decide each question that is open.",
        "tables": ["texts_needed"],
        "settings": as_json(**of_statistics("as_often_bound", "power")),
        "reads": ["effects"],
    }


def hidden_tokens():
    """In which ways the metrics hide words."""
    return sorted({metric["hidden_token"] for metric in config["metrics"].values() if "hidden_token" in metric})


def answer_audit_settings():
    """Names and labels, what each metric measures, whether words may be told, and the probabilities of the statistics."""
    names = scored(kinds.TEXT)["metrics"]
    return shown(
        *COMPARED,
        of=kinds.TEXT,
        study=config["study"],
        kinds={name: config["metrics"][name]["metric"] for name in names},
        texts=bool(shown_texts([True], kinds.TEXT)),
        faithfulness=bool(faithfulness_metrics()),
        beside=BESIDE_ANSWERS,
        **of_statistics("alpha", "as_often_bound", "power"),
    )


def audit_settings():
    """As the explorer's, without figures; the probability at which it tells what would be found, and of words what may be told."""
    reliance = {"random": configuration.random_explainers(config), "words": config["explorer"]["texts"]}
    return whole_study(
        of=[kinds.TOKENS],
        pages=audited_pages(),
        beside=BESIDE_ATTRIBUTIONS,
        reliance=reliance | of_statistics("confidence"),
        **of_statistics("alpha", "as_often_bound", "power"),
    )
