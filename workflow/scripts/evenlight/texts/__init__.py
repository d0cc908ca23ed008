"""What is explained: texts with their attributes, units that are compared, and how a model reads them."""
