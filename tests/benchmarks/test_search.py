"""Finding things among 500 sets of 20 versions, against a bare page. ``-s`` shows CPU time as a ratio."""

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
from studio.models import PromptSet, PromptVersion, RunResult, SampleContext, Workspace
from studio.prompts.history_index import note_versions
from studio.prompts.labels import Label
from studio.prompts.models import Origin
from studio.prompts.texts import Templates
from studio.results.models import Found
from studio.shell import sized_cache
from tests.studio.clock import NOW
from tests.studio.editing import make_context

SETS, VERSIONS, CONTEXTS, RUNS = 500, 20, 100, 5_000
TURNS = 15
PHRASES = ("順位を確認し、", "（出典）を示し、", "前回の指摘に答え、", "数値を検証し、", "結論を先に述べ、")
BARE = "/shortcuts/"


@pytest.fixture(scope="module")
def db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        yield


@pytest.fixture(scope="module")
def client(db: None) -> Client:
    author = User.objects.create_user("yuki")
    random = Random(0)
    for number in range(SETS):
        fill(number, author, random)
    for number in range(CONTEXTS):
        make_context(f"context-{number}", rounds=4, user_prompt="市場の規模を調べる。" * 40)
    workspace = Workspace.objects.create(slug="lab", name="Lab", path="/lab", created_at=NOW)
    RunResult.objects.bulk_create(
        RunResult(
            workspace=workspace, execution_id=f"{random.getrandbits(64):016x}", over=True, state="completed",
            task=(task := f"課題 {number % 200}: " + "市場の規模を調べる。" * 20), task_key=task[:20],
            started_at=NOW, teams=2, rounds=2, found=Found.UNKNOWN, examined_up_to=0, examined_at=NOW,
        )
        for number in range(RUNS)
    )  # fmt: skip
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM studio_historynote")
        print(f"\n{SETS} × {VERSIONS} versions, {cursor.fetchone()[0]:,} notes ({connection.vendor})")
    assert SampleContext.objects.count() == CONTEXTS
    made = Client()
    made.force_login(author)
    return made


def fill(number: int, author: User, random: Random) -> None:
    """A set of some 3,000 characters, each version of which rewrites a line."""
    made = PromptSet.objects.create(
        slug=f"set-{number}", name=f"調査チーム {number}", created_at=NOW, changed_at=NOW, revision=VERSIONS
    )
    lines = [f"{random.choice(PHRASES)}観点{line}を確認する。" * 3 for line in range(40)]
    versions = []
    for version in range(1, VERSIONS + 1):
        lines[random.randrange(40)] = f"{random.choice(PHRASES)}{number}-{version}を書く。"
        once = "\n希少な言葉" if (number, version) == (SETS // 2, 5) else ""
        texts = Templates("\n".join(lines) + once, *list(DEFAULT_TEMPLATES.values())[1:])
        versions.append(
            PromptVersion(
                prompt_set=made, number=version, **vars(texts), content_hash=texts.content_hash,
                message=f"第{version}稿", author=author, created_at=NOW, origin=Origin.EDITED,
            )
        )  # fmt: skip
    with transaction.atomic():
        PromptVersion.objects.bulk_create(versions)
        note_versions(versions)
        Label.objects.create(prompt_set=made, name="production", version=versions[9], moved_at=NOW)


def in_turns(*actions: Callable[[], object]) -> list[float]:
    """Milliseconds of CPU of each; they take turns, so that a busy machine is busy for all of them."""
    found: list[list[float]] = [[] for _ in actions]
    for turn in range(TURNS + 2):
        for action, times in zip(actions, found, strict=True):
            began = time.process_time()
            action()
            if turn >= 2:
                times.append(time.process_time() - began)
    return [statistics.median(times) * 1000 for times in found]


def get(client: Client, address: str) -> None:
    assert client.get(address).status_code == 200


ADDRESSES = {
    "palette, opened": "/search/palette/",
    "palette, a letter": "/search/palette/?q=s",
    "palette, a set": "/search/palette/?q=調査チーム 77",
    "palette, letters in order": "/search/palette/?q=st77",
    "palette, a version": "/search/palette/?q=調査 v7",
    "palette, no such name": "/search/palette/?q=nowhere",
    "a word in every set": "/search/?q=確認",
    "two characters in one old version": "/search/?q=希少",
    "a long word in one old version": "/search/?q=希少な言葉",
    "a word in messages of old versions": "/search/?q=第7稿",
    "a word of contexts and tasks": "/search/?q=市場",
    "no such word": "/search/?q=存在しない",
    "two words, one nowhere": "/search/?q=確認 存在しない",
}


@pytest.mark.parametrize("title", ADDRESSES)
def test_search(benchmark: BenchmarkFixture, client: Client, title: str) -> None:
    bare, asked = in_turns(lambda: get(client, BARE), lambda: get(client, ADDRESSES[title]))
    print(f"\n{title:38} {asked:7.1f} ms of CPU   {asked / bare:5.2f} × a bare page", end="")
    benchmark.pedantic(lambda: get(client, ADDRESSES[title]), rounds=3)


def test_first_search_after_a_start(benchmark: BenchmarkFixture, client: Client) -> None:
    def cold() -> None:
        sized_cache.clear_all()
        get(client, "/search/?q=希少")

    bare, asked = in_turns(lambda: get(client, BARE), cold)
    print(
        f"\n{'the first search after a start':38} {asked:7.1f} ms of CPU   {asked / bare:5.2f} × a bare page",
        end="",
    )
    benchmark.pedantic(cold, rounds=3)
