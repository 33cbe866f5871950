"""Everything as plain files: written by a command or a button, read back into an empty studio."""
