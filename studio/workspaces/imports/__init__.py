"""Imports: a prompt file, uploaded or from a workspace, becomes a version or a draft."""
