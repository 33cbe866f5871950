"""Files of a workspace: TOML read and written, the prompt file, safe writing."""
