"""Classifiers behind an address: what is sent, what comes back, and every answer kept."""
