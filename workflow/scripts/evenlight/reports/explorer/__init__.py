"""The explorer of a study: what it holds, its charts, and the page."""
