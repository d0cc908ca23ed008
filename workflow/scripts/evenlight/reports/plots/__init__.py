"""What a study draws: a module for each figure, with its caption in a file beside it.

A module whose figure is drawn of one table has

- ``TABLE``: the contract of the columns that it reads;
- ``SHOWS``: what stands in the title;
- ``draw_<module>(table, …, title)``, which gives the figure, from what the rule ``draw_<module>`` says as settings.
"""
