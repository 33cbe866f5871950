"""What ``import builder`` gives, and what it does not cost."""

import subprocess
import sys
from pathlib import Path

import pytest

import builder

ROOT = Path(__file__).parents[2]
PUBLIC = [
    "AggregationStore",
    "BuilderError",
    "BuiltPrompt",
    "CONTRACT",
    "CacheReport",
    "DIALECTS",
    "Dialect",
    "ENGLISH",
    "EvaluationResult",
    "EvaluatorPromptContext",
    "FittedPrompt",
    "JailPool",
    "Jinja2PromptBuilder",
    "LeaderboardEntry",
    "MIXSEEK",
    "MIXSEEK_A15",
    "MIXSEEK_A18",
    "MIXSEEK_A19",
    "PlainTextPromptBuilder",
    "Problem",
    "PromptBuilder",
    "PromptBuilderSettings",
    "RELEASES",
    "RankingEntry",
    "RankingStore",
    "RoundContext",
    "RoundPromptConfig",
    "RoundPromptContext",
    "RoundState",
    "SubmissionRecord",
    "SystemPromptBuilder",
    "SystemPromptConfig",
    "SystemPromptInput",
    "TEMPLATE_VARIABLES",
    "UserPromptBuilder",
    "build_round_prompt",
    "compress_submission_history",
    "dialect_named",
    "fit_round_prompt",
    "format_ranking_table",
    "format_submission_history",
    "gather_round_context",
    "generate_position_message",
    "get_current_datetime_with_timezone",
    "load_settings",
    "read_round_context",
    "render_system_prompt",
    "setup_jinja2_environment",
]


def test_the_public_names_are_these() -> None:
    assert sorted(builder.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_is_there_and_is_the_one_of_its_module(name: str) -> None:
    public = getattr(builder, name)
    room = sys.modules[getattr(public, "__module__", None) or "builder.template.dialect"]
    assert room.__name__.startswith("builder.")
    assert name.isupper() or getattr(room, name) is public


def test_importing_the_package_loads_none_of_its_rooms() -> None:
    code = "import builder, sys; print([name for name in sys.modules if name.startswith('builder.')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_contexts_and_builder_come_without_duckdb() -> None:
    code = "import sys; from builder import RoundState, UserPromptBuilder; print('duckdb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_no_other_name_is_made_up() -> None:
    assert not hasattr(builder, "nothing")
