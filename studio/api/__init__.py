"""The API: what programs read and change, by the same rules as the pages."""
