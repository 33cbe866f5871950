import tomllib
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builder.errors import PromptFileInvalid
from builder.files.prompt_file import NamedFile, TemplatePlace, UnknownKey, merge, named_prompt_file, read
from builder.files.toml_source import scan
from builder.jail import JailPool
from builder.template.variables import FIELDS
from tests.builder.toml_documents import DOCUMENTS, TEXTS
from tests.fuzzing import share_of

TODAY = date(2025, 11, 19)
LONG = settings(max_examples=share_of(10_000), deadline=None, suppress_health_check=list(HealthCheck))
VALUES = {
    "team_user_prompt": "# タスク\n{{ user_prompt }}\n",
    "evaluator_user_prompt": "# 評価対象\n{{ submission }}\n",
    "judgment_user_prompt": "# 判定対象\n{{ submission_history }}\n",
}
TEAM, EVALUATOR, JUDGMENT = (f'{name} = """\n{text}"""\n' for name, text in VALUES.items())


def merged(old: str, values: dict[str, str] | None = None) -> str:
    return merge(old.encode(), VALUES if values is None else values, TODAY).decode()


# --- reading -----------------------------------------------------------------------------


def test_reading_tells_values_unknown_keys_and_lines() -> None:
    text = '# c\n[prompt_builder]\nteam_user_prompt = "a"\nextra = 1\n\n[other]\njudgment_user_prompt = "b"\n'

    file = read(text.encode(), "f.toml")

    assert file.values == {"team_user_prompt": "a"}
    assert file.unknown == (UnknownKey("prompt_builder.extra", 4), UnknownKey("other", 6))
    assert file.table_line == 2
    assert file.places == {"team_user_prompt": TemplatePlace(3, text.index('"a"'), text.index('"a"') + 3)}


@pytest.mark.parametrize(
    "text",
    [
        'prompt_builder.team_user_prompt = "a"',
        'prompt_builder = { team_user_prompt = "a" }',
        '["prompt_builder"]\n"team\\u005fuser_prompt" = \'a\'',
        "[prompt_builder.sub]\n[prompt_builder]\nteam_user_prompt = '''\na'''",
        '[prompt_builder]\r\nteam_user_prompt = """\r\na"""\r\n',
    ],
)
def test_every_way_of_writing_a_template_is_read(text: str) -> None:
    assert read(text.encode(), "f.toml").values == {"team_user_prompt": "a"}


def test_a_file_without_the_table_has_no_values() -> None:
    assert read(b"", "f.toml").values == {}
    assert read(b"[other]\n", "f.toml").table_line == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "[prompt_builder]\nteam_user_prompt = 5",
            "line 2: team_user_prompt must be a string, but is a TOML integer",
        ),
        (
            "[prompt_builder.team_user_prompt]",
            "line 1: team_user_prompt must be a string, but is a TOML table",
        ),
        ("\n[[prompt_builder]]", "line 2: `prompt_builder` must be a separate table, but is a TOML array"),
        ("prompt_builder = 1", "line 1: `prompt_builder` must be a separate table, but is a TOML integer"),
    ],
)
def test_a_wrong_type_is_refused_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(PromptFileInvalid, match=sentence):
        read(text.encode(), "f.toml")


@pytest.mark.slow
def test_many_unknown_keys_are_read_in_reasonable_time() -> None:
    lines = "".join(f"key{at} = 1\n" for at in range(30_000))

    file = read(f"[prompt_builder]\n{lines}".encode(), "f.toml")
    assert file.unknown[-1].line == 101 and file.more_unknown == 29_900


# --- merging: values in place ------------------------------------------------------------


def test_only_the_values_change() -> None:
    old = (
        "# head\n[a]\nx = 1 # keep\n\n[prompt_builder] # ours\n# about the team\n"
        "team_user_prompt   =   'old'   # why\nextra = [ 1,\n 2 ]\n"
        'evaluator_user_prompt = """old\n\\\n  x"""\njudgment_user_prompt = "old" \n# about b\n[b]\ny = 2'
    )

    assert merged(old) == (
        "# head\n[a]\nx = 1 # keep\n\n[prompt_builder] # ours\n# about the team\n"
        'team_user_prompt   =   """\n# タスク\n{{ user_prompt }}\n"""   # why\nextra = [ 1,\n 2 ]\n'
        f'{EVALUATOR}judgment_user_prompt = """\n{VALUES["judgment_user_prompt"]}""" \n# about b\n[b]\ny = 2'
    )


def test_the_same_values_give_the_same_bytes() -> None:
    old = "[prompt_builder]\nteam_user_prompt = \"a\\nb\"\n  evaluator_user_prompt='''e'''\n"

    assert merged(old, {"team_user_prompt": "a\nb", "evaluator_user_prompt": "e"}) == old
    assert merged(old, {}) == old


def test_a_value_that_is_not_given_stays() -> None:
    old = "[prompt_builder]\nteam_user_prompt = 'a'\njudgment_user_prompt = 'j'\n"

    assert merged(old, {"judgment_user_prompt": "k"}) == (
        '[prompt_builder]\nteam_user_prompt = \'a\'\njudgment_user_prompt = """\nk"""\n'
    )


def test_dotted_keys_stay_dotted() -> None:
    old = "prompt_builder.team_user_prompt = 'a' # c\nother = 1\n\n[t]\n"

    assert merged(old) == (
        f'prompt_builder.team_user_prompt = """\n{VALUES["team_user_prompt"]}""" # c\n'
        f"\nprompt_builder.{EVALUATOR}\nprompt_builder.{JUDGMENT}other = 1\n\n[t]\n"
    )


def test_a_scalar_of_the_wrong_type_is_replaced() -> None:
    assert merged("[prompt_builder]\nteam_user_prompt = [1, 2] # c\n", {"team_user_prompt": "x"}) == (
        '[prompt_builder]\nteam_user_prompt = """\nx""" # c\n'
    )


# --- merging: new keys -------------------------------------------------------------------


def test_new_keys_follow_the_last_key_of_the_table() -> None:
    old = "[prompt_builder]\nteam_user_prompt = 'a'\nextra = 1 # c\n\n# about other\n[other]\n"

    assert merged(old, {**VALUES, "team_user_prompt": "a"}) == (
        "[prompt_builder]\nteam_user_prompt = 'a'\nextra = 1 # c\n"
        f"\n{EVALUATOR}\n{JUDGMENT}\n# about other\n[other]\n"
    )


def test_new_keys_stand_before_a_comment_right_above_the_next_table() -> None:
    assert merged("[prompt_builder]\n# about other\n[other]\n", {"team_user_prompt": "x"}) == (
        '[prompt_builder]\nteam_user_prompt = """\nx"""\n# about other\n[other]\n'
    )


def test_new_keys_stand_below_the_help_of_an_empty_table() -> None:
    assert merged("[prompt_builder]\n# our help\n\n# about other\n[other]\n", {"team_user_prompt": "x"}) == (
        '[prompt_builder]\n# our help\nteam_user_prompt = """\nx"""\n\n# about other\n[other]\n'
    )


def test_new_keys_stand_before_the_sub_tables() -> None:
    assert merged("[prompt_builder]\n[prompt_builder.x]\ny = 1\n", {"team_user_prompt": "x"}) == (
        '[prompt_builder]\nteam_user_prompt = """\nx"""\n[prompt_builder.x]\ny = 1\n'
    )


@pytest.mark.parametrize(
    "old",
    ["[other]\nx = 1\n", "# only a comment\n", "[prompt_builder.sub]\nx = 1\n", "[[prompt_builder.many]]\n"],
)
def test_a_missing_table_is_added_at_the_end_with_its_help(old: str) -> None:
    new = merged(old)

    assert new.startswith(old + "\n[prompt_builder]\n# Teamに渡すユーザプロンプトのJinja2テンプレート\n")
    assert {name: tomllib.loads(new)["prompt_builder"][name] for name in FIELDS} == VALUES


def test_a_file_without_a_final_newline_gets_one_before_the_new_key() -> None:
    assert (
        merged("[prompt_builder]", {"team_user_prompt": "x"})
        == '[prompt_builder]\nteam_user_prompt = """\nx"""\n'
    )
    assert merged("[prompt_builder]\na = 1 # c", {"team_user_prompt": "x"}) == (
        '[prompt_builder]\na = 1 # c\n\nteam_user_prompt = """\nx"""\n'
    )
    assert merged("a = 1", {"team_user_prompt": "x"}).startswith("a = 1\n\n[prompt_builder]\n")


def test_a_crlf_file_keeps_crlf() -> None:
    old = "# c\r\n[prompt_builder]\r\nteam_user_prompt = 'a'\r\n\r\n[other]\r\n"

    new = merged(old, {"team_user_prompt": "one\ntwo\r\n", "judgment_user_prompt": "j\n"})

    assert new == (
        '# c\r\n[prompt_builder]\r\nteam_user_prompt = """\r\none\r\ntwo\\u000D\r\n"""\r\n'
        '\r\njudgment_user_prompt = """\r\nj\r\n"""\r\n\r\n[other]\r\n'
    )
    assert read(new.encode(), "f").values == {
        "team_user_prompt": "one\ntwo\r\n",
        "judgment_user_prompt": "j\n",
    }


# --- merging: refusals -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "sentence"),
    [
        (
            b"a = 1\nprompt_builder = { x = 1 }",
            "line 2: `prompt_builder` must be a separate table, but is a TOML inline table",
        ),
        (b"[[prompt_builder]]", "`prompt_builder` must be a separate table, but is a TOML array"),
        (b"prompt_builder = 1", "`prompt_builder` must be a separate table, but is a TOML integer"),
        (b"\xef\xbb\xbf[prompt_builder]", "begins with a byte order mark"),
        (b"[prompt_builder]\n[prompt_builder.team_user_prompt]", "line 2: team_user_prompt must be a string"),
        (b"[prompt_builder]\nteam_user_prompt.x = 1", "line 2: team_user_prompt must be a string"),
        (b"[[prompt_builder.team_user_prompt]]", "line 1: team_user_prompt must be a string"),
        (b"[prompt_builder\n", "line 1: not valid TOML"),
    ],
)
def test_what_cannot_be_merged_into_is_refused_with_a_reason(old: bytes, sentence: str) -> None:
    with pytest.raises(PromptFileInvalid, match=sentence):
        merge(old, VALUES, TODAY)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(
        PromptFileInvalid, match=r"team_user_prompt: the text contains a lone surrogate \(character 2\)"
    ):
        merge(None, {"team_user_prompt": "a\ud800"}, TODAY)


def test_a_field_that_is_none_of_ours_is_refused() -> None:
    with pytest.raises(PromptFileInvalid, match="leader_user_prompt is not a template of this file"):
        merge(None, {"leader_user_prompt": "a"}, TODAY)


@pytest.mark.parametrize(
    "character",
    ["あ", '"', *(pytest.param(each, marks=pytest.mark.slow) for each in ("🏆", "\x01", "\\", "\n"))],
)
def test_three_templates_of_64_ki_characters_pass(character: str) -> None:
    values = dict.fromkeys(FIELDS, character * 65_536)

    new = merge(merge(None, values, TODAY), {**values, "team_user_prompt": "x"}, TODAY)

    assert read(new, "f").values == {**values, "team_user_prompt": "x"}


def test_a_result_that_is_too_large_is_refused() -> None:
    with pytest.raises(PromptFileInvalid, match="larger than 2097152 bytes"):
        merge(None, {"team_user_prompt": "a" * 2_200_000}, TODAY)


# --- merging: anything into anything -----------------------------------------------------


def merge_keeps_everything_else(old: str, values: dict[str, str]) -> None:
    before = tomllib.loads(old)
    try:
        new = merge(old.encode(), values, TODAY).decode()
    except PromptFileInvalid as refused:
        assert refused.code in ("file-not-a-table-at", "file-not-a-string-at")
        return
    after = tomllib.loads(new)
    templates = before.get("prompt_builder", {})
    assert _ordered(after) == _ordered({**before, "prompt_builder": {**templates, **values}})
    if old.strip() and not new.startswith(old):
        assert _lines_around(new, values, templates) == _lines_around(old, values, templates)
    assert merge(new.encode(), values, TODAY).decode() == new


def _lines_around(text: str, values: dict[str, str], known: dict[str, object]) -> list[str]:
    """What is written around the given templates; those that were not known are left out whole."""
    for statement in reversed(scan(text)):
        if len(statement.path) == 2 and statement.path[0] == "prompt_builder" and statement.path[1] in values:
            whole = statement.path[1] not in known
            start, end = (
                (statement.start, statement.end) if whole else (statement.value_start, statement.value_end)
            )
            text = text[:start] + text[end:]
    return [line for line in text.splitlines() if line.strip()]


def _ordered(value: object) -> str:
    if isinstance(value, dict):
        return repr(sorted((key, _ordered(inner)) for key, inner in value.items()))
    return repr([_ordered(inner) for inner in value]) if isinstance(value, list) else repr(value)


CHANGES = st.dictionaries(st.sampled_from(FIELDS), TEXTS, min_size=1)


@given(DOCUMENTS, CHANGES)
def test_a_merge_keeps_everything_else(old: str, values: dict[str, str]) -> None:
    merge_keeps_everything_else(old, values)


@pytest.mark.slow
@LONG
@given(DOCUMENTS, CHANGES)
def test_a_merge_keeps_everything_else_in_many_files(old: str, values: dict[str, str]) -> None:
    merge_keeps_everything_else(old, values)


def file_round_trips(values: dict[str, str]) -> None:
    new = merge(None, values, TODAY)
    assert tomllib.loads(new.decode())["prompt_builder"] == values
    assert read(new, "f").values == values


@given(st.fixed_dictionaries(dict.fromkeys(FIELDS, TEXTS)))
def test_a_new_file_round_trips(values: dict[str, str]) -> None:
    file_round_trips(values)


@pytest.mark.slow
@LONG
@given(st.fixed_dictionaries(dict.fromkeys(FIELDS, TEXTS)))
def test_many_new_files_round_trip(values: dict[str, str]) -> None:
    file_round_trips(values)


NAMING = b'# the teams\n[orchestrator]\nmax_rounds = 3\nprompt_builder_config = "configs/own.toml"\n'


def test_the_named_file_comes_with_its_line() -> None:
    assert named_prompt_file(NAMING, "o.toml") == NamedFile("configs/own.toml", 4)


@pytest.mark.parametrize(
    "data", [b"", b"[orchestrator]\n", b'[orchestrator]\nprompt_builder_config = ""\n', b"[other]\nx = 1\n"]
)
def test_without_a_name_the_usual_place_counts(data: bytes) -> None:
    assert named_prompt_file(data, "o.toml") is None


def test_a_name_that_is_no_string_is_refused_with_its_line() -> None:
    with pytest.raises(PromptFileInvalid) as found:
        named_prompt_file(b"[orchestrator]\n\nprompt_builder_config = 3\n", "o.toml")
    assert str(found.value) == "o.toml, line 3: prompt_builder_config must be a string, but is a TOML integer"


@pytest.mark.slow
def test_the_jail_answers_the_same() -> None:
    with JailPool(size=0, spares=0, batch_size=1) as pool:
        assert pool.named_prompt_file(NAMING, "o.toml") == NamedFile("configs/own.toml", 4)
        assert pool.named_prompt_file(b"", "o.toml") is None
        with pytest.raises(PromptFileInvalid, match="line 1: not valid TOML"):
            pool.named_prompt_file(b"[broken\n", "o.toml")
