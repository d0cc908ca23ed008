"""From candidate sentences to a labelled data set: drafts, review by people, import, agreement."""
