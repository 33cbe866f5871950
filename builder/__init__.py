"""Makes and checks MixSeek's prompts, without Django and without a server.

>>> from builder import RoundPromptContext, UserPromptBuilder

``builder/README.md`` shows a round controller and a pipeline, and where this library reads the documents
differently. Versions are semantic: a change of ``PromptBuilder`` or of another public signature is a new
major one. Names are loaded when they are first used, so that whoever needs one room pays for no other: a
worker process must not load duckdb.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from builder.cache.tokens import TokenCount as TokenCount
    from builder.contract.budget import FittedPrompt as FittedPrompt
    from builder.contract.budget import LeftOut as LeftOut
    from builder.contract.budget import fit_round_prompt as fit_round_prompt
    from builder.contract.round_context import PlainRoundStore as PlainRoundStore
    from builder.contract.round_context import RoundContext as RoundContext
    from builder.contract.round_context import RoundStore as RoundStore
    from builder.contract.round_context import gather_round_context as gather_round_context
    from builder.contract.round_context import read_round_context as read_round_context
    from builder.contract.round_history import compress_submission_history as compress_submission_history
    from builder.contract.round_prompt import Kept as Kept
    from builder.contract.round_prompt import PlainTextPromptBuilder as PlainTextPromptBuilder
    from builder.contract.round_prompt import PromptBuilder as PromptBuilder
    from builder.contract.round_prompt import ReducibleBuilder as ReducibleBuilder
    from builder.contract.round_prompt import RoundPromptConfig as RoundPromptConfig
    from builder.contract.round_prompt import build_round_prompt as build_round_prompt
    from builder.contract.round_templates import TEMPLATE_VARIABLES as TEMPLATE_VARIABLES
    from builder.contract.round_templates import Jinja2PromptBuilder as Jinja2PromptBuilder
    from builder.contract.settings import PromptBuilderSettings as PromptBuilderSettings
    from builder.contract.settings import Source as Source
    from builder.contract.settings import load_settings as load_settings
    from builder.contract.user_prompt import UserPromptBuilder as UserPromptBuilder
    from builder.errors import BuilderError as BuilderError
    from builder.errors import CacheFolderError as CacheFolderError
    from builder.errors import ClientError as ClientError
    from builder.errors import CopyUnderWay as CopyUnderWay
    from builder.errors import DatabaseDamaged as DatabaseDamaged
    from builder.errors import DatabaseMissing as DatabaseMissing
    from builder.errors import DatabaseQuarantined as DatabaseQuarantined
    from builder.errors import DatabaseRefused as DatabaseRefused
    from builder.errors import DatabaseTooLarge as DatabaseTooLarge
    from builder.errors import DatabaseTooNew as DatabaseTooNew
    from builder.errors import DiffTooLarge as DiffTooLarge
    from builder.errors import LeaderboardError as LeaderboardError
    from builder.errors import MissingColumn as MissingColumn
    from builder.errors import MissingTable as MissingTable
    from builder.errors import NotADatabase as NotADatabase
    from builder.errors import PositionError as PositionError
    from builder.errors import PromptFileConflict as PromptFileConflict
    from builder.errors import PromptFileError as PromptFileError
    from builder.errors import PromptFileInvalid as PromptFileInvalid
    from builder.errors import PromptFileMissing as PromptFileMissing
    from builder.errors import PromptFileRefused as PromptFileRefused
    from builder.errors import PromptFileUnwritable as PromptFileUnwritable
    from builder.errors import PromptNotStored as PromptNotStored
    from builder.errors import ReaderBusy as ReaderBusy
    from builder.errors import StudioRefused as StudioRefused
    from builder.errors import StudioUnreachable as StudioUnreachable
    from builder.errors import TaskUnknown as TaskUnknown
    from builder.errors import TemplateFailure as TemplateFailure
    from builder.errors import TemplateSyntaxFailure as TemplateSyntaxFailure
    from builder.errors import TimezoneError as TimezoneError
    from builder.errors import TornCopy as TornCopy
    from builder.errors import UndefinedFailure as UndefinedFailure
    from builder.errors import UnknownExecution as UnknownExecution
    from builder.errors import UnknownRound as UnknownRound
    from builder.errors import UnknownRun as UnknownRun
    from builder.errors import UnknownTeam as UnknownTeam
    from builder.errors import WorkspaceMissing as WorkspaceMissing
    from builder.files.file_check import check_file as check_file
    from builder.invalid_input import ContextError as ContextError
    from builder.invalid_input import InvalidInput as InvalidInput
    from builder.invalid_input import SettingsError as SettingsError
    from builder.jail import JailPool as JailPool
    from builder.leaderboard import Activity as Activity
    from builder.leaderboard import AggregationStore as AggregationStore
    from builder.leaderboard import Bin as Bin
    from builder.leaderboard import Bounds as Bounds
    from builder.leaderboard import Copying as Copying
    from builder.leaderboard import DeliveredPrompt as DeliveredPrompt
    from builder.leaderboard import DeliveredRun as DeliveredRun
    from builder.leaderboard import Distribution as Distribution
    from builder.leaderboard import Execution as Execution
    from builder.leaderboard import ExecutionComparison as ExecutionComparison
    from builder.leaderboard import Freshness as Freshness
    from builder.leaderboard import Gap as Gap
    from builder.leaderboard import Metric as Metric
    from builder.leaderboard import Progress as Progress
    from builder.leaderboard import RebuiltRound as RebuiltRound
    from builder.leaderboard import Retries as Retries
    from builder.leaderboard import RoundRecord as RoundRecord
    from builder.leaderboard import ScoredRound as ScoredRound
    from builder.leaderboard import ScorePoint as ScorePoint
    from builder.leaderboard import Standing as Standing
    from builder.leaderboard import SubmissionLength as SubmissionLength
    from builder.leaderboard import TeamDelta as TeamDelta
    from builder.leaderboard import TeamFailure as TeamFailure
    from builder.leaderboard import TeamRun as TeamRun
    from builder.leaderboard import TeamSummary as TeamSummary
    from builder.leaderboard.across import Across as Across
    from builder.messages import Wording as Wording
    from builder.problems import Problem as Problem
    from builder.system.builder import SkillCost as SkillCost
    from builder.system.builder import SystemPromptBuilder as SystemPromptBuilder
    from builder.system.builder import build_system_prompt as build_system_prompt
    from builder.system.built_prompt import BuiltPrompt as BuiltPrompt
    from builder.system.built_prompt import FileUse as FileUse
    from builder.system.built_prompt import Reason as Reason
    from builder.system.built_prompt import Section as Section
    from builder.system.built_prompt import SkillUse as SkillUse
    from builder.system.cache_report import CacheMinimum as CacheMinimum
    from builder.system.cache_report import CacheReport as CacheReport
    from builder.system.cache_report import Difference as Difference
    from builder.system.cache_report import Verdict as Verdict
    from builder.system.config import BootstrapConfig as BootstrapConfig
    from builder.system.config import RuntimeConfig as RuntimeConfig
    from builder.system.config import SkillsConfig as SkillsConfig
    from builder.system.config import SystemPromptConfig as SystemPromptConfig
    from builder.system.config import TimeConfig as TimeConfig
    from builder.system.front_matter import FrontMatter as FrontMatter
    from builder.system.input import BootstrapFile as BootstrapFile
    from builder.system.input import PromptMode as PromptMode
    from builder.system.input import Runtime as Runtime
    from builder.system.input import Sandbox as Sandbox
    from builder.system.input import Skill as Skill
    from builder.system.input import SystemPromptInput as SystemPromptInput
    from builder.system.input import Tool as Tool
    from builder.system.prompt import render_system_prompt as render_system_prompt
    from builder.system.workspace_scan import Machine as Machine
    from builder.system.workspace_scan import ScanLimits as ScanLimits
    from builder.template.defaults import DEFAULT_EVALUATOR_USER_PROMPT as DEFAULT_EVALUATOR_USER_PROMPT
    from builder.template.defaults import DEFAULT_JUDGMENT_USER_PROMPT as DEFAULT_JUDGMENT_USER_PROMPT
    from builder.template.defaults import DEFAULT_TEAM_USER_PROMPT as DEFAULT_TEAM_USER_PROMPT
    from builder.template.dialect import CONTRACT as CONTRACT
    from builder.template.dialect import DIALECTS as DIALECTS
    from builder.template.dialect import ENGLISH as ENGLISH
    from builder.template.dialect import MIXSEEK as MIXSEEK
    from builder.template.dialect import MIXSEEK_A15 as MIXSEEK_A15
    from builder.template.dialect import MIXSEEK_A18 as MIXSEEK_A18
    from builder.template.dialect import MIXSEEK_A19 as MIXSEEK_A19
    from builder.template.dialect import RELEASES as RELEASES
    from builder.template.dialect import Dialect as Dialect
    from builder.template.dialect import Sentences as Sentences
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
    from builder.template.round_filters import TakesFilters as TakesFilters
    from builder.template.round_filters import setup_jinja2_environment as setup_jinja2_environment
    from builder.template.shapes import EvaluationLike as EvaluationLike
    from builder.template.shapes import EvaluatorContextLike as EvaluatorContextLike
    from builder.template.shapes import LeaderboardEntryLike as LeaderboardEntryLike
    from builder.template.shapes import RankingEntryLike as RankingEntryLike
    from builder.template.shapes import RoundContextLike as RoundContextLike
    from builder.template.shapes import RoundStateLike as RoundStateLike
    from builder.template.shapes import SubmissionLike as SubmissionLike
    from builder.template.variables import VARIABLES as VARIABLES
    from builder.template.variables import PromptKind as PromptKind
    from builder.template.variables import Variable as Variable

_NAMES = {
    "builder.cache.tokens": "TokenCount",
    "builder.contract.budget": "FittedPrompt LeftOut fit_round_prompt",
    "builder.contract.round_context": (
        "PlainRoundStore RoundContext RoundStore gather_round_context read_round_context"
    ),
    "builder.contract.round_history": "compress_submission_history",
    "builder.contract.round_prompt": (
        "Kept PlainTextPromptBuilder PromptBuilder ReducibleBuilder RoundPromptConfig build_round_prompt"
    ),
    "builder.contract.round_templates": "TEMPLATE_VARIABLES Jinja2PromptBuilder",
    "builder.contract.settings": "PromptBuilderSettings Source load_settings",
    "builder.contract.user_prompt": "UserPromptBuilder",
    "builder.errors": (
        "BuilderError CacheFolderError ClientError CopyUnderWay DatabaseDamaged DatabaseMissing "
        "DatabaseQuarantined DatabaseRefused DatabaseTooLarge DatabaseTooNew "
        "DiffTooLarge LeaderboardError MissingColumn MissingTable NotADatabase "
        "PositionError PromptFileConflict PromptFileError PromptFileInvalid PromptFileMissing "
        "PromptFileRefused PromptFileUnwritable PromptNotStored ReaderBusy StudioRefused "
        "StudioUnreachable TaskUnknown TemplateFailure "
        "TemplateSyntaxFailure TimezoneError TornCopy UndefinedFailure UnknownExecution "
        "UnknownRound UnknownRun UnknownTeam WorkspaceMissing"
    ),
    "builder.files.file_check": "check_file",
    "builder.invalid_input": "ContextError InvalidInput SettingsError",
    "builder.jail": "JailPool",
    "builder.leaderboard": (
        "Activity AggregationStore Bin Bounds Copying DeliveredPrompt DeliveredRun "
        "Distribution Execution ExecutionComparison Freshness Gap Metric Progress "
        "RebuiltRound Retries RoundRecord ScorePoint ScoredRound Standing SubmissionLength TeamDelta "
        "TeamFailure TeamRun TeamSummary"
    ),
    "builder.leaderboard.across": "Across",
    "builder.messages": "Wording",
    "builder.problems": "Problem",
    "builder.system.builder": "SkillCost SystemPromptBuilder build_system_prompt",
    "builder.system.built_prompt": "BuiltPrompt FileUse Reason Section SkillUse",
    "builder.system.cache_report": "CacheMinimum CacheReport Difference Verdict",
    "builder.system.config": "BootstrapConfig RuntimeConfig SkillsConfig SystemPromptConfig TimeConfig",
    "builder.system.front_matter": "FrontMatter",
    "builder.system.input": "BootstrapFile PromptMode Runtime Sandbox Skill SystemPromptInput Tool",
    "builder.system.prompt": "render_system_prompt",
    "builder.system.workspace_scan": "Machine ScanLimits",
    "builder.template.defaults": (
        "DEFAULT_EVALUATOR_USER_PROMPT DEFAULT_JUDGMENT_USER_PROMPT DEFAULT_TEAM_USER_PROMPT"
    ),
    "builder.template.dialect": (
        "CONTRACT DIALECTS ENGLISH MIXSEEK MIXSEEK_A15 MIXSEEK_A18 MIXSEEK_A19 RELEASES Dialect Sentences "
        "dialect_named"
    ),
    "builder.template.formatters": (
        "format_ranking_table format_submission_history generate_position_message "
        "get_current_datetime_with_timezone"
    ),
    "builder.template.models": (
        "EvaluationResult EvaluatorPromptContext LeaderboardEntry RankingEntry RankingStore "
        "RoundPromptContext RoundState SubmissionRecord"
    ),
    "builder.template.round_filters": "TakesFilters setup_jinja2_environment",
    "builder.template.shapes": (
        "EvaluationLike EvaluatorContextLike LeaderboardEntryLike RankingEntryLike "
        "RoundContextLike RoundStateLike SubmissionLike"
    ),
    "builder.template.variables": "VARIABLES PromptKind Variable",
}
_ROOMS = {name: room for room, names in _NAMES.items() for name in names.split()}
__all__ = [*_ROOMS, "__version__"]

if not TYPE_CHECKING:  # a type checker that saw it would let every misspelt name pass

    def __getattr__(name: str) -> object:
        if name not in _ROOMS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_ROOMS[name]), name)

    def __dir__() -> list[str]:
        return sorted(__all__)
