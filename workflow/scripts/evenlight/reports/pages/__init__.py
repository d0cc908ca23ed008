"""What stands in each table of the study, a module per page: the tables it reads and how they become cells.

A module offers ``TABLES``, the contracts of what it reads, and ``page(*tables, **settings) -> Page``. It computes
nothing: the tables were made by :mod:`evenlight.statistics`. The settings are what stands in the page: labels and
directions, as ``names`` (:class:`~evenlight.reports.page_parts.Names`), and levels of significance. ``shown(study)``
says whether a study has the page, by which settings and with which figures (:mod:`evenlight.reports.entries`). A file
beside it is its caption.

A module without ``page`` has figures alone. All tables lie beside the pages as CSV, which their results write.
"""
