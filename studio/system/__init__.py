"""System prompts of workspaces: builds, what each part costs, what a cache keeps."""
