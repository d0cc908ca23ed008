"""What everything rests on: errors, seeds, tables and their contracts, files from elsewhere. Imports no torch."""
