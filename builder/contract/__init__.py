"""The documents' API: settings, user prompts, round prompts, budgets."""
