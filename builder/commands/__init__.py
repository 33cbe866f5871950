"""The subcommands of ``python -m builder``, one module each: ``add_to`` declares, ``run`` does."""

LOCAL_NAMES = ("init", "check", "render", "formats", "context", "diff", "leaderboard", "system")
"""Those that need no studio."""
CLIENT_NAMES = ("login", "pull", "push", "status", "exec", "agent", "mcp")
NAMES = (*LOCAL_NAMES, *CLIENT_NAMES)
"""For ``prompt-studio``, which has them beside its own."""
