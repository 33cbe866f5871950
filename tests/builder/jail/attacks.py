"""Templates that the gate accepts and that take too much: each names the limits it may meet."""

from tests.hanging import HANGS

# Which limit comes first depends on how fast the machine is.
GREEDY: dict[str, tuple[str, set[str]]] = {
    "slow loops": (HANGS, {"time"}),
    "large texts": (
        "".join(f"{{% set t{n} = '\U0001f600' * 999999 * 19 %}}" for n in range(5)) + "x",
        {"memory"},
    ),
    "much output": (
        "{% for a in range(999) %}{% for b in range(500) %}{{ 'x' * 100 }}{% endfor %}{% endfor %}",
        {"output"},
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
}
