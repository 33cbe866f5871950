"""MixSeek workspaces: registering, the state of their files, exports into them, imports from them."""
