"""What a job of the workflow is: its command line, its parts on disk, its digest of code, its start, its record."""
