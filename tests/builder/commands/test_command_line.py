"""``python -m builder`` as a person, a pipe and a CI job use it."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from builder import __version__
from builder.__main__ import COMMANDS, main
from builder.commands import NAMES
from builder.leaderboard import AggregationStore
from builder.leaderboard.schema import DDL
from tests.builder.workspaces import play_small_workspace

ROOT = Path(__file__).parents[3]
NOW = "2025-11-19T12:34:56.789012+00:00"

GOOD = '''\
[prompt_builder]
team_user_prompt = """
# タスク
{{ user_prompt }}
"""
evaluator_user_prompt = """
# 評価対象
{{ submission }}
"""
judgment_user_prompt = """
# 判定対象
{{ submission_history }}
"""
'''

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process: its exit code, stdout and stderr."""

    def go(*arguments: str | Path, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        try:
            code = main([str(each) for each in arguments])
        except SystemExit as stop:  # argparse
            code = int(stop.code or 0)
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return go


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "prompt_builder.toml").write_text(GOOD)
    return tmp_path


def prompt_file(tmp_path: Path, old: str, new: str) -> Path:
    """The good file with one thing changed."""
    assert old in GOOD
    path = tmp_path / "prompts.toml"
    path.write_text(GOOD.replace(old, new))
    return path


def context(**changes: Any) -> str:
    values = {
        "user_prompt": "データ分析タスク",
        "round_number": 2,
        "round_history": [
            {"round_number": 1, "submission_content": "初回", "evaluation_score": 75.5, "score_details": {}}
        ],
        "team_id": "team1",
        "team_name": "Alpha",
        "execution_id": "exec1",
    }
    return json.dumps(values | changes, ensure_ascii=False)


# --- init --------------------------------------------------------------------------------


def test_init_writes_a_file_that_checks_and_renders(run: Run, tmp_path: Path) -> None:
    code, out, err = run("init", tmp_path)
    path = tmp_path / "configs" / "prompt_builder.toml"
    assert (code, out, err) == (0, "", f"Wrote {path}\n")
    assert path.read_text().startswith("# UserPromptBuilder 設定ファイル\n# 生成日時: 20")
    assert run("check", path) == (0, "", "")
    code, out, _ = run("render", "team", "-w", tmp_path, "-c", "-", "--now", NOW, stdin=context())
    assert (code, out.splitlines()[0]) == (0, "# ユーザから指定されたタスク")


def test_init_and_system_take_the_workspace_of_the_environment(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MIXSEEK_WORKSPACE", raising=False)
    for command in ("init", "system", "check", "leaderboard"):
        code, _, err = run(command)
        assert (code, err.splitlines()[-1]) == (
            2,
            "python -m builder: error: name a WORKSPACE, or set MIXSEEK_WORKSPACE",
        )
    monkeypatch.setenv("MIXSEEK_WORKSPACE", str(tmp_path))
    assert run("init")[0] == 0 and (tmp_path / "configs" / "prompt_builder.toml").is_file()
    assert f"Working directory: {tmp_path}\n" in run("system")[1]


def test_init_refuses_to_overwrite_without_force(run: Run, workspace: Path) -> None:
    path = workspace / "configs" / "prompt_builder.toml"
    code, out, err = run("init", workspace)
    assert (code, out) == (1, "")
    assert str(path) in err
    assert path.read_text() == GOOD
    assert run("init", workspace, "--force")[0] == 0
    assert "# ユーザから指定されたタスク" in path.read_text()


@pytest.mark.parametrize(
    ("release", "line"),
    [
        ("0.1.0a15", "# 現在のラウンド"),
        ("0.1.0a18", "# 入力の読み方"),
        ("0.1.0a19", "# 入力の読み方"),
        ("mixseek", "# 入力の読み方"),
    ],
)
def test_init_writes_the_templates_of_a_release(run: Run, tmp_path: Path, release: str, line: str) -> None:
    assert run("init", tmp_path, "--release", release)[0] == 0
    path = tmp_path / "configs" / "prompt_builder.toml"
    assert line in path.read_text().splitlines()
    assert run("check", path) == (0, "", "")


@pytest.mark.parametrize("name", ["mixseek", "mixseek-0.1.0a19", "mixseek-0.1.0a18", "mixseek-0.1.0a15"])
def test_render_neutralises_the_templates_tags_in_the_newest_format(
    run: Run, tmp_path: Path, name: str
) -> None:
    run("init", tmp_path, "--release", "mixseek")
    told = json.dumps({"user_query": "q", "submission": "a</submission>b"})
    code, out, _ = run("render", "evaluator", "-w", tmp_path, "-c", "-", "--dialect", name, stdin=told)
    newest = name in ("mixseek", "mixseek-0.1.0a19")
    shown = "a&lt;/submission&gt;b" if newest else "a</submission>b"
    assert code == 0 and f"<submission>\n{shown}\n</submission>" in out


def test_formats_are_shown_as_a_table(run: Run) -> None:
    code, out, _ = run("formats")
    assert code == 0
    assert out.splitlines()[0] == (
        "|  | mixseek-0.1.0a19 | mixseek-0.1.0a18 | mixseek-0.1.0a15 | contract | english |"
    )
    assert "### あなたの提出内容:⏎{content}" in out


# --- check -------------------------------------------------------------------------------


def test_check_of_a_good_file_says_nothing(run: Run, workspace: Path) -> None:
    assert run("check", workspace / "configs" / "prompt_builder.toml") == (0, "", "")


@pytest.mark.parametrize("isolated", [(), ("--isolated",)])
def test_check_names_file_line_and_column(run: Run, tmp_path: Path, isolated: tuple[str, ...]) -> None:
    path = prompt_file(tmp_path, "{{ submission_history }}", "{{ submision_history }}")
    code, out, err = run("check", path, *isolated)
    assert (code, err) == (1, "")
    assert out == (
        f"{path}:12:4: error: `submision_history` is not a variable of this template."
        " Did you mean `submission_history`?\n"
    )


def test_check_reports_a_missing_field(run: Run, tmp_path: Path) -> None:
    path = prompt_file(tmp_path, "evaluator_user_prompt", "evaluator_prompt")
    code, out, _ = run("check", path)
    assert code == 1
    assert "error: Missing required field: evaluator_user_prompt" in out
    assert f"{path}:6:1: warning: Unknown key: prompt_builder.evaluator_prompt" in out


@pytest.mark.slow
@pytest.mark.parametrize("isolated", [(), ("--isolated",)])
def test_check_of_broken_toml_names_the_line(run: Run, tmp_path: Path, isolated: tuple[str, ...]) -> None:
    path = prompt_file(tmp_path, "team_user_prompt =", "team_user_prompt")
    code, out, _ = run("check", path, *isolated)
    assert code == 1
    assert out.startswith(f"{path}:2: error: ")


def test_hints_do_not_fail_a_check(run: Run, tmp_path: Path) -> None:
    path = prompt_file(tmp_path, "{{ user_prompt }}", "{{ user_prompt | upper }}")
    code, out, _ = run("check", path)
    assert code == 0
    assert ": hint: " in out


def test_check_as_json(run: Run, tmp_path: Path) -> None:
    path = prompt_file(tmp_path, "{{ user_prompt }}", "{{ user_promt }}")
    code, out, _ = run("check", path, "--format", "json")
    (found,) = json.loads(out)
    assert code == 1
    assert found == {
        "file": str(path),
        "line": 4,
        "column": 4,
        "severity": "error",
        "code": found["code"],
        "message": "`user_promt` is not a variable of this template. Did you mean `user_prompt`?",
        "suggestion": "Write `user_prompt`.",
        "field": "team_user_prompt",
        "template_line": 2,
        "replaces": "user_promt",
        "replacement": "user_prompt",
    }


def test_check_as_annotations_of_a_code_host(run: Run, tmp_path: Path) -> None:
    path = prompt_file(tmp_path, "{{ user_prompt }}", "{{ user_promt }}").rename(tmp_path / "a,b%.toml")
    _, out, _ = run("check", path, "--format", "github")
    escaped = str(path).replace("%", "%25").replace(",", "%2C")
    assert out == (
        f"::error file={escaped},line=4,col=4::`user_promt` is not a variable of this template."
        " Did you mean `user_prompt`?\n"
    )


def test_check_as_sarif(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The properties that SARIF 2.1.0 requires, and those that a code host shows."""
    monkeypatch.chdir(tmp_path)
    wrong = GOOD.replace("{{ user_prompt }}", "{{ user_promt }}").replace(
        "# 評価対象", "{{ user_prompt|upper }}"
    )
    (tmp_path / "a b%.toml").write_text(wrong)
    code, out, _ = run("check", "a b%.toml", tmp_path / "a b%.toml", "--format", "sarif")
    report = json.loads(out)
    assert code == 1
    assert report["version"] == "2.1.0" and report["$schema"].endswith("sarif-2.1.0.json")
    (run_,) = report["runs"]
    driver = run_["tool"]["driver"]
    assert driver["name"] == "prompt-studio" and driver["version"] == __version__
    assert {result["level"] for result in run_["results"]} == {"error", "note"}
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(rules) == len(set(rules)) and all(rule["shortDescription"]["text"] for rule in driver["rules"])
    for result in run_["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"]["uri"] in ("a%20b%25.toml", f"file://{tmp_path}/a%20b%25.toml")
        assert place["region"]["startLine"] >= 1
    first = run_["results"][0]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 4, "startColumn": 4}
    assert first["message"]["text"] == (
        "`user_promt` is not a variable of this template. Did you mean `user_prompt`?"
    )
    assert driver["rules"][0]["shortDescription"]["text"] == (
        "`…` is not a variable of this template. Did you mean `…`?"
    )
    code, out, _ = run("check", "-", "--format", "sarif", stdin=GOOD.replace("team_user_prompt", "other"))
    assert "Missing required field: team_user_prompt. Add it to the [prompt_builder] table." in out
    (tmp_path / "good.toml").write_text(GOOD)
    code, out, _ = run("check", "good.toml", "--format", "sarif")
    assert (code, json.loads(out)["runs"][0]["results"]) == (0, [])


def test_check_of_a_workspace_with_a_broken_orchestrator_file_names_it(run: Run, workspace: Path) -> None:
    orchestrator = workspace / "configs" / "orchestrator.toml"
    orchestrator.write_text("[orchestrator\n")
    code, out, _ = run("check", workspace)
    assert (code, out.partition(": ")[0]) == (1, f"{orchestrator}:1")


def test_check_takes_several_files_and_stdin(run: Run, tmp_path: Path) -> None:
    first = prompt_file(tmp_path, "{{ user_prompt }}", "{{ user_promt }}")
    code, out, _ = run("check", first, "-", stdin=GOOD.replace("{{ submission }}", "{{ submision }}"))
    assert code == 1
    assert [line.split(": ")[0] for line in out.splitlines()] == [f"{first}:4:4", "<stdin>:8:4"]


@pytest.mark.slow
@pytest.mark.parametrize("isolated", [(), ("--isolated",)])
def test_check_of_a_missing_file_keeps_the_findings_of_the_others(
    run: Run, tmp_path: Path, isolated: tuple[str, ...]
) -> None:
    bad, none = prompt_file(tmp_path, "{{ user_prompt }}", "{{ user_promt }}"), tmp_path / "none.toml"
    code, out, err = run("check", none, bad, tmp_path, *isolated)
    usual = tmp_path / "configs" / "prompt_builder.toml"
    assert (code, err) == (1, "")
    assert out.splitlines()[0] == f"{none}:1: error: Cannot be read: No such file or directory"
    assert out.splitlines()[1].startswith(f"{bad}:4:4: error: ")
    assert out.splitlines()[2] == f"{usual}:1: error: Cannot be read: No such file or directory"


def test_check_ends_a_finding_before_its_advice(run: Run, tmp_path: Path) -> None:
    path = prompt_file(tmp_path, "evaluator_user_prompt", "something")
    line = "error: Missing required field: evaluator_user_prompt. Add it to the [prompt_builder] table."
    assert f"{path}:1: {line}" in run("check", path)[1].splitlines()


# --- render ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("isolated", [(), ("--isolated",)])
def test_render_prints_the_prompt_and_not_a_byte_more(
    run: Run, workspace: Path, isolated: tuple[str, ...]
) -> None:
    code, out, err = run("render", "team", "-w", workspace, "-c", "-", *isolated, stdin=context())
    assert (code, out, err) == (0, "# タスク\nデータ分析タスク", "")


def test_render_takes_the_clock_and_the_zone(run: Run, workspace: Path) -> None:
    path = workspace / "configs" / "prompt_builder.toml"
    path.write_text(GOOD.replace("{{ user_prompt }}", "{{ current_datetime }}"))
    arguments = ("render", "team", "-w", workspace, "-c", "-", "--now", NOW)
    assert run(*arguments, stdin=context())[1] == f"# タスク\n{NOW}"
    tokyo = run(*arguments, "--tz", "Asia/Tokyo", stdin=context())[1]
    assert tokyo == "# タスク\n2025-11-19T21:34:56.789012+09:00"


def test_render_speaks_the_dialect_asked_for(run: Run, workspace: Path) -> None:
    said = {
        dialect: run("render", "judgment", "-w", workspace, "-c", "-", "--dialect", dialect, stdin=context())[
            1
        ].splitlines()[2]
        for dialect in ("contract", "mixseek", "english")
    }
    assert said == {
        "contract": "スコア: 75.50/100",
        "mixseek": "### スコア: 75.50/100",
        "english": "Score: 75.50/100",
    }


def test_render_evaluator_reads_its_own_fields(run: Run, workspace: Path) -> None:
    given = json.dumps({"user_query": "問い", "submission": "答え", "round_number": "ignored"})
    code, out, _ = run("render", "evaluator", "-w", workspace, "-c", "-", stdin=given)
    assert (code, out) == (0, "# 評価対象\n答え")


def test_render_of_a_wrong_context_names_the_field(run: Run, workspace: Path) -> None:
    code, out, err = run("render", "team", "-w", workspace, "-c", "-", stdin=context(round_number=0))
    assert (code, out) == (1, "")
    assert err == "error: round_number must be >= 1\n"


def test_render_of_no_json_is_an_error_without_a_traceback(run: Run, workspace: Path) -> None:
    code, out, err = run("render", "team", "-w", workspace, "-c", "-", stdin="{")
    assert (code, out) == (1, "")
    assert err.startswith("error: ")


def test_render_of_half_a_character_is_an_error_without_a_traceback(run: Run, workspace: Path) -> None:
    path = workspace / "configs" / "prompt_builder.toml"
    path.write_text(GOOD.replace("{{ user_prompt }}", "{{ '%c' % 55296 }}"))
    code, out, err = run("render", "team", "-w", workspace, "-c", "-", stdin=context())
    assert (code, out) == (1, "")
    assert err == "error: Jinja2 template error: the output holds a character that UTF-8 cannot carry\n"


def test_render_with_an_unreadable_database_is_an_error(run: Run, workspace: Path) -> None:
    (workspace / "mixseek.db").write_bytes(b"not a database" * 1000)
    code, out, err = run("render", "team", "-w", workspace, "-c", "-", stdin=context())
    assert (code, out) == (1, "")
    assert "mixseek.db" in err


def test_ranking_of_the_context_needs_no_database(run: Run, workspace: Path) -> None:
    (workspace / "mixseek.db").write_bytes(b"not a database" * 1000)
    given = context(ranking=[{"team_id": "t", "team_name": "T", "max_score": 1, "total_rounds": 1}])
    assert run("render", "team", "-w", workspace, "-c", "-", stdin=given)[0] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        ("render", "nobody", "-w", ".", "-c", "-"),
        ("render", "team", "-w", ".", "-c", "-", "--now", "yesterday"),
        ("render", "team", "-w", ".", "-c", "-", "--tz", "Asia"),
        ("check",),
        ("unknown",),
        (),
    ],
)
def test_wrong_usage_exits_with_two(run: Run, wrong: tuple[str, ...]) -> None:
    code, out, err = run(*wrong)
    assert (code, out) == (2, "")
    assert "usage: python -m builder" in err


def test_version_is_told_and_every_command_is_known_by_name(run: Run) -> None:
    assert run("--version") == (0, f"prompt-studio {__version__}\n", "")
    assert tuple(command.__name__.rpartition(".")[2] for command in COMMANDS) == NAMES


# --- diff --------------------------------------------------------------------------------


@pytest.fixture
def two_files(tmp_path: Path) -> tuple[Path, Path]:
    left, right = tmp_path / "a", tmp_path / "b"
    left.write_text("一\n二\n三\n")
    right.write_text("一\n弐\n三\n")
    return left, right


def test_diff_stands_side_by_side(run: Run, two_files: tuple[Path, Path]) -> None:
    code, out, _ = run("diff", *two_files)
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["1", "一", "1", "一"],
        ["2", "二", "|", "2", "弐"],
        ["3", "三", "3", "三"],
    ]


def test_unified_diff_is_a_patch(run: Run, two_files: tuple[Path, Path]) -> None:
    left, right = two_files
    code, out, _ = run("diff", *two_files, "--unified")
    assert code == 0
    assert out == f"--- {left}\n+++ {right}\n@@ -1,3 +1,3 @@\n 一\n-二\n+弐\n 三\n"


def test_diff_of_equal_files_prints_nothing_to_the_pipe(run: Run, two_files: tuple[Path, Path]) -> None:
    left, _ = two_files
    assert run("diff", left, left) == (0, "", "The texts are the same.\n")


def test_diff_of_no_text_is_an_error(run: Run, two_files: tuple[Path, Path]) -> None:
    left, right = two_files
    right.write_bytes(b"\xff\xfe\x00")
    code, out, err = run("diff", left, right)
    assert (code, out, err) == (1, "", f"error: {right} is not UTF-8 text\n")


# --- leaderboard and context -------------------------------------------------------------


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with stored rounds, made by the project's own code."""
    return play_small_workspace(tmp_path_factory.mktemp("played"))


@pytest.mark.slow
def test_leaderboard_lists_executions_and_ranks_one(run: Run, played: Path) -> None:
    code, out, _ = run("leaderboard", played, "--format", "json")
    executions = json.loads(out)
    assert code == 0
    assert {execution["state"] for execution in executions} >= {"completed"}
    done = next(each["execution_id"] for each in executions if each["state"] == "completed")

    ranking = json.loads(run("leaderboard", played, done, "--format", "json")[1])
    assert [entry["rank"] for entry in ranking] == list(range(1, len(ranking) + 1))
    scores = [entry["max_score"] for entry in ranking]
    assert scores == sorted(scores, reverse=True)
    # With the evaluator's digits: the 32 bits that the database keeps would show more of them, wrong ones.
    assert scores == [round(score, 2) for score in scores]

    rows = list(csv.DictReader(io.StringIO(run("leaderboard", played, done, "--format", "csv")[1])))
    assert [row["team_id"] for row in rows] == [entry["team_id"] for entry in ranking]
    table = run("leaderboard", played, done)[1].splitlines()
    assert table[0].split() == ["rank", "team_id", "team_name", "max_score", "total_rounds"]
    assert len(table) == len(ranking) + 1


def test_leaderboard_without_a_database_says_so(run: Run, tmp_path: Path) -> None:
    code, out, err = run("leaderboard", tmp_path)
    assert (code, out) == (1, "")
    assert "mixseek.db" in err


def test_leaderboard_of_an_unknown_execution_says_so(run: Run, played: Path) -> None:
    code, out, err = run("leaderboard", played, "mistyped")
    assert (code, out, err) == (1, "", "error: There is no execution `mistyped` in this database.\n")


@pytest.mark.slow
def test_leaderboard_names_what_the_database_lacks_and_shows_the_rest(run: Run, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "mixseek.db")) as connection:
        for statement in DDL:
            connection.execute(statement)
        connection.execute("DROP TABLE round_status")
    code, out, err = run("leaderboard", tmp_path)
    assert (code, err) == (0, "warning: The database has no table `round_status`.\n")
    assert out.startswith("execution_id")


@pytest.mark.slow
def test_no_earlier_copy_stands_in_for_a_torn_database(run: Run, tmp_path: Path) -> None:
    workspace = play_small_workspace(tmp_path)
    assert run("leaderboard", workspace)[0] == 0
    with (workspace / "mixseek.db").open("r+b") as database:
        database.seek(4096)
        database.write(b"torn" * 2048)
    code, out, err = run("leaderboard", workspace)
    assert (code, out) == (1, "")
    assert err.startswith("error: ") and "mixseek.db" in err and "Traceback" not in err


@pytest.mark.slow
def test_context_piped_into_render_is_what_was_delivered(run: Run, played: Path) -> None:
    """Every third of the stored rounds of the finished runs, under the file that they ran."""
    with AggregationStore(played) as store:
        finished = [each.execution_id for each in store.executions() if each.state == "completed"]
        rounds = [each for execution in finished for each in store.rounds(execution)]
        delivered = [store.delivered(each.execution_id, each.team_id, each.round_number) for each in rounds]
    assert len(rounds) >= 20
    for each, prompt in [*zip(rounds, delivered, strict=True)][::3]:
        code, given, _ = run("context", played, each.execution_id, each.team_id, each.round_number)
        assert code == 0
        now = json.loads(given)["delivered_at"]
        command = ("render", "team", "-w", played, "-c", "-", "--dialect", "mixseek", "--now", now)
        assert run(*command, stdin=given)[1] == prompt.text


@pytest.mark.slow
def test_context_for_the_judgment_holds_the_round_itself(run: Run, played: Path) -> None:
    done = json.loads(run("leaderboard", played, "--format", "json")[1])
    execution = next(each["execution_id"] for each in done if each["state"] == "completed")
    seen = {
        kind: [
            each["round_number"]
            for each in json.loads(run("context", played, execution, "team-001", "2", "--for", kind)[1])[
                "round_history"
            ]
        ]
        for kind in ("team", "judgment")
    }
    assert seen == {"team": [1], "judgment": [1, 2]}


def test_context_of_a_run_that_goes_on_takes_the_task_out_of_its_prompt(run: Run, played: Path) -> None:
    with AggregationStore(played) as store:
        going_on = next(each.execution_id for each in store.executions() if each.state != "completed")
    code, given, _ = run("context", played, going_on, "team-001", 1)
    assert code == 0
    assert json.loads(given)["user_prompt"] == "続いている調査"


def test_unknown_round_says_so(run: Run, played: Path) -> None:
    done = json.loads(run("leaderboard", played, "--format", "json")[1])[-1]["execution_id"]
    code, out, err = run("context", played, done, "nobody", "1")
    assert (code, out) == (1, "")
    assert "nobody" in err


def test_error_does_not_drive_the_terminal(run: Run, played: Path) -> None:
    code, _, err = run("context", played, "\x1b[2J", "team-001", "1")
    assert (code, err) == (1, "error: There is no execution `␛[2J` in this database.\n")


# --- as a process ------------------------------------------------------------------------


def process(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "builder", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        check=False,
        **options,
    )


@pytest.mark.slow
def test_no_colours_in_a_pipe_and_utf8_whatever_the_locale(tmp_path: Path) -> None:
    path = prompt_file(tmp_path, "# タスク", "# タスク {{ 順位 }}")
    done = process("check", path, env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"})
    assert done.returncode == 1
    assert "`順位`" in done.stdout.decode()
    assert b"\x1b" not in done.stdout + done.stderr


@pytest.mark.slow
def test_reader_that_leaves_early_causes_no_traceback(tmp_path: Path) -> None:
    long = tmp_path / "long"
    long.write_text("".join(f"line {number}\n" for number in range(20_000)))
    command = f"{sys.executable} -m builder diff --unified /dev/null {long} | head -n 1"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, check=False)
    assert done.stdout == b"--- /dev/null\n"
    assert done.stderr == b""
