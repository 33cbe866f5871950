"""A stored round rendered again with another version, beside what was really sent."""
