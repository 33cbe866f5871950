"""Cacheable prefixes: what a provider's cache can keep of a prompt, and what keeps it from more."""
