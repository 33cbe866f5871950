"""The jobs that ``against`` has two checkouts do, each in a process of its own that runs this file with the
checkout's own code; an older one has some modules elsewhere."""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

VERSIONS = 50
RUNS = 625
"""Of four teams and four rounds each."""

Job = Callable[[], object]


def team_templates(text: str) -> list[str]:
    """Edits as people make them: half of them within a branch, where no fixed text tells them apart."""
    return [
        f"{text}\n{{% if round_number > 1 %}}{said}{{% endif %}}\n" if number % 2 else f"{said}\n{text}"
        for number in range(VERSIONS)
        for said in [f"{number}. 根拠を示してください。"]
    ]


def either(*names: str) -> Any:
    """The first of these modules that the checkout has."""
    for name in names:
        with suppress(ImportError):
            return import_module(name)
    raise ImportError(names[0])


def jobs_of(kinds: list[str]) -> Iterator[tuple[str, str, Job]]:
    """Each job's name, its kind, and what to do."""
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", verbosity=0)
    person = User.objects.create_user("yuki")
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(person)
    if {"preview", "compare"} & {*kinds}:
        load_demo()
    if "preview" in kinds:
        yield from previews(client)
    if "compare" in kinds:
        for name, address in comparisons(person):
            yield name, "compare", lambda address=address: fetched(client, address)
    if {"attribution", "pages"} & {*kinds}:
        workspace, attribute, again = attribution(person)
        if "attribution" in kinds:
            yield "attribution", "attribution", attribute
            yield "attribution, nothing new", "again", again
        if "pages" in kinds:
            attribute()
            for name, address in pages(workspace):
                yield name, "pages", lambda address=address: fetched(client, address)


def fetched(client: Any, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)


def load_demo() -> None:
    from django.conf import settings

    either("studio.home.demo", "studio.operations.demo").load_demo(settings.STUDIO_DATA)


def comparisons(person: Any) -> Iterator[tuple[str, str]]:
    """Two versions of the demo, and two of 1,000 lines, every tenth changed: as source and rendered."""
    from django.utils import timezone

    from studio.models import PromptSet
    from studio.prompts.texts import Templates

    now = timezone.now()
    small = PromptSet.objects.get(slug="research-team")
    assert small.latest is not None
    judges = small.latest.evaluator_user_prompt, small.latest.judgment_user_prompt
    large = PromptSet.objects.create(slug="large", name="Large", created_at=now, changed_at=now)
    for base, word in enumerate(("根拠", "出典")):
        lines = [
            f"{n}. {word if n % 10 == 0 else '理由'}を{{{{ round_number }}}}つ示す。" for n in range(1000)
        ]
        text = "\n".join([small.latest.team_user_prompt, *lines])
        large.save_version(Templates(text, *judges), base=base, message="m", author=person, at=now)
    for size, slug, pair in (
        ("small", "research-team", f"{small.latest.number - 1}...{small.latest.number}"),
        ("large", "large", "1...2"),
    ):
        yield f"compare, {size}", f"/prompts/{slug}/compare/{pair}"
        yield (
            f"compare, {size}, rendered",
            f"/prompts/{slug}/compare/{pair}?rendered=1&context=round-5-first&round=3",
        )


def previews(client: Any) -> Iterator[tuple[str, str, Job]]:
    from studio.models import PromptSet

    saved = PromptSet.objects.get(slug="research-team").latest
    assert saved is not None
    count = iter(range(10**9))
    texts: dict[str, Callable[[], str]] = {
        "as saved": lambda: saved.team_user_prompt,
        "new text": lambda: f"{saved.team_user_prompt}\n変更 {next(count)}",
    }

    def preview(text: str) -> None:
        where = {"kind": "team", "context": "round-5-first", "round": 5, "tab": "t", "seq": 1}
        form = {"base": saved.number, "revision": 0, "message": "", "team_user_prompt": text, **where}
        answer = client.post("/prompts/research-team/preview/", form, headers={"hx-request": "true"})
        assert answer.status_code == 200, answer.status_code

    for name, text in texts.items():
        yield f"preview, {name}", "preview", lambda text=text: preview(text())


def attribution(person: Any) -> tuple[Any, Job, Job]:
    """A workspace of 10,000 rounds, the job that finds their versions, and a second pass."""
    from django.conf import settings
    from django.utils import timezone

    from builder.simulation import TASKS, Run, simulate
    from studio.models import PromptSet, RunResult, Workspace
    from studio.prompts.texts import Templates
    from studio.results.attribution import attribute_workspace
    from studio.workspaces.stores import store_of

    now = timezone.now()
    last = either("studio.home.demo.story", "studio.operations.demo.story").RESEARCH.chapters[-1].templates
    judges = last.evaluator_user_prompt, last.judgment_user_prompt
    texts = [Templates(text, *judges) for text in team_templates(last.team_user_prompt)]
    prompt_set = PromptSet.objects.create(slug="s", name="S", created_at=now, changed_at=now)
    for base, each in enumerate(texts):
        prompt_set.save_version(each, base=base, message="m", author=person, at=now)
    folder = Path(settings.STUDIO_WORKSPACE_ROOTS[0]) / "ws"
    folder.mkdir()
    runs = [
        Run(
            TASKS["ja"][number % len(TASKS["ja"])],
            now - timedelta(hours=RUNS - number),
            rounds=4,
            templates=texts[number % VERSIONS].by_kind,
            zone="Asia/Tokyo",
        )
        for number in range(RUNS)
    ]
    simulate(folder, runs, seed=5)
    workspace = Workspace.objects.create(slug="w", name="W", path=str(folder), created_at=now)
    store_of(workspace).refresh(wait=None)

    def attribute() -> None:
        RunResult.objects.filter(workspace=workspace).delete()
        done = attribute_workspace(workspace, now)
        exact = RunResult.objects.filter(workspace=workspace, found="exact").count()
        assert exact == RUNS, (exact, done)

    return workspace, attribute, lambda: attribute_workspace(workspace, now)


def pages(workspace: Any) -> Iterator[tuple[str, str]]:
    """The pages that show what the leaderboard holds."""
    from studio.workspaces.stores import store_of

    first, second = (execution.execution_id for execution in store_of(workspace).executions(limit=2))
    top = f"/workspaces/{workspace.slug}"
    yield "runs of all workspaces", "/runs/"
    yield "workspace", f"{top}/"
    yield "runs", f"{top}/runs/"
    yield "runs, searched", f"{top}/runs/?q=競合"
    yield "runs, a late page", f"{top}/runs/?page=15"
    yield "run", f"{top}/runs/{first}/"
    yield "team of a run", f"{top}/runs/{first}/teams/team-001/"
    yield "round", f"{top}/runs/{first}/teams/team-001/rounds/3/"
    yield "two runs", f"{top}/runs/{first}...{second}/"
    yield "teams", f"{top}/teams/"
    yield "team", f"{top}/teams/team-001/"
    yield "scores", f"{top}/scores/"


# --- what a job takes --------------------------------------------------------------------


def of_children() -> float:
    """CPU time of the processes below this one, those that ended included."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    below, new = set[int](), {os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new}
        below |= new
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = ended.ru_utime + ended.ru_stime
    for pid in below:
        with suppress(OSError):
            # Linux's clock of another process's CPU time, as clock_getcpuclockid(3) makes it.
            total += time.clock_gettime((~pid << 3) | 2)
    return total


def took(job: Job) -> tuple[float, float]:
    children = of_children()
    began, own = time.perf_counter(), time.process_time()
    job()
    own, wall = time.process_time() - own, time.perf_counter() - began
    return own + of_children() - children, wall


def main() -> None:
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "studio.settings"
    django.setup()
    jobs = {name: (kind, job) for name, kind, job in jobs_of(sys.argv[1:])}
    for line in sys.stdin:
        name = line.strip()
        answer = {each: kind for each, (kind, _) in jobs.items()} if name == "jobs" else took(jobs[name][1])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
