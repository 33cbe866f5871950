"""Exports: the plan, the write with its receipt, the undo, and what a crash left behind."""
