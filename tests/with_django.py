"""Imported by the conftest of each folder whose tests need Django; the builder's tests run without it."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()
