import hashlib
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from functools import partial

import jinja2
import pytest

from builder.diff.three_way import compare_three
from builder.errors import (
    BuilderError,
    DiffTooLarge,
    LimitExceeded,
    PromptFileError,
    TemplateFailure,
    TemplateSyntaxFailure,
    UndefinedFailure,
)
from builder.files import file_check, prompt_file
from builder.jail import JailPool, Limits, Match
from builder.template.allowed import FILTERS
from builder.template.check import check
from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.dialect import CONTRACT, DIALECTS, MIXSEEK
from builder.template.render import render
from builder.template.variables import KINDS, sample_values
from tests.hanging import HANGS

Values = dict[str, str | int]
LINES = "{% if round_number > 1 %}\n  {{ user_prompt }}\n{% endif %}\nend\n"
EVERYTHING = """{%- set ns = namespace(n=0) -%}
{% macro item(a, b=2) %}- {{ a }}{{ b }}{{ caller() }}{% endmacro %}
{% for line in submission_history.splitlines() %}{{ loop.index }}{{ line | trim | upper }}
{% else %}-{% endfor %}
{% call item("x") %}inside{% endcall %}{% filter upper %}abc{% endfilter %}
{{ "a b c".split() | join("、") }} {{ user_prompt | replace("a", "b") | title | length }}
{{ "\\N{BULLET}\\u3042" }}
{% with total = round_number * 2 %}{{ total }} {{ 7 // 2 }} {{ 1.5 | round }}{% endwith %}
{{ user_prompt | wordwrap(10) | indent(2) | truncate(50) }}
{{ "<a>" | escape }}{{ [3, 1] | sort | list | tojson }}
"""


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())
@pytest.mark.parametrize("kind", KINDS)
def test_a_render_is_the_same_as_without_the_jail(pool: JailPool, kind, dialect) -> None:
    values = sample_values(kind)
    for text in (DEFAULT_TEMPLATES[kind], "{% if 1 %}\n  a\n{% endif %}\n"):
        assert pool.render(kind, text, values, dialect) == render(kind, text, values, dialect)


def test_whitespace_flags_of_a_dialect_of_ones_own_hold(pool: JailPool, values: Values) -> None:
    own = replace(CONTRACT, trim_blocks=False)
    assert pool.render("team", LINES, values, own) == render("team", LINES, values, own)
    assert pool.render("team", LINES, values, own) != pool.render("team", LINES, values, CONTRACT)


def test_every_allowed_construct_works_behind_the_lock(pool: JailPool, values: Values) -> None:
    # Something that loads a module on first use would fail here and not in-process.
    examination = pool.examine("team", EVERYTHING, values)
    assert examination.errors == [] and examination.failure is None
    assert examination.text == render("team", EVERYTHING, values)


def outcome(job: Callable[[], str]) -> str:
    try:
        # The gate refuses what prints an address; a bare render does not.
        return re.sub("0x[0-9a-f]+", "", job())
    except TemplateFailure as failure:
        return failure.text()


@pytest.mark.slow
@pytest.mark.parametrize("argument", ["", "(9)", "('a')"])
@pytest.mark.parametrize("value", ["user_prompt", "[3, 1]", "1.5", "{'a': 1}"])
def test_every_filter_does_behind_the_lock_what_it_does_outside(
    pool: JailPool, values: Values, value: str, argument: str
) -> None:
    for name in sorted(FILTERS):
        text = f"{{{{ {value} | {name}{argument} }}}}"
        inside = outcome(partial(pool.render, "team", text, values))
        assert inside == outcome(partial(render, "team", text, values)), text


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "{{ user_promt }}",
        "{% if %}",
        "{{ ''.__class__ }}",
        LINES,
        "a" * 70_000,
        "\ud800",
        "a\0b",
        "",
    ],
)
def test_a_check_finds_the_same_problems_as_without_the_jail(pool: JailPool, text: str) -> None:
    assert pool.check("team", text) == check("team", text)


@pytest.mark.parametrize(
    ("text", "kind", "contract"),
    [
        ("a\n{% if %}", TemplateSyntaxFailure, jinja2.TemplateSyntaxError),
        ("a\n{{ nothing }}", UndefinedFailure, jinja2.UndefinedError),
        ("a\n{{ 1 // 0 }}", TemplateFailure, jinja2.TemplateError),
    ],
)
@pytest.mark.parametrize("dialect", [CONTRACT, MIXSEEK], ids=["contract", "mixseek"])
def test_an_error_inside_comes_out_as_the_same_error(
    pool: JailPool, values: Values, text: str, kind: type[BuilderError], contract: type[Exception], dialect
) -> None:
    with pytest.raises(kind) as inside:
        render("team", text, values, dialect)
    with pytest.raises(contract) as outside:
        pool.render("team", text, values, dialect)
    assert type(outside.value) is type(inside.value)
    assert outside.value.line == 2
    for language in ("en", "ja"):
        assert outside.value.text(language) == inside.value.text(language)


def test_an_examination_has_problems_and_no_text_where_there_are_errors(
    pool: JailPool, values: Values
) -> None:
    examination = pool.examine("team", "a\n{{ teem }}", values)
    assert [problem.line for problem in examination.errors] == [2]
    assert examination.text is None and examination.failure is None


def test_an_examination_has_text_beside_hints(pool: JailPool, values: Values) -> None:
    text = "{% for i in range(2) %}{{ user_prompt }}\n{% endfor %}"
    examination = pool.examine("team", text, values)
    assert examination.problems and not examination.errors
    assert examination.text == render("team", text, values)


def test_an_examination_tells_a_failure_and_its_line(pool: JailPool, values: Values) -> None:
    examination = pool.examine("team", "a\n{{ 1 // (round_number - 2) }}", values)
    assert isinstance(examination.failure, TemplateFailure)
    assert examination.failure.line == 2 and examination.text is None


@pytest.mark.slow
def test_an_examination_tells_the_limit_and_its_line(pool: JailPool, values: Values) -> None:
    lines = []
    for _ in range(5):
        examination = pool.examine("team", f"a\n{HANGS}", values)
        assert isinstance(examination.failure, LimitExceeded) and examination.failure.limit == "time"
        lines.append(examination.failure.line)
        # On a machine that starves the worker it is killed from outside first, where the line is not known.
        if lines[-1] is not None:
            break
    assert lines[-1] == 2


def test_half_a_character_in_a_value_is_a_clear_error(pool: JailPool, values: Values) -> None:
    with pytest.raises(TemplateFailure):
        pool.render("team", "{{ user_prompt }}", values | {"user_prompt": "\ud800"})
    assert pool.render("team", "{{ user_prompt }}", values | {"user_prompt": "😀"}) == "😀"


@pytest.mark.parametrize("value", ["a" * 9_000_000, 10**5000], ids=["text", "number"])
def test_too_large_a_context_is_refused_before_it_is_sent(pool: JailPool, values: Values, value) -> None:
    with pytest.raises(LimitExceeded) as stop:
        pool.render("team", "{{ user_prompt }}", values | {"user_prompt": value})
    assert stop.value.limit == "input"


def test_a_long_text_comes_back_whole(pool: JailPool, values: Values) -> None:
    long = "長い文\n" * 100_000
    assert pool.render("team", "{{ user_prompt }}", values | {"user_prompt": long}) == long


# --- prompt files ------------------------------------------------------------------------

TODAY = date(2026, 1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("old", [None, b"", b'# mine\n[prompt_builder]\nteam_user_prompt = "old"\n'])
def test_a_merge_is_the_same_as_without_the_jail(pool: JailPool, old: bytes | None) -> None:
    new = {"team_user_prompt": 'a\n"""\\ 😀\r\n', "judgment_user_prompt": "b"}
    assert pool.merge(old, new, TODAY) == prompt_file.merge(old, new, TODAY)


def test_three_templates_of_the_largest_size_can_be_merged(pool: JailPool) -> None:
    new = {f"{kind}_user_prompt": ("あ" * 63 + "\n") * 1024 for kind in KINDS}
    merged = pool.merge(None, new, TODAY)
    assert pool.merge(merged, new | {"team_user_prompt": "x"}, TODAY) != merged
    assert pool.read(merged, "f").values == new


def test_a_file_that_cannot_be_read_is_the_same_error_with_its_line(pool: JailPool) -> None:
    with pytest.raises(PromptFileError) as inside:
        prompt_file.read(b"\n[a\n", "name.toml")
    with pytest.raises(PromptFileError) as outside:
        pool.read(b"\n[a\n", "name.toml")
    assert type(outside.value) is type(inside.value)
    assert outside.value.line == inside.value.line == 2
    assert outside.value.text("ja") == inside.value.text("ja")


def test_a_file_is_read_as_without_the_jail(pool: JailPool) -> None:
    data = b'# x\n[prompt_builder]\nteam_user_prompt = """\na\n"""\nother = 1\n'
    assert pool.read(data, "f") == prompt_file.read(data, "f")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[a",
        b"\xff",
        b"[prompt_builder]\nteam_user_promt = 'a'\n",
        b'[prompt_builder]\nteam_user_prompt = """\na\n{{ teem }}"""\nother = 1\n',
        b'[prompt_builder]\njudgment_user_prompt = "a\\n{% if %}"\n',
    ],
)
def test_a_file_has_the_same_problems_as_without_the_jail(pool: JailPool, data: bytes) -> None:
    assert pool.check_file(data, "f") == file_check.check_file(data, "f") != []


@pytest.mark.slow
def test_a_file_of_very_many_keys_is_told_in_few_words(pool: JailPool) -> None:
    """Each a finding, they would be more than a worker may answer."""
    data = b"".join(b"key_%d = 1\n" % number for number in range(60_000))
    problems = pool.check_file(data, "f")
    assert [problem.code for problem in problems].count("file-unknown-key") == 100
    assert "59900 more unknown keys" in problems[-1].text() and problems[-1].line == 100


@pytest.mark.slow
def test_a_file_that_meets_a_limit_is_not_told_about_loops() -> None:
    with JailPool(size=1, spares=0, limits=Limits(file_time=0.2)) as own:
        data = b"".join(b"key_%d = [[1], [2], {a = 1}]\n" % number for number in range(40_000))
        with pytest.raises(LimitExceeded, match="The file is too large or too complex") as stopped:
            own.read(data, "f")
        assert "three templates" in stopped.value.advice("en") and stopped.value.limit in ("time", "cpu")


# --- batches -----------------------------------------------------------------------------


@pytest.mark.slow
def test_two_texts_from_one_are_compared_as_without_the_jail(pool: JailPool) -> None:
    texts = ("one\ntwo\n三\nfour", "one\nmine\n三\nfour\n", "one\ntheirs\n三\nfour")
    assert pool.compare_three(*texts, owner="a") == compare_three(*texts)


def test_texts_too_long_to_be_compared_are_the_same_error(pool: JailPool) -> None:
    with pytest.raises(DiffTooLarge):
        pool.compare_three("", "a\n" * 100_000, "b\n" * 100_000)


@pytest.mark.slow
def test_a_batch_gives_each_text_its_outcome_in_order(pool: JailPool, values: Values) -> None:
    texts = [f"{number} {{{{ round_number }}}}" for number in range(700)]
    texts[3], texts[400] = "{{ 1 // 0 }}", "{% if %}"
    outcomes = pool.render_many("team", texts, values)
    assert len(outcomes) == 700
    for number, outcome in enumerate(outcomes):
        if number in (3, 400):
            assert isinstance(outcome.failure, TemplateFailure) and outcome.text is None
        else:
            assert outcome.text == f"{number} 2" and outcome.failure is None


@pytest.mark.slow
def test_a_text_that_meets_a_limit_does_not_spoil_its_batch(pool: JailPool, values: Values) -> None:
    outcomes = pool.render_many("team", ["a", HANGS, "b", "{{ 'a' * 999999 * 999 }}", "c"], values)
    assert [outcome.text for outcome in outcomes] == ["a", None, "b", None, "c"]
    limits = [outcome.failure.limit for outcome in outcomes if isinstance(outcome.failure, LimitExceeded)]
    assert limits == ["time", "memory"]


def test_an_empty_batch_is_empty(pool: JailPool, values: Values) -> None:
    assert pool.render_many("team", [], values) == []


@pytest.mark.slow
def test_a_text_too_large_to_send_is_its_own_outcome(values: Values) -> None:
    with JailPool(size=1, spares=0, limits=Limits(input=10_000), batch_size=1) as pool:
        outcomes = pool.render_many("team", ["a", "b" * 20_000, "c"], values)
    assert [outcome.text for outcome in outcomes] == ["a", None, "c"]
    assert isinstance(outcomes[1].failure, LimitExceeded) and outcomes[1].failure.limit == "input"


def test_texts_are_found_by_the_digest_of_their_prompt(pool: JailPool, values: Values) -> None:
    texts = ["{{ user_prompt }}", "{{ round_number }}", "{{ nothing }}", "２", "2"]
    digest = hashlib.sha256(b"2").hexdigest()
    assert pool.match("team", texts, values, MIXSEEK, [digest, "0" * 64]) == [
        Match(1, digest),
        Match(4, digest),
    ]


def test_a_text_without_end_hides_no_match_beside_it(pool: JailPool, values: Values) -> None:
    endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"
    digest = hashlib.sha256(b"2").hexdigest()
    matches = pool.match("team", ["2", endless, "{{ round_number }}"], values, MIXSEEK, [digest])
    assert [match.index for match in matches] == [0, 2]


# --- many at once ------------------------------------------------------------------------


def test_many_threads_each_get_their_own_answer(pool: JailPool, values: Values) -> None:
    def job(number: int) -> str:
        return pool.render(
            "team", "{{ round_number }}", values | {"round_number": number}, owner=f"u{number % 7}"
        )

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(job, range(400))) == [str(number) for number in range(400)]


@pytest.mark.slow
def test_what_happened_is_counted(values: Values) -> None:
    with JailPool(size=1, spares=1, limits=Limits(time=0.3)) as pool:
        pool.render("team", "a", values)
        with pytest.raises(LimitExceeded):
            pool.render("team", HANGS, values)
        pool.render_many("team", ["a", "b"], values)
        stats = pool.stats()
    assert stats.jobs == 4
    assert stats.stopped["time"] == stats.stops == stats.kills == 1
    assert stats.waits == 3 and stats.wait_seconds >= stats.longest_wait > 0
    assert stats.workers_started >= 2 and stats.failed_starts == 0 and stats.faults == 0
    assert stats.worker_cpu_seconds > 0
    assert stats.seccomp
    assert stats.lanes["preview"].size == 1
    # Nothing is lost when the processes end.
    assert pool.stats().worker_cpu_seconds >= stats.worker_cpu_seconds
