"""The subcommands of ``python -m builder``, one module each: ``add_to`` declares, ``run`` does."""
