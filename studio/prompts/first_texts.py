"""What a set begins with, before anybody has saved a version of it."""

from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.variables import KINDS
from studio.models import PromptSet, PromptVersion
from studio.prompts.models import Holds
from studio.prompts.texts import SystemText, Templates, Texts

DEFAULTS = Templates(*(DEFAULT_TEMPLATES[kind] for kind in KINDS))
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


def first_text(holds: str) -> Texts:
    """MixSeek's own templates, or a system prompt with all that is usually set."""
    return DEFAULT_SYSTEM if holds == Holds.SYSTEM else DEFAULTS


def starting_text(prompt_set: PromptSet, saved: PromptVersion | None) -> Texts:
    """What an editor without a draft shows: the newest version, or what a set begins with."""
    return saved.templates if saved else first_text(prompt_set.holds)
