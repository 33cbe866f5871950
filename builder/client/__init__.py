"""The client of a studio on this or another machine, without Django: prompts by name, pinned runs.

>>> from builder.client import Studio
>>> Studio().prompts("research-team@production").team_user_prompt
"""

from builder.client.prompts import Prompts, Studio

__all__ = ["Prompts", "Studio"]
