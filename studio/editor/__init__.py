"""The editor's page, its drafts and conflicts, and how sets are made and restored."""
