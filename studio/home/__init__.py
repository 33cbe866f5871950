"""The home page: what needs attention, what runs, what changed; and the demo of a first start."""
