"""MixSeek's prompts: what they are made from, what they may contain, what they become."""
