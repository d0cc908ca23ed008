"""The page of a study: what it holds, its charts, and how it is written."""
