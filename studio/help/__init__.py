"""Help: the glossary with its "?" on pages, and a page per journey."""
