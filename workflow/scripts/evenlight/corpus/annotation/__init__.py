"""From candidate sentences to a labelled dataset: drafts, review by people, import, agreement."""

# Which words of a sentence change: those of the subject, or every gendered word.
SCOPES = ("subject", "all")
# Whose form a sentence has; also the order of the forms in lists of words.
GROUPS = ("male", "female", "neutral")
