"""Runs and the templates behind them: attribution, and statistics of scores."""
