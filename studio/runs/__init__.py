"""Runs from the leaderboard: lists, one run, its rounds and teams, and two runs side by side."""
