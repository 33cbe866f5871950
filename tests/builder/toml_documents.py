"""Generated TOML documents, valid ones, with everything that could get in a merge's way."""

import tomllib

from hypothesis import strategies as st

NASTY = "\"'\\\n\r\t\x00\x01\x08\x0b\x0c\x1b\x1f\x7f\x80\x85\x9f\u2028\u2029\ufeff {}%#[]=.abあ日🏆"
TEXTS = st.one_of(
    st.text(st.sampled_from(NASTY), max_size=40),
    st.text(st.characters(codec="utf-8"), max_size=60),
    st.lists(st.sampled_from(['"', '""', '"""', "'''", "\\", "\\n", "\\u0041", "\r\n", "\n", "a"])).map(
        "".join
    ),
)

_BARE = st.sampled_from(["a", "b", "c-d", "x_1", "team_user_prompt", "prompt_builder", "1"])
_PART = st.one_of(
    _BARE, st.sampled_from(['"a b"', '"q\\u0041"', "'l.x'", '""', "'#'", '"team_user\\u005fprompt"'])
)
_KEY = st.lists(_PART, min_size=1, max_size=3).map(" . ".join) | st.lists(_PART, min_size=1, max_size=2).map(
    ".".join
)
_STRING = st.sampled_from(
    [
        '"plain"',
        '"a \\" # [x] \\\\"',
        "'literal # \"'",
        '"""\nblock\n"quoted" \\""" \\\n   joined\n"""',
        '"""a"""""',
        "'''\nlit ''quoted''\n# [no]\n'''",
        "'''a'''''",
        '""""""',
        "''",
    ]
)
_SCALAR = st.sampled_from(
    [
        "1",
        "-0.5e3",
        "nan",
        "true",
        "0xDEAD",
        "1979-05-27T07:32:00+09:00",
        "1979-05-27 07:32:00",
        "07:32:00",
        "inf",
    ]
)
_FLAT = _STRING | _SCALAR
_ARRAY = st.lists(_FLAT, max_size=3).map(
    lambda parts: "[ # [\n" + "".join(f"  {part}, # ]\n" for part in parts) + "]"
)
_INLINE = st.lists(_FLAT, max_size=3).map(
    lambda parts: "{" + ", ".join(f'k{at}."x}}" = {part}' for at, part in enumerate(parts)) + "}"
)
_VALUE = _FLAT | _ARRAY | _INLINE
_SPACE = st.sampled_from(["", " ", "\t", "  "])
_COMMENT = st.sampled_from(["", "", " # c", "# [x] = 1", '\t# """'])
_ASSIGNMENT = st.builds(
    lambda indent, key, before, after, value, comment: f"{indent}{key}{before}={after}{value}{comment}",
    _SPACE,
    _KEY,
    _SPACE,
    _SPACE,
    _VALUE,
    _COMMENT,
)
_TEMPLATE = st.builds(
    lambda kind, value, comment: f"{kind}_user_prompt = {value}{comment}",
    st.sampled_from(["team", "evaluator", "judgment"]),
    _STRING,
    _COMMENT,
)
_OWN_HEADER = st.sampled_from(["[prompt_builder]", "[ prompt_builder ] # c", '["prompt_builder"]'])
_HEADER = st.one_of(
    st.builds(lambda key, comment: f"[{key}]{comment}", _KEY, _COMMENT),
    st.builds(lambda key: f"[[{key}]]", _KEY),
    _OWN_HEADER,
    st.sampled_from(["[prompt_builder.sub]", "[[prompt_builder.many]]", "  [other]"]),
)
_LINE = st.one_of(
    _ASSIGNMENT,
    _TEMPLATE,
    st.sampled_from(['prompt_builder.team_user_prompt = "x"', "prompt_builder.foreign.key = 1"]),
    _HEADER,
    _OWN_HEADER,
    st.sampled_from(["", "", "# a comment", "  # 日本語のコメント", "\t"]),
)


def _valid(lines: list[str]) -> str:
    """As many of the lines as make a valid document, each kept only if it does."""
    kept: list[str] = []
    for line in lines:
        try:
            tomllib.loads("\n".join([*kept, line]))
        except tomllib.TOMLDecodeError:
            continue
        kept.append(line)
    return "\n".join(kept)


DOCUMENTS = st.builds(
    lambda lines, end, newline: (_valid(lines) + end).replace("\n", newline),
    st.lists(_LINE, max_size=14),
    st.sampled_from(["", "\n", "\n\n"]),
    st.sampled_from(["\n", "\n", "\r\n"]),
)
