"""Running the studio: start, server, database, backups, background work, the demo."""
