"""The public names of the builder, which makes and checks MixSeek's prompts.

>>> from builder import RoundPromptContext, UserPromptBuilder

The names below are loaded when they are first used, so that whoever needs one room pays for no other:
a worker process must not load duckdb. ``check``, ``render`` and ``variables`` are imported from the modules
``builder.template.check``, ``builder.template.render`` and ``builder.template.formatters``, ``compare`` from
``builder.diff.lines``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builder.contract.budget import FittedPrompt as FittedPrompt
    from builder.contract.budget import fit_round_prompt as fit_round_prompt
    from builder.contract.round_context import RoundContext as RoundContext
    from builder.contract.round_context import gather_round_context as gather_round_context
    from builder.contract.round_context import read_round_context as read_round_context
    from builder.contract.round_history import compress_submission_history as compress_submission_history
    from builder.contract.round_prompt import PlainTextPromptBuilder as PlainTextPromptBuilder
    from builder.contract.round_prompt import PromptBuilder as PromptBuilder
    from builder.contract.round_prompt import RoundPromptConfig as RoundPromptConfig
    from builder.contract.round_prompt import build_round_prompt as build_round_prompt
    from builder.contract.round_templates import TEMPLATE_VARIABLES as TEMPLATE_VARIABLES
    from builder.contract.round_templates import Jinja2PromptBuilder as Jinja2PromptBuilder
    from builder.contract.settings import PromptBuilderSettings as PromptBuilderSettings
    from builder.contract.settings import load_settings as load_settings
    from builder.contract.user_prompt import UserPromptBuilder as UserPromptBuilder
    from builder.errors import BuilderError as BuilderError
    from builder.jail import JailPool as JailPool
    from builder.leaderboard import AggregationStore as AggregationStore
    from builder.problems import Problem as Problem
    from builder.system.builder import SystemPromptBuilder as SystemPromptBuilder
    from builder.system.built_prompt import BuiltPrompt as BuiltPrompt
    from builder.system.cache_report import CacheReport as CacheReport
    from builder.system.config import SystemPromptConfig as SystemPromptConfig
    from builder.system.input import SystemPromptInput as SystemPromptInput
    from builder.system.prompt import render_system_prompt as render_system_prompt
    from builder.template.dialect import CONTRACT as CONTRACT
    from builder.template.dialect import DIALECTS as DIALECTS
    from builder.template.dialect import ENGLISH as ENGLISH
    from builder.template.dialect import MIXSEEK as MIXSEEK
    from builder.template.dialect import MIXSEEK_A15 as MIXSEEK_A15
    from builder.template.dialect import MIXSEEK_A18 as MIXSEEK_A18
    from builder.template.dialect import MIXSEEK_A19 as MIXSEEK_A19
    from builder.template.dialect import RELEASES as RELEASES
    from builder.template.dialect import Dialect as Dialect
    from builder.template.dialect import dialect_named as dialect_named
    from builder.template.formatters import format_ranking_table as format_ranking_table
    from builder.template.formatters import format_submission_history as format_submission_history
    from builder.template.formatters import generate_position_message as generate_position_message
    from builder.template.formatters import (
        get_current_datetime_with_timezone as get_current_datetime_with_timezone,
    )
    from builder.template.models import EvaluationResult as EvaluationResult
    from builder.template.models import EvaluatorPromptContext as EvaluatorPromptContext
    from builder.template.models import LeaderboardEntry as LeaderboardEntry
    from builder.template.models import RankingEntry as RankingEntry
    from builder.template.models import RankingStore as RankingStore
    from builder.template.models import RoundPromptContext as RoundPromptContext
    from builder.template.models import RoundState as RoundState
    from builder.template.models import SubmissionRecord as SubmissionRecord
    from builder.template.round_filters import setup_jinja2_environment as setup_jinja2_environment

_NAMES = {
    "builder.contract.budget": "FittedPrompt fit_round_prompt",
    "builder.contract.round_context": "RoundContext gather_round_context read_round_context",
    "builder.contract.round_history": "compress_submission_history",
    "builder.contract.round_prompt": "PlainTextPromptBuilder PromptBuilder"
    " RoundPromptConfig build_round_prompt",
    "builder.contract.round_templates": "Jinja2PromptBuilder TEMPLATE_VARIABLES",
    "builder.contract.settings": "PromptBuilderSettings load_settings",
    "builder.contract.user_prompt": "UserPromptBuilder",
    "builder.errors": "BuilderError",
    "builder.jail": "JailPool",
    "builder.leaderboard": "AggregationStore",
    "builder.problems": "Problem",
    "builder.system.builder": "SystemPromptBuilder",
    "builder.system.built_prompt": "BuiltPrompt",
    "builder.system.cache_report": "CacheReport",
    "builder.system.config": "SystemPromptConfig",
    "builder.system.input": "SystemPromptInput",
    "builder.system.prompt": "render_system_prompt",
    "builder.template.dialect": "CONTRACT DIALECTS Dialect ENGLISH"
    " MIXSEEK MIXSEEK_A15 MIXSEEK_A18 MIXSEEK_A19 RELEASES dialect_named",
    "builder.template.formatters": "format_ranking_table format_submission_history"
    " generate_position_message get_current_datetime_with_timezone",
    "builder.template.models": "EvaluatorPromptContext RankingEntry RankingStore RoundPromptContext"
    " RoundState EvaluationResult LeaderboardEntry SubmissionRecord",
    "builder.template.round_filters": "setup_jinja2_environment",
}
_ROOMS = {name: room for room, names in _NAMES.items() for name in names.split()}
__all__ = [*_ROOMS]

if not TYPE_CHECKING:  # a type checker that saw it would let every misspelt name pass

    def __getattr__(name: str) -> object:
        if name not in _ROOMS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_ROOMS[name]), name)
