import pytest

from builder.files.file_check import check_file
from builder.problems import Problem
from builder.template.variables import KINDS


def found(text: str) -> list[str]:
    return [
        f"{each.line}:{each.column}: {each.severity}: {each.text()}"
        for each in check_file(text.encode(), "f.toml")
    ]


def marks(text: str) -> list[tuple[int, int | None]]:
    """Where a check is told that ``@`` stands in the team's template."""

    def check(kind: str, template: str) -> list[Problem]:
        if kind != "team":
            return []
        lines = template.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return [
            Problem("error", "check-loop", line, column)
            for line, content in enumerate(lines, 1)
            for column, character in enumerate(content, 1)
            if character == "@"
        ]

    problems = check_file(text.encode(), "f.toml", check)
    return [(each.line, each.column) for each in problems if each.field == "team_user_prompt"]


def test_a_good_file_has_no_problems() -> None:
    fields = "".join(f'{kind}_user_prompt = """\nTask:\n{{{{ user_prompt }}}}\n"""\n' for kind in KINDS)

    assert found("[prompt_builder]\n" + fields) == []


def test_a_missing_field_is_an_error_on_the_table() -> None:
    assert found('# c\n[prompt_builder]\nteam_user_prompt = """\na\nb\n"""\n') == [
        "2:None: error: Missing required field: evaluator_user_prompt",
        "2:None: error: Missing required field: judgment_user_prompt",
    ]


def test_an_unknown_key_is_a_warning_with_a_suggestion() -> None:
    problems = check_file(b"[prompt_builder]\nteam_prompt = 'a'\n[other]\n", "f.toml")

    warnings = [(each.line, each.text(), each.advice()) for each in problems if each.severity == "warning"]
    assert warnings == [
        (
            2,
            "Unknown key: prompt_builder.team_prompt; MixSeek ignores it",
            "Did you mean prompt_builder.team_user_prompt?",
        ),
        (3, "Unknown key: other; MixSeek ignores it", ""),
    ]


def test_a_template_outside_the_table_is_pointed_into_it() -> None:
    problems = check_file(b"team_user_prompt = 'a'\n", "f.toml")

    assert problems[-1].text() == "Unknown key: team_user_prompt; MixSeek ignores it"
    assert problems[-1].advice() == "Did you mean prompt_builder.team_user_prompt?"


def test_a_blank_template_is_an_error_on_its_key() -> None:
    assert "3:None: error: evaluator_user_prompt cannot be empty" in found(
        "[prompt_builder]\n\nevaluator_user_prompt = '  '\n"
    )


def test_a_file_that_cannot_be_read_is_one_error() -> None:
    assert found("a = 1\nb = ") == ["2:None: error: not valid TOML: Invalid value"]
    assert found("\ufeffa = 1")[0].startswith("1:None: error: the file begins with a byte order mark")
    assert check_file(b"#" * 3_000_000, "f.toml")[0].text() == "f.toml: larger than 2097152 bytes"


def test_a_finding_names_its_line_in_the_file() -> None:
    text = '[prompt_builder]\n# c\nteam_user_prompt = """\nTask\n{{ usr_prompt }}\n"""\n'

    (problem,) = [each for each in check_file(text.encode(), "f.toml") if each.field == "team_user_prompt"]

    assert (problem.line, problem.column, problem.template_line) == (5, 4, 2)
    assert problem.text() == "`usr_prompt` is not a variable of this template. Did you mean `user_prompt`?"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('[prompt_builder]\nteam_user_prompt = """\n@\n @"""', [(3, 1), (4, 2)]),
        ('[prompt_builder]\nteam_user_prompt = """@\n @"""', [(2, 23), (3, 2)]),
        ("[prompt_builder]\nteam_user_prompt = '''\n@\n'@'''''", [(3, 1), (4, 2)]),
        ("[prompt_builder]\nteam_user_prompt = '@ \\n @'", [(2, 21), (2, 26)]),
        ('[prompt_builder]\nteam_user_prompt = "@\\n@\\u000a@"', [(2, 21), (2, 24), (2, 31)]),
        ('[prompt_builder]\nteam_user_prompt = """\na\\t@ \\\n\n   @\n@"""', [(3, 4), (5, 4), (6, 1)]),
        ('[prompt_builder]\nteam_user_prompt = """\n\\U0001F3C6@ \\"@\n"""', [(3, 11), (3, 15)]),
        ('[prompt_builder]\r\nteam_user_prompt = """\r\na\r\n@\r\n"""\r\n', [(4, 1)]),
        ('[prompt_builder]\nteam_user_prompt = "a\\r@\\r\\n@"', [(2, 24), (2, 29)]),
        ('\nprompt_builder.team_user_prompt = "@"', [(2, 36)]),
    ],
)
def test_a_place_in_a_template_is_found_in_the_file(text: str, places: list[tuple[int, int]]) -> None:
    assert [place for place in marks(text) if place[1] is not None] == places


def test_where_no_line_is_known_the_key_and_the_templates_line_are_named() -> None:
    text = 'a = 1\nprompt_builder = { team_user_prompt = "one\\n{{ x }}" }'

    (problem,) = [each for each in check_file(text.encode(), "f.toml") if each.template_line]

    assert (problem.line, problem.column, problem.exact) == (2, None, False)
    assert problem.text().startswith("team_user_prompt, line 2: `x` is not a variable of this template.")
    assert problem.text("ja").startswith("team_user_prompt の2行目：")


def test_findings_come_in_the_order_of_the_file() -> None:
    text = (
        "x = 1\n[prompt_builder]\nteam_user_prompt = '''\n{{ b }}\n{{ a }}\n'''\n"
        "zzz = 1\njudgment_user_prompt = '''\n{{ c }}\n'''\n"
    )

    assert [each.line for each in check_file(text.encode(), "f.toml")] == [1, 2, 4, 5, 7, 9]


def test_a_problem_is_plain_data() -> None:
    problem = check_file(b"", "f.toml")[0]

    assert problem == Problem("error", "file-missing-field", 1, file="f.toml", field="team_user_prompt")
