"""A workspace with several orchestrator files, as people make them; also used by the studio's tests."""

from pathlib import Path

TEAM_ONLY = '[prompt_builder]\nteam_user_prompt = "{{ user_prompt }}"\n'
TWO_FIELDS = TEAM_ONLY + 'evaluator_user_prompt = "{{ submission }}"\n'
EVALUATOR = """\
default_model = "google-gla:gemini-2.5-flash"
api_key = "sk-evaluator-secret"

[[metrics]]
name = "Relevance"
weight = 0.4

[[metrics]]
name = "Coverage"
weight = 0.6
system_instruction = \"\"\"
Judge how much is covered.
Be fair.
\"\"\"
[metrics.model_settings]
temperature = 0.0
extra_headers = { Authorization = "Bearer secret" }
"""
JUDGMENT = 'model = "google-gla:gemini-2.5-flash"\ntemperature = 0.0\njudge_on_final_round = true\n'


def team(name: str, model: str = "google-gla:gemini-2.5-flash") -> str:
    """A team's file; its id is what runs are matched by."""
    return f"""\
[team]
team_id = "{name}"
team_name = "Team {name}"
[team.leader]
model = "{model}"
system_instruction = "Lead."
[[team.members]]
name = "searcher"
type = "web_search"
model = "{model}"
token = "tok-secret"
[team.members.system_instruction]
text = "Search."
[[team.members]]
config = "configs/agents/writer.toml"
"""


def orchestrator(*teams: str, more: str = "") -> str:
    """An orchestrator's file with these teams."""
    entries = "".join(f'\n[[orchestrator.teams]]\nconfig = "configs/agents/{name}.toml"\n' for name in teams)
    return f"[orchestrator]\nmax_rounds = 3\n{more}{entries}"


JUDGES = 'evaluator_config = "configs/evaluators/news.toml"\njudgment_config = "configs/judgment/news.toml"\n'


def configured_workspace(folder: Path) -> Path:
    """`plain.toml` names nothing; `fast.toml` names a prompt file of its own, and the judges."""
    files = {
        "plain.toml": orchestrator("alpha"),
        "nested/fast.toml": orchestrator(
            "alpha", "beta", more=JUDGES + 'prompt_builder_config = "configs/prompts/fast.toml"\n'
        ),
        "prompt_builder.toml": TEAM_ONLY,
        "prompts/fast.toml": TWO_FIELDS,
        "prompts/other.toml": TEAM_ONLY,
        "evaluators/news.toml": EVALUATOR,
        "judgment/news.toml": JUDGMENT,
        "agents/alpha.toml": team("alpha"),
        "agents/beta.toml": team("beta"),
        "agents/writer.toml": '[agent]\nname = "writer"\nmodel = "openai:gpt-5"\napi_key = "sk-secret"\n',
    }
    for name, text in files.items():
        path = folder / "configs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
