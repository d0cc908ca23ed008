"""The commands of the package ``evenlight``, a module each; what a command needs is imported when it runs."""
