"""A real studio under attack: meanwhile somebody else's previews and the health check are answered, memory
and disk stay bounded, and after a kill it starts again on what the attack left."""

import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.builder.template.test_repetitions import loops
from tests.studio.attacks import make_large_system_prompt, save
from tests.studio.besieged import (
    MANY_PROBLEMS,
    Person,
    Usage,
    add_accounts,
    disk_of,
    half_sent_headers,
    most_memory_of,
    still_open,
    uploads,
    watch,
    watch_during,
)
from tests.studio_process import Studio

# A process, the demo, accounts with real passwords.
pytestmark = pytest.mark.slow

MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("attacked") / "data"


@pytest.fixture
def studio(data: Path) -> Iterator[Studio]:
    """Started for each attack, on the data of the one before, which was killed."""
    is_first = not data.exists()
    started = Studio(data, "--port", "0")
    try:
        if is_first:
            add_accounts(started, ["anna", "ben", "carla"])
        before = disk_of(data)
        yield started
        assert most_memory_of(started) < 400 * MEBIBYTE
        assert disk_of(data) - before < 100 * MEBIBYTE
    finally:
        started.end(signal.SIGKILL)
    assert "Traceback" not in started.output


@pytest.fixture
def carla(studio: Studio) -> Person:
    """Who works on."""
    return Person(studio, "carla")


@pytest.fixture
def attackers(studio: Studio) -> list[Person]:
    return [Person(studio, "anna"), Person(studio, "ben")]


def test_half_sent_headers_keep_nobody_from_an_answer(studio: Studio, carla: Person) -> None:
    with half_sent_headers(studio) as held:
        seen = watch(carla, lambda: False, at_least=5)
        assert still_open(held) >= 90, "the attack was over before the answers came"
    assert len(seen.previews) == 5


def test_uploads_of_sixty_thousand_tables_take_turns(carla: Person, attackers: list[Person]) -> None:
    with uploads(attackers) as (under_way, answers):
        seen = watch(carla, under_way, at_least=1)
    assert len(answers) == 20 and {answer.status for answer in answers} <= {200, 503}
    turned_away = [answer for answer in answers if answer.status == 503]
    assert turned_away and all(answer.headers["Retry-After"] == "5" for answer in turned_away)
    done = [answer for answer in answers if answer.status == 200]
    assert done and all(len(answer.body) < 400_000 for answer in done)
    assert seen.previews


def test_twenty_seven_thousand_problems_are_a_hundred_everywhere(
    carla: Person, attackers: list[Person], data: Path
) -> None:
    for shown in watch_during(carla, lambda: attackers[0].preview(MANY_PROBLEMS))[1]:
        assert shown.status == 200 and len(shown.body) < 500_000
        assert "And more: only the first 100 problems are listed." in shown.body
    file = next(data.glob("demo/*/configs/prompt_builder.toml"))
    file.write_text(f"[prompt_builder]\nteam_user_prompt = '''\n{MANY_PROBLEMS}\n'''\n", "utf-8")
    for address in (f"/workspaces/{file.parents[1].name}/", "/workspaces/"):
        for page in watch_during(carla, lambda address=address: attackers[0].get(address))[1]:  # type: ignore[misc]
            assert page.status == 200 and len(page.body) < 500_000


def test_system_prompts_of_large_folders_take_turns(
    studio: Studio, carla: Person, attackers: list[Person], data: Path
) -> None:
    folder = next(data.glob("demo/*/configs/prompt_builder.toml")).parents[1]
    make_large_system_prompt(folder)
    page = f"/workspaces/{folder.name}/system/"
    usage = Usage(studio)
    with ThreadPoolExecutor(6) as threads:
        views = [threads.submit(person.get, page) for person in attackers * 3]
        watch(carla, lambda: not all(view.done() for view in views), at_least=1, usage=usage)
    answers = [view.result() for view in views]
    assert {answer.status for answer in answers} <= {200, 503}
    assert all(answer.headers["Retry-After"] == "5" for answer in answers if answer.status == 503)
    shown = [answer for answer in answers if answer.status == 200]
    assert shown and all(len(answer.body) < 1_000_000 for answer in shown)
    # Six views once took 3.3 GB.
    assert usage.peak.all < 1200 * MEBIBYTE


def test_a_text_that_doubles_with_every_line_cannot_be_saved(carla: Person, attackers: list[Person]) -> None:
    grows = (
        "{% set ns = namespace(x='a') %}{% for l in user_prompt.splitlines() %}"
        "{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}"
    )
    for answer in watch_during(carla, lambda: save(attackers[0], grows))[1]:
        assert answer.status == 422 and "it doubles each time" in answer.body


def test_a_dormant_bomb_cannot_be_saved(carla: Person, attackers: list[Person]) -> None:
    bomb = loops("range(99999)", "range(99999)", "range(99999)")
    text = f"a\n{{% if 'Q4 forecast' in user_prompt %}}\n{bomb}\n{{% endif %}}\n"
    for answer in watch_during(carla, lambda: save(attackers[1], text))[1]:
        assert answer.status == 422 and "could repeat something 9,999,800,001 times" in answer.body


def test_a_context_of_a_million_characters_is_not_taken(carla: Person, attackers: list[Person]) -> None:
    task = "x" * 999_500
    told = {"user_prompt": task, "round_number": 1, "round_history": [], "team_id": "t", "team_name": "T"}
    told |= {"execution_id": "e"}
    fields = {"name": "Huge", "json": json.dumps(told), "handed_in": "x"}
    for answer in watch_during(carla, lambda: attackers[0].post("/contexts/new/json/", fields))[1]:
        assert answer.status == 422 and "the limit is 500000" in answer.body


def test_after_all_of_them_it_starts_again_and_answers(studio: Studio, carla: Person) -> None:
    watch(carla, lambda: False)
