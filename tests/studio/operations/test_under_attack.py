"""A real studio under attack: meanwhile somebody else's previews and the health check are answered."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builder.template.test_repetitions import loops
from tests.studio.besieged import (
    MANY_PROBLEMS,
    OTHER_TEXTS,
    SET,
    Person,
    half_sent_headers,
    memory_of,
    start,
    still_open,
    uploads,
    watch,
)
from tests.studio_process import Studio

# A process, the demo, accounts with real passwords.
pytestmark = pytest.mark.slow

MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("attacked") / "data"


@pytest.fixture(scope="module")
def studio(data: Path) -> Iterator[Studio]:
    started = start(data)
    yield started
    started.process.kill()
    started.process.communicate()


@pytest.fixture(scope="module")
def carla(studio: Studio) -> Person:
    """Who works on."""
    return Person(studio, "carla")


@pytest.fixture(scope="module")
def attackers(studio: Studio) -> list[Person]:
    return [Person(studio, "anna"), Person(studio, "ben")]


def test_half_sent_headers_keep_nobody_from_an_answer(studio: Studio, carla: Person) -> None:
    with half_sent_headers(studio) as held:
        seen = watch(carla, lambda: False, at_least=5)
        assert still_open(held) >= 90, "the attack was over before the answers came"
    assert len(seen.previews) == 5


def test_uploads_of_sixty_thousand_tables_take_turns(
    studio: Studio, carla: Person, attackers: list[Person]
) -> None:
    before = memory_of(studio)
    with uploads(attackers) as (under_way, answers):
        seen = watch(carla, under_way, at_least=1)
    assert len(answers) == 20 and {answer.status for answer in answers} <= {200, 503}
    turned_away = [answer for answer in answers if answer.status == 503]
    assert turned_away and all(answer.headers["Retry-After"] == "5" for answer in turned_away)
    done = [answer for answer in answers if answer.status == 200]
    assert done and all(len(answer.body) < 400_000 for answer in done)
    assert seen.previews
    assert memory_of(studio) - before < 200 * MEBIBYTE


def test_twenty_seven_thousand_problems_are_a_hundred_everywhere(
    studio: Studio, carla: Person, attackers: list[Person], data: Path
) -> None:
    shown = attackers[0].preview(MANY_PROBLEMS)
    assert shown.status == 200 and len(shown.body) < 500_000
    assert "And more: only the first 100 problems are listed." in shown.body
    file = next(data.glob("demo/*/configs/prompt_builder.toml"))
    file.write_text(f"[prompt_builder]\nteam_user_prompt = '''\n{MANY_PROBLEMS}\n'''\n", "utf-8")
    page = carla.get(f"/workspaces/{file.parents[1].name}/")
    assert page.status == 200 and len(page.body) < 500_000
    assert len(carla.get("/workspaces/").body) < 500_000
    watch(carla, lambda: False)


def test_a_dormant_bomb_cannot_be_saved(carla: Person, attackers: list[Person]) -> None:
    bomb = loops("range(99999)", "range(99999)", "range(99999)")
    text = f"a\n{{% if 'Q4 forecast' in user_prompt %}}\n{bomb}\n{{% endif %}}\n"
    base = re.findall(r'name="base" value="(\d+)"', attackers[1].get(f"/prompts/{SET}/edit/").body)[0]
    fields = {"kind": "team", "tab": "t", "seq": 1, "revision": 0, "base": base, "message": "m"}
    texts = {"team_user_prompt": text} | OTHER_TEXTS
    answer = attackers[1].post(f"/prompts/{SET}/save/", fields | texts)
    assert answer.status == 422 and "could be repeated 9,999,800,001 times" in answer.body
    watch(carla, lambda: False)


def test_a_context_of_a_million_characters_is_not_taken(carla: Person, attackers: list[Person]) -> None:
    task = "x" * 999_500
    told = {"user_prompt": task, "round_number": 1, "round_history": [], "team_id": "t", "team_name": "T"}
    told |= {"execution_id": "e"}
    fields = {"name": "Huge", "json": json.dumps(told), "handed_in": "x"}
    answer = attackers[0].post("/contexts/new/json/", fields)
    assert answer.status == 422 and "at most 500000 fit" in answer.body
    watch(carla, lambda: False)


def test_after_a_kill_it_starts_again_and_answers(studio: Studio, data: Path) -> None:
    studio.end(signal.SIGKILL)
    again = Studio(data, "--port", "0")
    try:
        watch(Person(again, "carla"), lambda: False)
        assert "Traceback" not in again.output
    finally:
        again.end(signal.SIGINT)
