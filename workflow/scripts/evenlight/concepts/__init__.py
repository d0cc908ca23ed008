"""What explanations by concepts are made of: what would a model answer, had the text said something else?

Estimators are functions from a :class:`~evenlight.concepts.question.Question` to one effect per change, float (changes,
classes): the difference that the change makes to the model's probabilities. None asks the model: they work from what is
kept of one forward pass per text, of another explainer's attributions, or of the answers of networks that are trained
for it (:mod:`evenlight.concepts.forgetting`). Their classes are in :mod:`evenlight.explainers.by_concepts`.
"""
