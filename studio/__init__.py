"""Prompt Studio: the Django project and its one app."""

from builder import __version__ as __version__
