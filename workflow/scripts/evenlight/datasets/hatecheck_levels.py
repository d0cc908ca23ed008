"""The languages, groups and functionalities of HateCheck and Multilingual HateCheck, as the Snakefile needs them."""

GENERAL, DIRECTED = "general", "directed"
ENGLISH = "english"
_COMMON = ("women", "trans_people", "gay_people", "disabled_people")
# The groups that all complete templates of a language name, in the order of the published files' paper.
GROUPS = {
    ENGLISH: (*_COMMON, "black_people", "muslims", "immigrants"),
    "arabic": (*_COMMON, "black_people", "jews", "immigrants"),
    "dutch": (*_COMMON, "black_people", "muslims", "immigrants"),
    "french": (*_COMMON, "black_people", "muslims", "refugees"),
    "german": (*_COMMON, "black_people", "jews", "refugees"),
    "hindi": ("women", "trans_people", "gay_people", "black_people", "muslims", "lower_caste", "north_east_indians"),
    "italian": (*_COMMON, "black_people", "muslims", "immigrants"),
    "mandarin": (*_COMMON, "black_people", "muslims", "foreigners"),
    "polish": (*_COMMON, "asian_people", "jewish_people", "immigrants"),
    "portuguese": (*_COMMON, "black_people", "jews", "indigenous_people"),
    "spanish": (*_COMMON, "black_people", "jews", "indigenous_people"),
}
LANGUAGES = tuple(language for language in GROUPS if language != ENGLISH)

_EVERYWHERE = (
    "counter_quote_nh",
    "counter_ref_nh",
    "derog_dehum_h",
    "derog_impl_h",
    "derog_neg_attrib_h",
    "derog_neg_emote_h",
    "ident_neutral_nh",
    "ident_pos_nh",
    "negate_neg_nh",
    "negate_pos_h",
    "phrase_opinion_h",
    "phrase_question_h",
    "profanity_h",
    "ref_subs_clause_h",
    "ref_subs_sent_h",
    "threat_dir_h",
    "threat_norm_h",
)
_SPELLINGS = ("char_del", "char_swap", "leet", "space_add", "space_del")
_OWN_SPELLINGS = {
    "arabic": ("char_eng_replace", "char_repeat", "sent_arabazi", "space_add", "word_variation"),
    "mandarin": ("char_comp", "homoph", "pinyin"),
}
# In the other languages the templates with slurs have none for some group.
_SLURS = (ENGLISH, "arabic", "dutch", "mandarin", "polish")


def functionalities(language: str) -> list[str]:
    """The functionalities of a language's complete templates.

    >>> len(functionalities("english")), "slur_h" in functionalities("german")
    (23, False)
    """
    spellings = [f"spell_{name}_h" for name in _OWN_SPELLINGS.get(language, _SPELLINGS)]
    return [*_EVERYWHERE, *spellings, *(["slur_h"] if language in _SLURS else [])]
