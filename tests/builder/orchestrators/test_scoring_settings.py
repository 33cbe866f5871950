"""What a score depends on, as comparable lines; nothing but the allowed keys gets out of the files."""

from pathlib import Path

import pytest

from builder.jail import JailPool
from builder.orchestrators.finder import RunSurroundings, find
from builder.orchestrators.scoring_settings import OWN_DEFAULTS, ScoringSettings, scoring_settings
from builder.orchestrators.tables import PARTS, Part, read_table
from tests.builder.orchestrators.configured_workspace import configured_workspace, orchestrator, team

FAST = "configs/nested/fast.toml"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return configured_workspace(tmp_path / "workspace")


def settings(workspace: Path, name: str = FAST) -> ScoringSettings:
    return scoring_settings(find(workspace, name, RunSurroundings()))


def replaced(workspace: Path, file: str, old: str, new: str) -> None:
    path = workspace / "configs" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_the_judges_teams_and_rounds_are_lines(workspace: Path) -> None:
    found = settings(workspace)
    assert found.evaluator == (
        'default_model = "google-gla:gemini-2.5-flash"',
        "Coverage.weight = 0.6",
        "Coverage.system_instruction | Judge how much is covered.",
        "Coverage.system_instruction | Be fair.",
        "Coverage.model_settings.temperature = 0.0",
        "Relevance.weight = 0.4",
    )
    assert found.judgment == (
        'model = "google-gla:gemini-2.5-flash"',
        "temperature = 0.0",
        "judge_on_final_round = true",
    )
    assert 'alpha.leader.model = "google-gla:gemini-2.5-flash"' in found.teams
    assert 'alpha.searcher.system_instruction = "Search."' in found.teams
    assert 'members.configs/agents/writer.toml.model = "openai:gpt-5"' in found.teams
    assert found.rounds == ("max_rounds = 3",)
    assert settings(workspace, "configs/plain.toml").evaluator == (OWN_DEFAULTS,)


def test_no_key_or_token_of_the_files_gets_out(workspace: Path) -> None:
    everything = str(settings(workspace).as_json())
    assert "secret" not in everything
    assert "Authorization" not in everything


@pytest.mark.parametrize("part", PARTS)
def test_a_table_where_a_plain_value_is_expected_stays_inside(part: Part) -> None:
    """Somebody may write `model = { name = …, api_key = … }`, and whatever TOML allows elsewhere."""
    keys = (
        "model", "default_model", "name", "weight", "temperature", "thinking", "max_rounds", "team_id",
        "max_concurrent_members", "judge_on_final_round", "description", "config",
    )  # fmt: skip
    odd = "".join(f'{key} = {{ api_key = "sk-secret" }}\n' for key in keys)
    odd += 'system_instruction = { text = { api_key = "sk-secret" } }\n'
    odd += 'model_settings = { "a:b" = { api_key = "sk-secret" }, thinking = { token = "sk-secret" } }\n'
    tables = ("orchestrator", "team", "team.leader", "[team.members]", "llm_default", "[metrics]")
    text = odd + "".join(f"[{table}]\n{odd}" for table in tables)
    assert "secret" not in str(read_table(text.encode(), "odd.toml", part))


@pytest.mark.parametrize(
    ("file", "old", "new", "part"),
    [
        ("evaluators/news.toml", "weight = 0.4", "weight = 0.5", "evaluator"),
        (
            "evaluators/news.toml",
            'default_model = "google-gla:gemini-2.5-flash"',
            'default_model = "a:b"',
            "evaluator",
        ),
        ("evaluators/news.toml", "Be fair.", "Be strict.", "evaluator"),
        ("judgment/news.toml", "temperature = 0.0", "temperature = 0.5", "judgment"),
        ("agents/alpha.toml", "gemini-2.5-flash", "gemini-3", "teams"),
        ("agents/writer.toml", "gpt-5", "gpt-6", "teams"),
        ("nested/fast.toml", "max_rounds = 3", "max_rounds = 5", "rounds"),
    ],
)
def test_a_change_is_seen_in_its_part_only(workspace: Path, file: str, old: str, new: str, part: str) -> None:
    before = settings(workspace).as_json()
    replaced(workspace, file, old, new)
    after = settings(workspace).as_json()
    assert [key for key in before if before[key] != after[key]] == [part]


def test_settings_per_model_are_seen(workspace: Path) -> None:
    replaced(
        workspace,
        "evaluators/news.toml",
        "[metrics.model_settings]",
        '[metrics.model_settings."openai:gpt-5"]',
    )
    assert "Coverage.model_settings.openai:gpt-5.temperature = 0.0" in settings(workspace).evaluator


def test_comments_order_and_secrets_make_no_difference(workspace: Path) -> None:
    before = settings(workspace)
    replaced(workspace, "evaluators/news.toml", "sk-evaluator-secret", "sk-another")
    replaced(workspace, "agents/alpha.toml", "[team]", "# a comment\n[team]")
    assert settings(workspace).sha256 == before.sha256
    assert ScoringSettings.from_json(before.as_json()) == before


def test_metrics_that_ask_no_model_do_not_use_the_evaluator_template(workspace: Path) -> None:
    own = workspace / "configs/evaluator.toml"
    (workspace / "configs/own.toml").write_text(orchestrator("alpha"))
    own.write_text('[[metrics]]\nname = "SharpeRatio"\nweight = 1.0\n')
    assert not settings(workspace, "configs/own.toml").uses_evaluator_template
    own.write_text('[[metrics]]\nname = "SharpeRatio"\n[[metrics]]\nname = "Coverage"\n')
    assert settings(workspace, "configs/own.toml").uses_evaluator_template
    own.write_text('[[metrics]]\nname = "Tone"\nmodel = "a:b"\n')
    assert settings(workspace, "configs/own.toml").uses_evaluator_template


def test_odd_texts_can_be_stored_and_long_ones_still_differ(workspace: Path) -> None:
    file = workspace / "configs/judgment/news.toml"
    found = []
    for end in ("a", "b"):
        file.write_text('model = "a\\u0000b"\nsystem_instruction = "' + "x" * 30_000 + f'{end}"\n')
        found.append(settings(workspace).judgment)
    assert found[0][0] == 'model = "a\N{SYMBOL FOR NULL}b"'
    assert found[0] != found[1] and len("".join(found[0])) < 21_000


def test_models_that_move_are_named(workspace: Path) -> None:
    assert settings(workspace).moving_models == []
    (workspace / "configs/agents/beta.toml").write_text(team("beta", "google-gla:gemini-flash-lite-latest"))
    assert settings(workspace).moving_models == [
        'beta.leader.model = "google-gla:gemini-flash-lite-latest"',
        'beta.searcher.model = "google-gla:gemini-flash-lite-latest"',
    ]


def test_the_jail_reads_the_same(workspace: Path) -> None:
    with JailPool(size=1, spares=0) as pool:
        found = find(workspace, FAST, RunSurroundings(), reader=pool)
        assert scoring_settings(found) == settings(workspace)
        (workspace / FAST).write_text("[orchestrator\n")
        assert find(workspace, FAST, RunSurroundings(), reader=pool).error is not None
