"""A history of 100,000 versions against one of 100: pages, searches, saves. ``-s`` shows the ratios."""

import statistics
import time
from collections.abc import Callable, Iterator
from random import Random

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from pytest_benchmark.fixture import BenchmarkFixture
from pytest_django.plugin import DjangoDbBlocker

from builder.template.defaults import DEFAULT_TEMPLATES
from studio.models import PromptSet, PromptVersion, RoundResult, RunResult, Workspace
from studio.prompts.history_index import note_versions
from studio.prompts.models import Origin
from studio.prompts.texts import Templates
from studio.results.models import Found
from tests.studio.clock import NOW

FEW, MANY = 100, 100_000
ROUNDS = 40
PHRASES = ("順位を確認し", "出典を示し", "前回の指摘に答え", "数値を検証し", "結論を先に述べ", "簡潔にまとめ")
ENDINGS = ("てください", "ること", "、根拠を添える", "、日付を書く")


def stories(total: int) -> Iterator[tuple[str, Templates]]:
    """Messages and texts: each version rewrites a line of the team's template, now and then another one's."""
    random = Random(total)
    texts = dict(DEFAULT_TEMPLATES)
    lines = [f"{number}. 観点を確認する" for number in range(20)]
    for number in range(1, total + 1):
        lines[random.randrange(len(lines))] = (
            f"{random.choice(PHRASES)}{random.choice(ENDINGS)} ({number}) abcde bcdefg"
        )
        if number % 10 == 0:
            texts["judgment"] = f"{DEFAULT_TEMPLATES['judgment']}\n判定の版 {number}"
        # One version, near the beginning, has a word that no other one has.
        once = "\n希少な言葉" if number == total // 10 else ""
        templates = Templates(
            "\n".join([texts["team"], *lines]) + once, texts["evaluator"], texts["judgment"]
        )
        yield f"{random.choice(PHRASES)}た (第{number}稿)", templates


def fill(slug: str, total: int, author: User) -> PromptSet:
    prompt_set = PromptSet.objects.create(
        slug=slug, name=slug, created_at=NOW, changed_at=NOW, revision=total
    )
    parent: PromptVersion | None = None
    some: list[PromptVersion] = []

    def store() -> None:
        with transaction.atomic():
            PromptVersion.objects.bulk_create(some)
            note_versions(([parent] if parent else []) + some)

    for number, (message, templates) in enumerate(stories(total), start=1):
        some.append(
            PromptVersion(
                prompt_set=prompt_set,
                number=number,
                **vars(templates),
                content_hash=templates.content_hash,
                message=message,
                author=author,
                created_at=NOW,
                origin=Origin.EDITED,
            )
        )
        if len(some) == 1000:
            store()
            parent, some = some[-1], []
    store()
    play(prompt_set)
    return prompt_set


def play(prompt_set: PromptSet) -> None:
    """Every fifth version ran four times, so that each page has as many figures to work out."""
    workspace = Workspace.objects.create(
        slug=prompt_set.slug, name=prompt_set.slug, path=f"/{prompt_set.slug}", created_at=NOW
    )
    random = Random(prompt_set.slug)
    keys = prompt_set.versions.filter(number__in=range(5, prompt_set.revision + 1, 5))
    made = [
        RunResult(
            workspace=workspace, execution_id=f"{key}-{run}", over=True, state="completed",
            task_key=f"task {run}", started_at=NOW, teams=2, rounds=2, best_score=random.gauss(80, 4),
            metrics=["Clarity", "Coverage"], found=Found.EXACT, version_id=key, examined_up_to=0,
            examined_at=NOW,
        )
        for key in keys.order_by().values_list("pk", flat=True)
        for run in range(4)
    ]  # fmt: skip
    RunResult.objects.bulk_create(made, batch_size=5000)
    RoundResult.objects.bulk_create(
        (
            RoundResult(run=run, team_id=team, team_name=team, round_number=1, score=70.0, found=Found.EXACT)
            for run in made
            for team in ("a", "b")
        ),
        batch_size=5000,
    )


@pytest.fixture(scope="module")
def db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """In place of pytest-django's: rows are committed once, and each request makes its own transactions."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture(scope="module")
def histories(db: None) -> tuple[PromptSet, PromptSet, Client]:
    author = User.objects.create_user("yuki")
    began = time.perf_counter()
    few = fill("few", FEW, author)
    before = index_bytes()
    many = fill("many", MANY, author)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    print(f"\nmade in {time.perf_counter() - began:.0f} s; {sizes(before)}")
    client = Client()
    client.force_login(author)
    return few, many, client


def index_bytes() -> int:
    table = "studio_historynote"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_total_relation_size(%s)", [table])
        else:
            cursor.execute("SELECT sum(pgsize) FROM dbstat WHERE name = %s", [table])
        return cursor.fetchone()[0] or 0


def sizes(before: int) -> str:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_total_relation_size('studio_promptversion')")
        else:
            cursor.execute("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'studio_promptversion%%'")
        versions = cursor.fetchone()[0]
        cursor.execute("SELECT count(*) FROM studio_historynote")
        rows = cursor.fetchone()[0]
    index = index_bytes() - before
    return (
        f"versions {versions / 1e6:.0f} MB, index {index / 1e6:.0f} MB in {rows:,} rows ({connection.vendor})"
    )


def in_turns(*actions: Callable[[], object]) -> list[float]:
    """Milliseconds of each action; they take turns, so that a busy machine is busy for all of them."""
    found: list[list[float]] = [[] for _ in actions]
    for turn in range(ROUNDS + 2):
        for action, times in zip(actions, found, strict=True):
            began = time.perf_counter()
            action()
            if turn >= 2:
                times.append(time.perf_counter() - began)
    return [statistics.median(times) * 1000 for times in found]


SEARCHES = {
    "the first page": "",
    "a page half-way": "before={half}",
    "a word in every version": "q=タスク",
    "two characters in most lines": "q=確認",
    "a word in every message": "q=稿",
    "one match": "q=希少",
    "one match, longer": "q=希少な言葉",
    "no match": "q=存在",
    "no match, longer": "q=存在しない言葉です",
    "its characters common, itself nowhere": "q=abcdefg",
    "two words": "q=順位 yuki",
    "two words, one nowhere": "q=順位 存在",
    "half of the lines, half-way": "q=出典&before={half}",
    "one character": "q=希",
    "two hundred characters": "q=" + "順位を確認し" * 33,
}


@pytest.mark.parametrize("title", SEARCHES)
def test_history(
    benchmark: BenchmarkFixture, histories: tuple[PromptSet, PromptSet, Client], title: str
) -> None:
    few, many, client = histories

    def get(prompt_set: PromptSet) -> None:
        # Half-way, but with a whole page below in the short history too.
        query = SEARCHES[title].format(half=max(prompt_set.revision // 2, 60))
        assert client.get(f"/prompts/{prompt_set.slug}/?{query}").status_code == 200

    short, long = in_turns(lambda: get(few), lambda: get(many))
    print(
        f"\n{title:38} {FEW:,}: {short:6.2f} ms   {MANY:,}: {long:6.2f} ms   ratio {long / short:.2f}", end=""
    )
    benchmark(lambda: get(many))


@pytest.mark.parametrize("page", ["scores/", "scores/?before={half}", "versions/{half}/runs/"])
def test_scores(
    benchmark: BenchmarkFixture, histories: tuple[PromptSet, PromptSet, Client], page: str
) -> None:
    few, many, client = histories

    def get(prompt_set: PromptSet) -> None:
        address = f"/prompts/{prompt_set.slug}/{page.format(half=prompt_set.revision // 2)}"
        assert client.get(address).status_code == 200

    short, long = in_turns(lambda: get(few), lambda: get(many))
    print(
        f"\n{page:38} {FEW:,}: {short:6.2f} ms   {MANY:,}: {long:6.2f} ms   ratio {long / short:.2f}", end=""
    )
    benchmark(lambda: get(many))


@pytest.mark.parametrize("lines", [1, 20, 1000])
def test_save(
    benchmark: BenchmarkFixture, histories: tuple[PromptSet, PromptSet, Client], lines: int
) -> None:
    few, many, _ = histories
    author = User.objects.get()

    def save(prompt_set: PromptSet) -> None:
        number = prompt_set.revision
        text = "\n".join(f"順位を確認し、出典を示してください ({number}, {line})" for line in range(lines))
        prompt_set.save_version(
            Templates(text, "評価", "判定"), base=number, message=f"第{number}稿", author=author, at=NOW
        )

    short, long = in_turns(lambda: save(few), lambda: save(many))
    print(
        f"\na save that changes {lines} lines: {FEW:,}: {short:6.2f} ms   {MANY:,}: {long:6.2f} ms"
        f"   ratio {long / short:.2f}",
        end="",
    )
    benchmark.pedantic(lambda: save(many), rounds=5)
