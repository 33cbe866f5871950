"""Which version made which run, and how versions score."""
