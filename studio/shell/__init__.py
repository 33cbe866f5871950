"""The frame of every page: sign-in, people, language, layout, error pages, charts, downloads, the jail."""
