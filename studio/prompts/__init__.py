"""Prompt sets: versions, labels, drafts, history, the table of language models."""
