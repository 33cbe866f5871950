"""Workspaces on other machines: what their agents report, and a copy of it that pages read like a folder."""
