"""People: how they sign in, their sessions, and their own account."""
