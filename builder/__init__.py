"""MixSeek's prompts: what they are made from, what they may contain, what they become.

>>> from builder import RoundPromptContext, UserPromptBuilder

The names below are loaded when they are first used, so that whoever needs one room pays for no other:
a worker process must not load duckdb. ``check``, ``render``, ``variables`` and ``compare`` are imported
from the modules ``builder.check``, ``builder.render``, ``builder.formatters`` and ``builder.diff``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builder.budget import FittedPrompt as FittedPrompt
    from builder.budget import fit_round_prompt as fit_round_prompt
    from builder.built_prompt import BuiltPrompt as BuiltPrompt
    from builder.cache_report import CacheReport as CacheReport
    from builder.dialect import CONTRACT as CONTRACT
    from builder.dialect import DIALECTS as DIALECTS
    from builder.dialect import ENGLISH as ENGLISH
    from builder.dialect import MIXSEEK as MIXSEEK
    from builder.dialect import Dialect as Dialect
    from builder.errors import BuilderError as BuilderError
    from builder.formatters import format_ranking_table as format_ranking_table
    from builder.formatters import format_submission_history as format_submission_history
    from builder.formatters import generate_position_message as generate_position_message
    from builder.formatters import get_current_datetime_with_timezone as get_current_datetime_with_timezone
    from builder.jail import JailPool as JailPool
    from builder.leaderboard import AggregationStore as AggregationStore
    from builder.models import EvaluationResult as EvaluationResult
    from builder.models import EvaluatorPromptContext as EvaluatorPromptContext
    from builder.models import LeaderboardEntry as LeaderboardEntry
    from builder.models import RankingEntry as RankingEntry
    from builder.models import RankingStore as RankingStore
    from builder.models import RoundPromptContext as RoundPromptContext
    from builder.models import RoundState as RoundState
    from builder.models import SubmissionRecord as SubmissionRecord
    from builder.problems import Problem as Problem
    from builder.round_context import RoundContext as RoundContext
    from builder.round_context import gather_round_context as gather_round_context
    from builder.round_context import read_round_context as read_round_context
    from builder.round_filters import setup_jinja2_environment as setup_jinja2_environment
    from builder.round_history import compress_submission_history as compress_submission_history
    from builder.round_prompt import PlainTextPromptBuilder as PlainTextPromptBuilder
    from builder.round_prompt import PromptBuilder as PromptBuilder
    from builder.round_prompt import RoundPromptConfig as RoundPromptConfig
    from builder.round_prompt import build_round_prompt as build_round_prompt
    from builder.round_templates import TEMPLATE_VARIABLES as TEMPLATE_VARIABLES
    from builder.round_templates import Jinja2PromptBuilder as Jinja2PromptBuilder
    from builder.settings import PromptBuilderSettings as PromptBuilderSettings
    from builder.settings import load_settings as load_settings
    from builder.system_builder import SystemPromptBuilder as SystemPromptBuilder
    from builder.system_config import SystemPromptConfig as SystemPromptConfig
    from builder.system_input import SystemPromptInput as SystemPromptInput
    from builder.system_prompt import render_system_prompt as render_system_prompt
    from builder.user_prompt import UserPromptBuilder as UserPromptBuilder

_ROOMS = {
    "FittedPrompt": "builder.budget",
    "fit_round_prompt": "builder.budget",
    "BuiltPrompt": "builder.built_prompt",
    "CacheReport": "builder.cache_report",
    "CONTRACT": "builder.dialect",
    "DIALECTS": "builder.dialect",
    "Dialect": "builder.dialect",
    "ENGLISH": "builder.dialect",
    "MIXSEEK": "builder.dialect",
    "BuilderError": "builder.errors",
    "format_ranking_table": "builder.formatters",
    "format_submission_history": "builder.formatters",
    "generate_position_message": "builder.formatters",
    "get_current_datetime_with_timezone": "builder.formatters",
    "JailPool": "builder.jail",
    "AggregationStore": "builder.leaderboard",
    "EvaluatorPromptContext": "builder.models",
    "RankingEntry": "builder.models",
    "RankingStore": "builder.models",
    "RoundPromptContext": "builder.models",
    "RoundState": "builder.models",
    "EvaluationResult": "builder.models",
    "LeaderboardEntry": "builder.models",
    "SubmissionRecord": "builder.models",
    "Problem": "builder.problems",
    "RoundContext": "builder.round_context",
    "gather_round_context": "builder.round_context",
    "read_round_context": "builder.round_context",
    "setup_jinja2_environment": "builder.round_filters",
    "compress_submission_history": "builder.round_history",
    "PlainTextPromptBuilder": "builder.round_prompt",
    "PromptBuilder": "builder.round_prompt",
    "RoundPromptConfig": "builder.round_prompt",
    "build_round_prompt": "builder.round_prompt",
    "Jinja2PromptBuilder": "builder.round_templates",
    "TEMPLATE_VARIABLES": "builder.round_templates",
    "PromptBuilderSettings": "builder.settings",
    "load_settings": "builder.settings",
    "SystemPromptBuilder": "builder.system_builder",
    "SystemPromptConfig": "builder.system_config",
    "SystemPromptInput": "builder.system_input",
    "render_system_prompt": "builder.system_prompt",
    "UserPromptBuilder": "builder.user_prompt",
}
__all__ = [*_ROOMS]

if not TYPE_CHECKING:  # a type checker that saw it would let every misspelt name pass

    def __getattr__(name: str) -> object:
        if name not in _ROOMS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_ROOMS[name]), name)
