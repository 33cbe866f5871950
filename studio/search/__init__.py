"""Finding things: the palette, by name, and the search page, by what texts say."""
