"""How pages of scores are asked for."""

from django.utils.translation import gettext_lazy as _

from studio.prompts.forms import VersionNumberField
from studio.runs.forms import AnywayForm, PageForm


class VersionScoresForm(AnywayForm):
    """Which stretch of a set's versions."""

    before = VersionNumberField(required=False, label=_("Before version"))


class VersionRunsForm(AnywayForm, PageForm):
    """Which stretch of a version's runs."""
