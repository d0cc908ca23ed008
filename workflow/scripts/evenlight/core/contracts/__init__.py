"""The data contracts: the schema of every table that passes between rules, a module for each stage."""
