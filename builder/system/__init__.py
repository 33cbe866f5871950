"""System prompts: settings, bootstrap files, skills, the finished text."""
