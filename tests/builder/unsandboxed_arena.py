"""Runs random templates in an environment without a sandbox and watches what they do.

A program of its own, since an audit hook cannot be taken out again:
``python -m tests.builder.unsandboxed_arena FIRST_SEED COUNT``; prints its findings as JSON.
"""

import json
import re
import resource
import signal
import sys
from collections import Counter
from types import FrameType
from typing import Any

import jinja2

from builder.errors import TemplateFailure
from builder.problems import errors_in
from builder.template import render as rendering
from builder.template.allowed import FILTERS, TESTS
from builder.template.check import check
from builder.template.dialect import MIXSEEK
from tests.builder.template_grammar import TemplateGrammar

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
VALUES: dict[str, str | int] = {
    "user_prompt": "task a\nb <i>",
    "submission_history": "## 1\nscore: 2",
    "ranking_table": "",
    "team_position_message": "1位",
    "current_datetime": "2025-11-19T12:34:56+00:00",
    "round_number": 2,
}
COMPILING = {"compile", "exec"}
"""What turning a template into Python does by itself."""
RENDERING = {"builtins.id"}
"""The json module, behind ``tojson``, looks for circles that way."""


class TooLong(BaseException):
    """Not an ``Exception``, so that no template swallows it."""


def stop(signum: int, frame: FrameType | None) -> None:
    raise TooLong


class Watch:
    """Counts every audit event outside of ``allowed`` while it is on."""

    def __init__(self) -> None:
        self.on = False
        self.allowed: set[str] = set()
        self.events: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and event not in self.allowed:
            self.events.append(event)


def outcome(environment: jinja2.Environment, text: str, watch: Watch) -> str:
    watch.allowed = COMPILING | RENDERING
    watch.on = True
    try:
        template = environment.from_string(text)
        watch.allowed = RENDERING
        return "".join(template.root_render_func(template.new_context(dict(VALUES))))
    except jinja2.TemplateSyntaxError as error:
        return f"!uncompilable {error.message}"
    except Exception as error:
        watch.on = False
        return f"!{type(error).__name__}"
    finally:
        watch.on = False


def warm_up(environments: list[jinja2.Environment]) -> None:
    """Filters that import on first use do it now, before anybody watches."""
    for environment in environments:
        for name in FILTERS:
            outcome(environment, f"{{{{ 'a b'|{name} }}}}{{{{ '<b>&amp;'|{name}(2) }}}}", Watch())
        for name in TESTS:
            outcome(environment, f"{{{{ 1 is {name}(1) }}}}", Watch())


def run(first: int, count: int) -> dict[str, Any]:
    plain = jinja2.Environment(autoescape=False, undefined=jinja2.StrictUndefined)
    sandboxed = rendering.environment_for(MIXSEEK)
    warm_up([plain, sandboxed])
    watch = Watch()
    sys.addaudithook(watch)
    signal.signal(signal.SIGALRM, stop)
    counts: Counter[str] = Counter()
    bad: list[dict[str, Any]] = []
    for seed in range(first, first + count):
        text = TemplateGrammar(seed, hostility=(0, 0.01, 0.04, 0.15)[seed % 4]).template()
        if errors_in(check("team", text)):
            counts["refused"] += 1
            continue
        counts["accepted"] += 1
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        try:
            free, caged = outcome(plain, text, watch), outcome(sandboxed, text, watch)
        except TooLong:
            counts["too long"] += 1
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        counts["failed" if free.startswith("!") else "rendered"] += 1
        reason = said(text) if free.startswith("!") else ""
        if watch.events or ADDRESS.search(free + reason) or free != caged or free.startswith("!uncompilable"):
            found = {
                "template": text,
                "events": watch.events,
                "plain": free,
                "sandboxed": caged,
                "said": reason,
            }
            bad.append({"seed": seed, **found})
            watch.events = []
    return {"counts": counts, "bad": bad[:20]}


def said(text: str) -> str:
    try:
        rendering.render("team", text, VALUES, MIXSEEK)
    except TemplateFailure as failure:
        return str(failure)
    return ""


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    print(json.dumps(run(int(sys.argv[1]), int(sys.argv[2]))))
