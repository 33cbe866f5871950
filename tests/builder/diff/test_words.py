"""Words of a line, and which of them changed."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builder.diff.words import Span, marks, split

JAPANESE = st.text(
    st.sampled_from("提出内容を改善してください。順位スコアー1２ab_ \t\r\u3000🏆👨\u200d\ufe0f\u3099é{}"),
    max_size=30,
)
LINES = JAPANESE | st.text(st.characters(exclude_characters="\n"), max_size=30)


def marked(left: str, right: str, **options: bool) -> tuple[list[str], list[str]]:
    left_spans, right_spans = marks(left, right, **options)
    return [left[slice(*span)] for span in left_spans], [right[slice(*span)] for span in right_spans]


def unmarked(line: str, spans: tuple[Span, ...]) -> str:
    kept, at = "", 0
    for start, stop in spans:
        kept += line[at:start]
        at = stop
    return kept + line[at:]


def test_japanese_is_split_where_the_kind_of_character_changes() -> None:
    assert split("過去の提出スコアを見る") == ["過去", "の", "提出", "スコア", "を", "見", "る"]


def test_a_long_vowel_stays_with_the_kana_before_it() -> None:
    assert split("らーめんとラーメン") == ["らーめんと", "ラーメン"]


def test_names_numbers_and_punctuation_are_words_of_their_own() -> None:
    assert split("{{ team_name }}: 75.50/100。") == [
        *("{", "{", " ", "team_name", " ", "}", "}", ":", " "),
        *("75", ".", "50", "/", "100", "。"),
    ]


@pytest.mark.parametrize(
    "cluster",
    [
        "👨\u200d👩\u200d👧",
        "❤\ufe0f\u200d🔥",
        "👍🏽",
        "🇯🇵",
        "1\ufe0f\u20e3",
        "🏴\U000e0067\U000e0062\U000e007f",
        "e\u0301",
        "か\u3099",
        "葛\U000e0100",
        "नमस्ते",
    ],
)
def test_what_is_drawn_as_one_stays_one_word(cluster: str) -> None:
    assert split(f"前 {cluster} 後") == ["前", " ", cluster, " ", "後"]


def test_two_flags_are_two_words() -> None:
    assert split("🇯🇵🇫🇷") == ["🇯🇵", "🇫🇷"]


def test_a_carriage_return_is_a_word_of_its_own() -> None:
    assert split("終わり  \r") == ["終", "わり", "  ", "\r"]


@given(LINES)
def test_words_joined_are_the_line(line: str) -> None:
    assert "".join(split(line)) == line


@pytest.mark.parametrize(
    ("left", "right", "left_words", "right_words"),
    [
        ("提出内容を改善してください", "提出内容を修正してください", ["改善"], ["修正"]),
        ("現在の順位です", "現在のスコアです", ["順位"], ["スコア"]),
        ("現在の順位表です", "現在の得点表です", ["順位"], ["得点"]),
        ("機械学習結果を示す", "機械学習成果を示す", ["結果"], ["成果"]),
        ("機械学習の", "機械学習結果の", [], ["結果"]),
        ("改善してください", "改善しないでください", ["て"], ["ないで"]),
        ("スコア: 75.50/100", "スコア: 80.50/100", ["75"], ["80"]),
        (
            "{{ submision_history }}",
            "{{ submission_history }}",
            ["submision_history"],
            ["submission_history"],
        ),
        ("the quick brown fox", "the slow red fox", ["quick brown"], ["slow red"]),
        (
            "家族は👨\u200d👩\u200d👧です",
            "家族は👨\u200d👩\u200d👦です",
            ["👨\u200d👩\u200d👧"],
            ["👨\u200d👩\u200d👦"],
        ),
        ("end\r", "end", ["\r"], []),
        ("a  b", "a b", [" "], []),
        ("順位、 得点", "順位、得点", [" "], []),
        ("one two two", "one two", [" two"], []),
    ],
)
def test_a_changed_word_is_marked_and_nothing_else(
    left: str, right: str, left_words: list[str], right_words: list[str]
) -> None:
    assert marked(left, right) == (left_words, right_words)
    assert marked(right, left) == (right_words, left_words)


@pytest.mark.parametrize(
    ("left", "right"),
    [("まったく別の文", "Something else."), ("one, two three. four", "six, se7en. ate nine; ten, el")],
)
def test_lines_with_little_in_common_are_marked_whole(left: str, right: str) -> None:
    assert marked(left, right) == ([left], [right])


def test_added_words_do_not_mark_a_short_line_whole() -> None:
    assert marked("abc", "abc and a good deal more") == ([], [" and a good deal more"])


def test_whitespace_is_not_marked_when_it_is_ignored() -> None:
    assert marked("a  b\u3000順位", "a b 順位\r", ignore_whitespace=True) == ([], [])
    assert marked("a  b 順位", "a b 得点", ignore_whitespace=True) == (["順位"], ["得点"])


def test_a_line_too_long_to_weigh_is_marked_from_its_first_to_its_last_difference() -> None:
    middle = "a " * 3_000
    assert marked(f"start x {middle}y end", f"start p {middle}q end") == ([f"x {middle}y"], [f"p {middle}q"])


def test_a_line_too_long_to_split_is_marked_from_its_first_to_its_last_difference() -> None:
    middle = "順位" * 20_000
    assert marked(f"始{middle}x{middle}終", f"始{middle}y{middle}終") == (["x"], ["y"])
    assert marked(middle, middle + "順") == ([], ["順"])
    assert marked(middle * 2, middle) == ([middle], [])


@given(LINES, LINES)
def test_what_is_not_marked_is_the_same_on_both_sides(left: str, right: str) -> None:
    left_spans, right_spans = marks(left, right)
    assert unmarked(left, left_spans) == unmarked(right, right_spans)
    for line, spans in ((left, left_spans), (right, right_spans)):
        edges = [edge for span in spans for edge in span]
        assert edges == sorted(edges)
        assert all(start < stop <= len(line) for start, stop in spans)


@given(LINES, LINES, st.booleans())
@example("0:", ":0", False)
def test_both_directions_mark_the_same(left: str, right: str, ignore: bool) -> None:
    there = marks(left, right, ignore_whitespace=ignore)
    assert marks(right, left, ignore_whitespace=ignore) == there[::-1]


@given(LINES, LINES)
def test_nothing_is_marked_only_where_nothing_differs(left: str, right: str) -> None:
    assert (marks(left, right) == ((), ())) == (left == right)
    without_space = ["".join(line.split()) for line in (left, right)]
    if without_space[0] != without_space[1]:
        assert marks(left, right, ignore_whitespace=True) != ((), ())
