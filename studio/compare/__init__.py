"""Comparisons: two versions as source or as rendered prompts, and versions × contexts as a matrix."""
