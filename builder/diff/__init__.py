"""Comparing texts: lines, words, unified output, three-way merges."""
