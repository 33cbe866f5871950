"""The subcommands of ``python -m builder``, one module each: ``add_to`` declares, ``run`` does."""

NAMES = ("init", "check", "render", "formats", "context", "diff", "leaderboard", "system")
"""For ``prompt-studio``, which has them beside its own."""
