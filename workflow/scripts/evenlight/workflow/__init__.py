"""What rules ask: names, settings and files of a study, and what a run does when it starts and ends."""
