#!/usr/bin/env python3
"""Prompt Studio's commands: begin with "python3 manage.py studio"; "python3 manage.py help" lists all."""

# This file is the first thing that any Python reads, so it keeps to what even Python 2 can parse.
import os
import sys

NEEDED = (3, 11)


def main():
    """Make the virtual environment where there is none, then hand the command over to Django inside it."""
    if sys.version_info < NEEDED:
        found = ".".join(str(part) for part in sys.version_info[:2])
        wanted = ".".join(str(part) for part in NEEDED)
        sys.exit(
            "Prompt Studio needs Python " + wanted + " or newer, and this is Python " + found + ": "
            "install a newer one and run it by its name, for example python" + wanted + " manage.py studio"
        )
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from studio.virtual_environment import enter

    enter(sys.argv)
    from studio.operations.start import main as start

    start(sys.argv)


if __name__ == "__main__":
    main()
