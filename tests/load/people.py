"""The people of a load: some type and look at the preview, some save, some watch runs, some attack. Each
remembers what the studio acknowledged."""

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle

from tests.builder.jail.attacks import GREEDY
from tests.load.http_client import Answer, Browser
from tests.load.seeding import OTHER_TEXTS, TEXT

PREVIEW_EVERY = 2.0
DRAFT_EVERY = 3
"""Previews of one person between two of their drafts."""
SAVE_EVERY = 2.0
POLL_EVERY = 2.0

_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
_REVISION = re.compile(r'name="revision" value="(\d+)"')
_BASE = re.compile(r'name="base" value="(\d+)"')


@dataclass
class Record:
    """What was asked and answered, over all people."""

    statuses: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    problems: list[str] = field(default_factory=list)
    previews: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Seconds of the previews of those who do not attack, by phase."""
    drafts: dict[str, str] = field(default_factory=dict)
    """The last text of each person and set that was acknowledged."""
    versions: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The messages of saved versions that were acknowledged, by set."""
    memory: list[tuple[int, int, int]] = field(default_factory=list)
    """Of each phase: megabytes of the server and of all processes, and how many these are."""
    phase: str = "warm-up"
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, what: str, answer: Answer, *usual: int) -> None:
        self.statuses[what][answer.status] += 1
        if answer.status not in usual:
            self.problems.append(f"{what}: {answer.status} {' '.join(answer.body.split())[:200]}")


class Person:
    """Somebody signed in, with a tab of their own."""

    def __init__(self, name: str, browser: Browser, record: Record) -> None:
        self.name, self.record = name, record
        self._browser = browser
        self._fields: dict[str, object] = {"tab": name, "seq": 0, "message": "", "kind": "team"}

    async def open(self, slug: str) -> None:
        self._slug = slug
        page = await self._browser.get(f"/prompts/{slug}/edit/")
        self.record.note("editor", page, 200)
        found = [pattern.search(page.body) for pattern in (_TOKEN, _REVISION, _BASE)]
        token, revision, base = (match[1] if match else "" for match in found)
        self._fields |= {"csrfmiddlewaretoken": token, "revision": revision, "base": base}

    async def edit(self, is_attacker: bool) -> None:
        """Type a little, again and again: a preview each time, a draft now and then."""
        attacks: Iterator[str] = cycle(text for text, _ in GREEDY.values())
        number = 0
        async for _ in self._every(PREVIEW_EVERY):
            number += 1
            if is_attacker and self.record.phase == "attack":
                answer = await self._preview(f"{next(attacks)}{{# {self.name} {number} #}}")
                # Stopped, or told to wait after that.
                self.record.note("attack", answer, 200, 429)
                continue
            text = f"{TEXT}{self.name} {number}"
            phase = self.record.phase
            answer = await self._preview(text)
            # Whoever attacked before waits a little longer.
            self.record.note("preview", answer, 200, *([429] if is_attacker else []))
            if not is_attacker:
                self.record.previews[phase].append(answer.seconds)
                if answer.status == 200 and 'data-state="text"' not in answer.body:
                    self.record.problems.append(f"preview without a text: {answer.body[:300]}")
            if number % DRAFT_EVERY == 0:
                await self._keep(text)

    async def save(self) -> None:
        """Make versions of one's own set, one after the other."""
        number = 0
        async for _ in self._every(SAVE_EVERY):
            number += 1
            message = f"{self.name} saves {number}"
            answer = await self._send("save", f"{TEXT}{message}", message=message)
            self.record.note("save", answer, 302)
            if answer.status == 302:
                self.record.versions[self._slug].append(message)
            await self.open(self._slug)

    async def watch(self, pages: Sequence[str]) -> None:
        """Look at pages of runs in turn."""
        turn = cycle(pages)
        async for _ in self._every(POLL_EVERY):
            self.record.note("run page", await self._browser.get(next(turn)), 200, 202)

    async def _preview(self, text: str) -> Answer:
        return await self._send("preview", text, htmx=True)

    async def _keep(self, text: str) -> None:
        answer = await self._send("draft", text)
        self.record.note("draft", answer, 200)
        if answer.status == 200:
            self._fields["revision"] = json.loads(answer.body)["revision"]
            self.record.drafts[f"{self.name} {self._slug}"] = text

    async def _send(self, what: str, text: str, *, message: str = "", htmx: bool = False) -> Answer:
        self._fields["seq"] = int(str(self._fields["seq"])) + 1
        fields = self._fields | OTHER_TEXTS | {"team_user_prompt": text, "message": message}
        return await self._browser.post(f"/prompts/{self._slug}/{what}/", fields, htmx=htmx)

    async def _every(self, seconds: float) -> AsyncIterator[None]:
        """Turns at a steady pace until all is over; after one that took longer, the next comes at once. No
        turn is cut off: what was acknowledged is known."""
        loop, over = asyncio.get_running_loop(), self.record.over
        due = loop.time()
        while not over.is_set():
            yield
            due = max(due + seconds, loop.time())
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), max(0.001, due - loop.time()))
