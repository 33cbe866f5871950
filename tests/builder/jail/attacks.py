"""Templates that the gate accepts and that take too much: each names the limits it may meet."""

from tests.hanging import HANGS

# Which limit comes first depends on how fast the machine is.
GREEDY: dict[str, tuple[str, set[str]]] = {
    "slow loops": (HANGS, {"time"}),
    "a growing number": (
        "{% set ns = namespace(n=7) %}{% for i in range(60) %}{% set ns.n = ns.n * ns.n %}{% endfor %}x",
        {"time", "memory"},
    ),
    "a doubling text": (
        "{% set ns = namespace(t='ab') %}\n{% for i in range(60) %}{% set ns.t = ns.t ~ ns.t %}{% endfor %}x",
        {"memory", "time"},
    ),
    "a doubling list": (
        "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% endfor %}x",
        {"memory", "time"},
    ),
    "much output": (
        "{% for i in range(99999) %}{{ user_prompt }}{{ submission_history }}{% endfor %}",
        {"output"},
    ),
    "replacing nothing": (
        "{% set ns = namespace(t='a' * 9999) %}"
        "{% for i in range(9) %}{% set ns.t = ns.t.replace('', ns.t) %}{% endfor %}x",
        {"memory", "time"},
    ),
    "deep tuples": (
        "{% set ns = namespace(x=()) %}{% for i in range(60000) %}{% set ns.x = (ns.x,) %}{% endfor %}"
        "{{ {ns.x: 1} | length }}",
        {"crash", "time"},
    ),
    "deep lists compared": (
        "{% set ns = namespace(x=[], y=[]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}"
        "{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
        {"depth", "time"},
    ),
    "nested lists printed": (
        "{% set ns = namespace(l=[1]) %}{% for i in range(40) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}"
        "{{ ns.l }}",
        {"memory", "time", "depth"},
    ),
}
