"""What runs tell about prompts: which templates made them, and statistics of scores."""
