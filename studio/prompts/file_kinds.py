"""The kinds of file that a set's versions can be, and the text that a set of each kind begins with.

Where such a file lies in a workspace, and how it is read and written, is in `studio.workspaces.file_kinds`.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _

from builder.template.defaults import default_templates
from builder.template.dialect import MIXSEEK, Dialect
from builder.template.variables import KINDS
from studio.prompts.texts import SystemText, Templates, TextKind, Texts

DEFAULT_SYSTEM = SystemText("""\
# The settings of a workspace's system prompt; a key that is left out has its usual value.
[system_prompt]
mode = "full"  # "full", "minimal" or "none": how many of the sections
identity_line = "You are an agent at work in a workspace."
workspace_dir = "."
docs_path = "docs"
disabled_sections = []

[system_prompt.bootstrap]
# Files of the workspace that stand in the prompt, in this order, and how much of each.
files = ["IDENTITY.md", "SOUL.md", "AGENTS.md", "USER.md", "HEARTBEAT.md"]
bootstrapMaxChars = 20000
truncation = "head"  # or "head_tail"

[system_prompt.skills]
dirs = ["skills"]
disabled = []
max_chars = 18000

[system_prompt.time]
userTimezone = "Asia/Tokyo"
timeFormat = "auto"  # or "12", "24"

[system_prompt.sandbox]
enabled = false

[system_prompt.runtime]
model = ""
thinking = "off"

[[system_prompt.tools]]
name = "read"
summary = "Read files from the workspace"

[[system_prompt.tools]]
name = "write"
summary = "Write files to the workspace"

[[system_prompt.tools]]
name = "exec"
summary = "Execute shell commands"

[[system_prompt.tools]]
name = "session_status"
summary = "Get current time and session info"
""")


class FileKind(models.TextChoices):
    """Which file of a workspace a set's versions are."""

    PROMPTS = "prompts", _("Prompt templates")
    SYSTEM = "system", _("System prompt")

    @property
    def has_templates(self) -> bool:
        """Whether its texts are templates, which are rendered under sample contexts."""
        return self is FileKind.PROMPTS

    @property
    def is_system(self) -> bool:
        """Whether its text is the settings of a system prompt, which is built for a workspace."""
        return self is FileKind.SYSTEM

    @property
    def text_kinds(self) -> tuple[TextKind, ...]:
        """The texts that a version consists of."""
        return KINDS if self is FileKind.PROMPTS else ("system",)

    def first_text(self, dialect: Dialect = MIXSEEK) -> Texts:
        """The default templates of a format, or a system prompt with all that is usually set."""
        if self is FileKind.SYSTEM:
            return DEFAULT_SYSTEM
        defaults = default_templates(dialect)
        return Templates(*(defaults[kind] for kind in KINDS))
