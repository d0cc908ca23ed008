"""From books to candidate sentences: pages are fetched and kept, read into paragraphs, parsed and filtered."""
