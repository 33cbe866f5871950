"""What a provider's cache can keep: stable prefixes, tokens, lints, reports."""
