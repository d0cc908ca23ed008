"""Text classifiers: architectures, tokenizers, training, storage. Imports torch."""
