"""The version of each stage: an integer, which is raised by one when its numbers change.

Jobs are made again whose versions or settings change, and no others: other code alone makes nothing again. Explainers,
metrics, readers, architectures and results have theirs in their class (``settings.Entry``). ``tests/golden`` fails
where numbers change and no version does.
"""

from collections.abc import Mapping

# A stage is a command, by the name of its script; ``ask_model`` is what all have in common that ask a network.
STAGES = {
    "ask_model": 1,
    # datasets
    "import_dataset": 1,
    "label_concepts": 1,
    "list_changes": 1,
    "measure_co_occurrence": 1,
    "swap_classes": 1,
    # corpus
    "draft_variants": 1,
    "export_label_studio": 1,
    "extract_paragraphs": 1,
    "filter_sentences": 1,
    "find_articles": 1,
    "import_annotations": 1,
    "list_books": 1,
    "measure_agreement": 1,
    "parse_sentences": 1,
    "resolve_annotations": 1,
    "train_parser": 1,
    "write_review_page": 1,
    # models
    "describe_service": 1,
    "estimate_questions": 1,
    "forget_concept": 1,
    "load_model": 1,
    "predict_levels": 1,
    "read_texts": 1,
    "represent_texts": 1,
    "score_masked_words": 1,
    "train": 1,
    # explanations
    "attribute": 1,
    "attribute_changes": 1,
    "estimate_changes": 1,
    "generate_answers": 1,
    "import_released": 1,
    "plan_explanations": 1,
    "randomise_layers": 1,
    "score": 1,
    "score_changes": 1,
    "unpack_release": 1,
    # answers
    "ask_answers": 1,
    "ask_follow_ups": 1,
    "estimate_answers": 1,
    "record_answers": 1,
    "record_changed_answers": 1,
    "record_follow_ups": 1,
    "score_answers": 1,
    # results
    "compare_explainers": 1,
    "compute": 1,
    # figures
    "draw": 1,
    "draw_score_panels": 1,
    "draw_sentence": 1,
    "draw_specifications": 1,
    "tabulate": 1,
    "write_page": 1,
}


def versions_for(versions: Mapping, method: str) -> dict:
    """Of the versions that a job uses those that one explainer depends on: without those of other explainers.

    >>> versions_for({"stages": {"attribute": 1}, "explainers": {"lime": 2, "saliency": 1}}, "lime")
    {'stages': {'attribute': 1}, 'explainers': {'lime': 2}}
    """
    if "explainers" not in versions:
        return dict(versions)
    return {**versions, "explainers": {name: each for name, each in versions["explainers"].items() if name == method}}
