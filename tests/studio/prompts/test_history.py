"""Search in a set's history: every version that has the words, the newest first, and none besides."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from studio.management.commands import reindex
from studio.models import HistoryNote, PromptSet, PromptVersion
from studio.operations.backup import back_up, restore
from studio.prompts import history, history_index
from studio.prompts.history import HistoryPage, history_page, words_of
from studio.prompts.texts import Templates, fold
from tests.studio.clock import NOW

TEXTS = Templates("team", "evaluator", "judgment")


@pytest.fixture
def prompt_set(db: None) -> PromptSet:
    return PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)


def save(prompt_set: PromptSet, author: User, team: str, message: str = "edit") -> PromptVersion:
    texts = replace(TEXTS, team_user_prompt=team)
    return prompt_set.save_version(texts, base=prompt_set.revision, message=message, author=author, at=NOW)


def page(prompt_set: PromptSet, query: str, before: int | None = None, size: int = 50) -> HistoryPage:
    return history_page(prompt_set, words_of(query), before=before, size=size)


def numbers(prompt_set: PromptSet, query: str, before: int | None = None, size: int = 50) -> list[int]:
    return [entry.version.number for entry in page(prompt_set, query, before, size).entries]


def by_hand(prompt_set: PromptSet, query: str) -> list[int]:
    """What must be found, by looking at every version."""
    found = []
    for version in prompt_set.versions.select_related("author"):
        texts = (version.message, version.author.username, *version.templates.by_kind.values())
        if all(any(word in fold(text) for text in texts) for word in words_of(query)):
            found.append(version.number)
    return found


def test_text_is_found_in_every_version_that_has_it(prompt_set: PromptSet, person: User) -> None:
    for text in ("順位を見る", "順位を見る\n出典", "出典", "出典\n順位", "おわり"):
        save(prompt_set, person, text)
    assert numbers(prompt_set, "順位") == [4, 2, 1]
    assert numbers(prompt_set, "出典") == [4, 3, 2]
    assert numbers(prompt_set, "位を見") == [2, 1]
    assert numbers(prompt_set, "お") == [5]
    assert numbers(prompt_set, "位見") == []


def test_messages_and_authors_are_found(prompt_set: PromptSet, person: User) -> None:
    ken = User.objects.create_user("ken.sato")
    save(prompt_set, person, "a", "最初の版")
    save(prompt_set, ken, "b", "誤字を修正")
    save(prompt_set, person, "c", "順位表を追加")
    assert numbers(prompt_set, "誤字") == [2]
    assert numbers(prompt_set, "Sato") == [2]
    assert numbers(prompt_set, "yuki") == [3, 1]


def test_every_word_must_be_there_in_whichever_place(prompt_set: PromptSet, person: User) -> None:
    ken = User.objects.create_user("ken")
    save(prompt_set, person, "順位")
    save(prompt_set, ken, "順位\n2", "出典を求める")
    save(prompt_set, ken, "なし")
    assert numbers(prompt_set, "順位 出典") == [2]
    assert numbers(prompt_set, "順位\u3000ken") == [2]
    assert numbers(prompt_set, "順位 yuki") == [1]
    assert numbers(prompt_set, "順位 nobody") == []


def test_quotes_keep_words_together(prompt_set: PromptSet, person: User) -> None:
    save(prompt_set, person, "draft first")
    save(prompt_set, person, "first draft")
    assert numbers(prompt_set, "first draft") == [2, 1]
    assert numbers(prompt_set, '"first draft"') == [2]
    assert words_of('a "b  c" ""  "d') == ["a", "b c", "d"]


def test_case_and_width_make_no_difference(prompt_set: PromptSet, person: User) -> None:
    save(prompt_set, person, "Ｒａｎｋｉｎｇ と ﾗﾝｷﾝｸﾞ")
    save(prompt_set, person, "nothing")
    for query in ("ranking", "RANKING", "Ｒａｎｋ", "ランキング", "ﾗﾝｷﾝｸﾞ"):
        assert numbers(prompt_set, query) == [1], query


@pytest.mark.parametrize("sign", ["%", "_", "\\", "*", "'", "(", "[a", "{{", "%%", "%s", "🙂"])
def test_signs_mean_themselves(prompt_set: PromptSet, person: User, sign: str) -> None:
    save(prompt_set, person, f"before {sign} after")
    save(prompt_set, person, "plain words only")
    assert numbers(prompt_set, sign) == [1]


def test_a_long_query_is_found_and_one_that_differs_in_a_letter_is_not(
    prompt_set: PromptSet, person: User
) -> None:
    text = "この節では各チームの提出内容を比較し根拠となる情報源の日付と出典を示してください" * 5
    save(prompt_set, person, text)
    save(prompt_set, person, "短い")
    assert numbers(prompt_set, text[:200]) == [1]
    assert numbers(prompt_set, text[:150] + "x" + text[151:200]) == []


def test_other_sets_are_left_out(prompt_set: PromptSet, person: User) -> None:
    other = PromptSet.objects.create(slug="other", name="Other", created_at=NOW, changed_at=NOW)
    for each in (prompt_set, other):
        save(each, person, "順位")
        save(each, person, "-")
    save(other, person, "出典")
    assert numbers(prompt_set, "順位") == [1]
    assert numbers(prompt_set, "出典") == []


def test_pages_go_on_where_the_last_one_ended(prompt_set: PromptSet, person: User) -> None:
    for at in range(1, 31):
        save(prompt_set, person, f"{'順位' if at % 3 else '-'} {at}")
    first = page(prompt_set, "順位", size=8)
    assert [entry.version.number for entry in first.entries] == [29, 28, 26, 25, 23, 22, 20, 19]
    assert (first.older, first.stopped) == (19, False)
    second = page(prompt_set, "順位", before=19, size=8)
    assert [entry.version.number for entry in second.entries] == [17, 16, 14, 13, 11, 10, 8, 7]
    last = page(prompt_set, "順位", before=7, size=8)
    assert ([entry.version.number for entry in last.entries], last.older) == ([5, 4, 2, 1], None)


@pytest.mark.parametrize(
    ("seed", "versions"), [(0, 60), *(pytest.param(seed, 150, marks=pytest.mark.slow) for seed in range(6))]
)
def test_the_search_agrees_with_looking_at_every_version(
    prompt_set: PromptSet, person: User, seed: int, versions: int
) -> None:
    random = Random(seed)
    people = [person, User.objects.create_user("ba"), User.objects.create_user("順")]
    lines = ["ab"]
    for _ in range(versions):
        lines = lines[:]
        for _ in range(random.randint(1, 2)):
            line = "".join(random.choices("abcd順位 ", k=random.randint(0, 9)))
            at = random.randrange(len(lines) + 1)
            lines[at : at + random.randint(0, 2)] = [line][: random.randint(0, 1)] or [line, "b"]
        lines = lines[:12]
        texts = ["\n".join(lines[at::3]) for at in range(3)]
        if prompt_set.latest and Templates(*texts) == prompt_set.latest.templates:
            continue
        message = "".join(random.choices("abcd順位", k=5))
        prompt_set.save_version(
            Templates(*texts), base=prompt_set.revision, message=message, author=random.choice(people), at=NOW
        )
    assert prompt_set.revision > versions * 0.85
    for _ in range(versions // 3):
        words = [
            "".join(random.choices("abcd順位", k=random.randint(1, 7)))
            for _ in range(random.choice((1, 1, 2)))
        ]
        query = " ".join(words)
        expected = by_hand(prompt_set, query)
        assert numbers(prompt_set, query, size=1000) == expected, query
        before = random.randint(1, prompt_set.revision)
        assert numbers(prompt_set, query, before=before, size=5) == [n for n in expected if n < before][:5]


def test_a_search_that_finds_little_stops_and_says_how_far_it_came(
    prompt_set: PromptSet, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(1, 41):
        # Both words' characters stand in each line that goes, the word itself in none but the first.
        save(prompt_set, person, "abcdefg" if at == 1 else f"abcde bcdefg {at}")
    monkeypatch.setattr(history, "_MOST_READ", 10)
    first = page(prompt_set, "abcdefg")
    assert first.entries == [] and first.stopped and first.older is not None and 1 < first.older < 40
    reached, steps = first, 1
    while reached.stopped:
        reached, steps = page(prompt_set, "abcdefg", before=reached.older), steps + 1
    assert [entry.version.number for entry in reached.entries] == [1]
    assert steps < 40


def test_notes_belong_to_the_transaction_of_the_version(prompt_set: PromptSet, person: User) -> None:
    save(prompt_set, person, "順位")
    kept = set(HistoryNote.objects.values_list("gram", "block", "numbers"))
    with pytest.raises(RuntimeError), transaction.atomic():
        save(prompt_set, person, "出典")
        raise RuntimeError
    assert set(HistoryNote.objects.values_list("gram", "block", "numbers")) == kept


@pytest.mark.slow
def test_reindexing_makes_the_same_notes(
    prompt_set: PromptSet, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reindex, "_AT_ONCE", 9)
    other = PromptSet.objects.create(slug="other", name="Other", created_at=NOW, changed_at=NOW)
    for at in range(70):
        save(prompt_set, person, f"順位 {at % 7}\n{at}")
        save(other, person, f"出典 {at}")
    columns = ("prompt_set_id", "gram", "block", "numbers")
    kept = set(HistoryNote.objects.values_list(*columns))
    HistoryNote.objects.all().delete()
    assert numbers(prompt_set, "位 3") == []
    call_command("reindex", verbosity=0)
    assert set(HistoryNote.objects.values_list(*columns)) == kept
    call_command("reindex", verbosity=0)
    assert set(HistoryNote.objects.values_list(*columns)) == kept


def test_the_page_shows_where_the_words_are(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    save(prompt_set, person, "# 手順\n- 順位 <表> を見る", "順位を足す")
    save(prompt_set, person, "# 手順")
    text = signed_in.get("/prompts/set/?q=順位").content.decode()
    assert "<mark>順位</mark>を足す" in text
    assert "- <mark>順位</mark> &lt;表&gt; を見る" in text
    assert 'href="/prompts/set/versions/1/#team-source-2"' in text and "line 2" in text
    assert "/versions/2/" not in text


def test_a_search_by_htmx_gets_the_history_alone(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    save(prompt_set, person, "順位")
    headers = {"HX-Request": "true", "HX-Target": "history"}
    part = signed_in.get("/prompts/set/?q=順位", headers=headers).content.decode()
    assert "<mark>順位</mark>" in part and "<html" not in part and 'type="search"' not in part


@pytest.mark.slow
def test_pages_of_a_search_keep_its_words(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    for at in range(60):
        save(prompt_set, person, f"順位 {at}")
    first = signed_in.get("/prompts/set/?q=順位").content.decode()
    assert 'href="?q=%E9%A0%86%E4%BD%8D&amp;before=11"' in first
    rest = signed_in.get("/prompts/set/?q=順位&before=11").content.decode()
    assert "/versions/10/" in rest and "/versions/11/" not in rest
    assert 'href="?q=%E9%A0%86%E4%BD%8D"' in rest


def test_a_search_that_stopped_offers_to_go_on(
    prompt_set: PromptSet, person: User, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(1, 41):
        save(prompt_set, person, f"abcde bcdefg {at}")
    monkeypatch.setattr(history, "_MOST_READ", 10)
    text = signed_in.get("/prompts/set/?q=abcdefg").content.decode()
    assert "No matches so far" in text and "Search older versions" in text and "before=" in text


def test_a_search_without_a_match_says_so(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    save(prompt_set, person, "順位")
    text = signed_in.get("/prompts/set/?q=出典").content.decode()
    assert "No version matches" in text and "Show the whole history" in text


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("q=" + "x" * 201, 400),
        ("q=" + "x" * 60_000, 400),
        ("q=a b c d e f g h", 200),
        ("q=a b c d e f g h i", 400),
        ("q=%00", 400),
        ("q=%ED%A0%80", 200),
        ("q=(", 200),
        ('q="', 200),
        ('q=""', 200),
        ("q=%E3%80%80", 200),
        ("q=a&before=0", 400),
        ("q=a&before=abc", 400),
        ("q=a&before=1", 200),
        ("q=a&before=999999999", 200),
        ("before=v1", 200),
    ],
)
def test_odd_searches_get_an_answer(
    prompt_set: PromptSet, person: User, signed_in: Client, query: str, status: int
) -> None:
    save(prompt_set, person, "順位")
    assert signed_in.get(f"/prompts/set/?{query}").status_code == status


@pytest.mark.slow
def test_a_search_asks_the_same_number_of_times_in_few_and_many_versions(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    def queries(query: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            signed_in.get(f"/prompts/set/?{query}")
        return len(captured)

    def write(until: int) -> None:
        for at in range(prompt_set.revision, until):
            save(prompt_set, person, f"順位 {at}\n{'珍しい' if at == 3 else '-'}", f"第{at}稿")

    searches = ("", "q=順位", "q=稿", "q=珍しい", "q=存在しない", "q=順位 珍しい")
    write(60)
    few = [queries(search) for search in searches]
    write(200)
    assert [queries(search) for search in searches] == few


@pytest.mark.django_db(transaction=True)
def test_a_restored_backup_is_searched_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "STUDIO_DATA", tmp_path)
    person = User.objects.create_user("yuki")
    prompt_set = PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)
    save(prompt_set, person, "順位")
    save(prompt_set, person, "出典")
    back_up(tmp_path / "one.zip")
    save(prompt_set, person, "後から")
    save(prompt_set, person, "-")
    restore(tmp_path / "one.zip")
    prompt_set.refresh_from_db()
    assert numbers(prompt_set, "順位") == [1]
    assert numbers(prompt_set, "後から") == []
    save(prompt_set, person, "続き")
    assert numbers(prompt_set, "出典") == [2]


def test_a_text_too_rich_to_be_noted_is_looked_at_instead(
    prompt_set: PromptSet, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_index, "_MOST_GRAMS", 30)
    for text in (
        "順位",
        "むかしむかし、あるところに、順位をつけるのがすきな人がおりました。",
        "短い",
        "出典",
        "-",
    ):
        save(prompt_set, person, text)
    assert numbers(prompt_set, "順位") == [2, 1]
    assert numbers(prompt_set, "ところに") == [2]
    assert numbers(prompt_set, "出典 yuki") == [4]
    assert numbers(prompt_set, "存在しない") == []
    assert HistoryNote.objects.count() < 200
