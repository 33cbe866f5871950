"""The frame of every page: language, layout, error pages, charts, downloads, the jail."""
