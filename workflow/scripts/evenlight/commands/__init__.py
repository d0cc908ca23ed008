"""The commands of the package ``evenlight``, a module each; what a command needs is imported when it runs."""

# The status where flags or files cannot be used: 1 and 2 say something of verdicts.
UNUSABLE = 3
