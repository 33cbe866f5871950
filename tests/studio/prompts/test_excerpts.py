"""Excerpts: the line that was found, as it was written, with the words marked."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.prompts.excerpts import Part, excerpt, marked
from studio.prompts.texts import fold


def shown(parts: list[Part]) -> str:
    return "".join(f"[{part.text}]" if part.mark else part.text for part in parts)


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("順位表を見る", ["順位"], "[順位]表を見る"),
        ("Rank RANK rank", ["rank"], "[Rank] [RANK] [rank]"),
        ("ﾗﾝｷﾝｸﾞの表", ["ランキング"], "[ﾗﾝｷﾝｸﾞ]の表"),
        ("ﾗﾝｷﾝｸﾞの表", ["ング"], "ﾗﾝｷ[ﾝｸﾞ]の表"),
        ("㈱試験", ["株"], "[㈱]試験"),
        ("ﬁle and file", ["fil"], "[ﬁl]e and [fil]e"),
        ("straße", ["ss"], "stra[ß]e"),
        ("か\u3099くせい", ["がく"], "[か\u3099く]せい"),
        ("aaa", ["aa"], "[aa]a"),
        ("abcd", ["abc", "bcd"], "[abc][d]"),
        ("nothing", ["順位"], "nothing"),
        ("<b>&", ["b"], "<[b]>&"),
    ],
)
def test_words_are_marked_where_they_were_written(text: str, words: list[str], expected: str) -> None:
    assert shown(marked(text, words)) == expected


@given(st.text(max_size=40), st.text(min_size=1, max_size=3))
def test_marking_shows_all_of_the_text_and_every_mark_is_the_word(text: str, piece: str) -> None:
    word = fold(piece)
    parts = marked(text, [word])
    assert "".join(part.text for part in parts) in (text, fold(text))
    if word in fold(text):
        assert any(part.mark for part in parts)
    assert all(word in fold(part.text) for part in parts if part.mark)


@given(st.text(max_size=30), st.text(max_size=30))
def test_folding_goes_line_by_line(first: str, second: str) -> None:
    assert fold(f"{first}\n{second}") == f"{fold(first)}\n{fold(second)}"
    assert unicodedata.is_normalized("NFKC", fold(first))


def test_the_line_with_most_of_the_words_is_shown() -> None:
    found = excerpt("team", "順位\n出典と順位\n出典", ["順位", "出典"])
    assert found is not None
    assert (found.kind, found.line, shown(found.parts)) == ("team", 2, "[出典]と[順位]")
    assert not found.cut_before and not found.cut_after


def test_a_text_without_the_words_has_no_excerpt() -> None:
    assert excerpt("team", "順位", ["出典"]) is None
    assert excerpt("team", "", ["出典"]) is None


def test_a_long_line_is_cut_around_the_word() -> None:
    found = excerpt("judgment", "x" * 500 + "順位" + "y" * 500, ["順位"])
    assert found is not None and found.cut_before and found.cut_after
    assert shown(found.parts) == "x" * 40 + "[順位]" + "y" * 98
    end = excerpt("judgment", "x" * 500 + "順位", ["順位"])
    assert end is not None and shown(end.parts) == "x" * 138 + "[順位]"
    assert end.cut_before and not end.cut_after


def test_a_very_long_line_is_shown_folded_where_it_cannot_be_aligned() -> None:
    found = excerpt("team", "ﾗﾝｸﾞ" * 5_000, ["ラング"])
    assert found is not None and found.parts[0] == Part("ラング", mark=True)
