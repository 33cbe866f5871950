"""Orchestrator files: the files each one names, found as MixSeek finds them, and what scores depend on."""
