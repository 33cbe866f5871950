import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from builder.errors import LimitExceeded
from builder.jail import JailPool, Limits
from builder.jail.process import WORKER
from builder.template.render import render

ROOT = Path(__file__).parents[3]
Values = dict[str, str | int]


def run_python(script: str, **kwargs) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{script}"],
        capture_output=True,
        text=True,
        timeout=60,
        **kwargs,
    )


@pytest.mark.slow
def test_a_worker_loads_nothing_heavy() -> None:
    script = (
        f"import runpy; worker = runpy.run_path({str(WORKER)!r})\n"
        "worker['open_packages'](); worker['load']()\n"
        "print(*sys.modules)"
    )
    loaded = set(run_python(script).stdout.split())
    assert {"builder.template.check", "builder.template.render", "builder.files.prompt_file"} <= loaded
    assert not loaded & {
        "duckdb", "bpe_openai", "django", "pydantic_settings", "builder.template.models",
        "builder.contract.settings", "builder.jail.pool", "subprocess", "socket", "multiprocessing",
    }  # fmt: skip


@pytest.mark.slow
def test_a_worker_has_no_environment_and_no_way_to_more(values: Values) -> None:
    with JailPool(size=1, spares=0) as pool:
        pool.render("team", "a", values)
        (worker,) = pool._jobs._lanes["preview"].all()
        environ = Path(f"/proc/{worker.pid}/environ").read_bytes()
        limits = Path(f"/proc/{worker.pid}/limits").read_text()
        status = Path(f"/proc/{worker.pid}/status").read_text()
        descriptors = sorted(os.listdir(f"/proc/{worker.pid}/fd"))
        cpu, _ = resource.prlimit(worker.pid, resource.RLIMIT_CPU)
    assert environ == b""
    found = {line[:26].strip(): line[26:].split()[:2] for line in limits.splitlines()[1:]}
    assert found["Max file size"] == found["Max core file size"] == found["Max processes"] == ["0", "0"]
    assert found["Max open files"] == ["3", "3"]
    assert found["Max address space"] == [str(256 * 1024 * 1024)] * 2
    assert 2 <= cpu <= 4
    assert descriptors == ["0", "1", "2"]
    assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status


@pytest.mark.slow
def test_a_worker_ends_with_its_pipe() -> None:
    settings = {"memory": 256 * 1024 * 1024, "input": 1000}
    done = subprocess.run(
        [sys.executable, "-I", WORKER, json.dumps(settings)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=60,
    )
    assert done.returncode == 0
    assert b'"ready":true' in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("limits", [Limits(time=20, cpu=1, wall=120)])
def test_cpu_time_is_limited_where_the_clock_is_not(limits: Limits, values: Values) -> None:
    # Minutes, also on a fast core: the limit is between one and two seconds.
    text = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    with JailPool(size=1, spares=0, limits=limits) as pool:
        with pytest.raises(LimitExceeded) as stop:
            pool.render("team", text, values)
        assert stop.value.limit == "cpu" and "1 s" in str(stop.value)
        # The limit counts from what the worker has used before, not from its start.
        for _ in range(3):
            assert pool.render("team", "{{ round_number }}", values) == "2"


@pytest.mark.slow
def test_what_does_not_hear_the_alarm_is_killed(values: Values) -> None:
    # One long multiplication inside the interpreter, where no signal handler runs.
    text = "{% set ns = namespace(n=7) %}{% for i in range(60) %}{% set ns.n = ns.n * ns.n %}{% endfor %}"
    with JailPool(size=1, spares=0, limits=Limits(time=0.3)) as pool:
        with pytest.raises(LimitExceeded) as stop:
            pool.render("team", text, values)
        assert stop.value.limit == "time" and "0.3 s" in str(stop.value)
        assert pool.render("team", "{{ round_number }}", values) == "2"


@pytest.mark.slow
def test_output_is_limited_and_the_worker_goes_on(values: Values) -> None:
    inputs = sum(len(value) for value in values.values() if isinstance(value, str))
    most = 1000 + inputs
    with JailPool(size=1, spares=0, limits=Limits(output=1000)) as pool:
        assert pool.render("team", f"{{{{ 'a' * {most} }}}}", values) == "a" * most
        started = pool.stats().workers_started
        with pytest.raises(LimitExceeded) as stop:
            pool.render("team", f"{{{{ 'a' * {most + 1} }}}}", values)
        assert stop.value.limit == "output" and "1,000" in str(stop.value)
        assert pool.render("team", "b", values) == "b"
        assert pool.stats().workers_started == started and pool.stats().kills == 0


@pytest.mark.slow
def test_a_crash_is_a_clear_error_and_a_new_worker(values: Values) -> None:
    text = (
        "{% set ns = namespace(x=()) %}{% for i in range(60000) %}{% set ns.x = (ns.x,) %}{% endfor %}"
        "{{ {ns.x: 1} | length }}"
    )
    with JailPool(size=1, spares=0, limits=Limits(time=20, cpu=20, wall=120)) as pool:
        with pytest.raises(LimitExceeded) as stop:
            pool.render("team", text, values)
        assert stop.value.limit == "crash" and "SIGSEGV" in str(stop.value)
        assert pool.render("team", "b", values) == "b"


@pytest.mark.slow
def test_a_worker_is_replaced_after_its_share_of_jobs(values: Values) -> None:
    with JailPool(size=1, spares=1, limits=Limits(jobs=2)) as pool:
        for number in range(6):
            assert pool.render("team", str(number), values) == str(number)
        assert pool.stats().workers_started >= 3
        assert pool.stats().kills == 0


@pytest.mark.slow
def test_a_worker_full_of_large_templates_is_replaced_before_anybody_notices(values: Values) -> None:
    with JailPool(size=1, spares=1, limits=Limits(memory=64 * 1024 * 1024)) as pool:
        for number in range(30):
            text = "{{ user_prompt }}\n" * 800 + str(number)
            assert pool.render("team", text, values) == render("team", text, values)
        assert pool.stats().workers_started > 2 and pool.stats().stops == 0


@pytest.mark.slow
def test_workers_of_a_large_process_are_kept(values: Values) -> None:
    held = bytearray(b"x") * Limits().memory
    with JailPool(size=1, spares=1) as pool:
        for number in range(6):
            pool.render("team", str(number), values)
        assert pool.stats().workers_started <= 2
    assert len(held) == Limits().memory
