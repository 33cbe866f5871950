"""Templates: variables, formats, checks, the gate, rendering."""
