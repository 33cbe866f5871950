"""What a template gives: rendering, the rule for saving, budgets, costs, cacheable prefixes, coverage."""
