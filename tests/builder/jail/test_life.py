"""How a pool begins, survives and ends: with real processes, killed and forked."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from builder.errors import JailUnavailable, LimitExceeded
from builder.jail import JailPool, Limits
from builder.jail.lane import Lane

# Real processes started, killed and waited for: seconds each, so the inner loop leaves them to CI.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
Values = dict[str, str | int]
HANGS = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"


def workers(pool: JailPool) -> list[int]:
    return [worker.pid for lane in pool._jobs._lanes.values() for worker in lane.all()]


def is_running(pid: int) -> bool:
    """Not a zombie either."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until_gone(pids: list[int]) -> None:
    for _ in range(6000):
        if not any(is_running(pid) for pid in pids):
            return
        time.sleep(0.01)
    pytest.fail("a worker outlived its parent")


def script(body: str) -> list[str]:
    prologue = f"""
        import atexit, os, signal, sys, threading, time
        # Called at the very end: what was registered first comes last.
        last = []
        atexit.register(lambda: [action() for action in last])
        sys.path.insert(0, {str(ROOT)!r})
        from builder.jail import JailPool, Limits
        from builder.template.variables import sample_values
        values = sample_values("team")
        HANGS = {HANGS!r}
        def pids(pool):
            return [worker.pid for lane in pool._jobs._lanes.values() for worker in lane.all()]
    """
    return [sys.executable, "-c", textwrap.dedent(prologue) + textwrap.dedent(body)]


def run(body: str) -> str:
    done = subprocess.run(script(body), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_no_process_is_started_before_the_first_job() -> None:
    with JailPool() as pool:
        assert workers(pool) == [] and not pool.stats().seccomp


def test_starting_early_fills_the_preview_lane(values: Values) -> None:
    with JailPool(size=1, spares=1) as pool:
        pool.start()
        while pool.stats().lanes["preview"].idle < 2:
            time.sleep(0.01)
        assert len(workers(pool)) == 2


def test_closing_leaves_no_process_and_no_descriptor() -> None:
    # In a process of its own: other tests' pools open and close descriptors whenever they like.
    out = run("""
        from builder.errors import LimitExceeded
        with JailPool(size=1, spares=0) as warm:
            warm.render("team", "a", values)
        before = sorted(os.listdir("/proc/self/fd"))
        pool = JailPool(size=2, spares=1, limits=Limits(time=0.3))
        pool.render("team", "a", values)
        pool.render_many("team", ["a"], values)
        try:
            pool.render("team", HANGS, values)
        except LimitExceeded:
            print("stopped")
        started = pids(pool)
        pool.close()
        print(len(started) > 1, [pid for pid in started if os.path.exists(f"/proc/{pid}")])
        print(sorted(os.listdir("/proc/self/fd")) == before, threading.active_count())
    """)
    assert out == "stopped\nTrue []\nTrue 1\n"


def test_a_closed_pool_refuses_and_says_so(values: Values) -> None:
    pool = JailPool(size=1, spares=0)
    pool.render("team", "a", values)
    pool.close()
    pool.close()
    for job in (
        lambda: pool.render("team", "a", values, owner="a"),
        lambda: pool.examine("team", "a", values),
        lambda: pool.check("team", "a"),
        lambda: pool.render_many("team", ["a"], values),
        lambda: pool.read(b"", "f"),
        pool.start,
    ):
        with pytest.raises(JailUnavailable):
            job()
    assert pool.stats().jobs == 1


def test_closing_ends_jobs_under_way_and_those_that_wait(values: Values) -> None:
    pool = JailPool(size=1, spares=0, limits=Limits(time=30, cpu=30, wait=30))
    found: list[Exception] = []

    def job() -> None:
        try:
            pool.render("team", HANGS, values)
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=job) for _ in range(3)]
    for thread in threads:
        thread.start()
    while not pool.stats().lanes["preview"].busy:
        time.sleep(0.001)
    pool.close()
    for thread in threads:
        thread.join()
    assert [type(error) for error in found] == [JailUnavailable] * 3
    assert workers(pool) == []


def test_idle_workers_that_are_killed_are_replaced(values: Values) -> None:
    with JailPool(size=2, spares=0) as pool:
        for _ in range(2):
            assert pool.render("team", "a", values) == "a"
            killed = workers(pool)
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            # A busy machine takes its time to end them, and a job is done again only once.
            until_gone(killed)
        assert pool.render("team", "a", values) == "a"
        assert pool.stats().stops == 0


@pytest.mark.parametrize("times", [1, 2])
def test_a_job_is_done_again_after_a_kill_from_outside_but_only_once(values: Values, times: int) -> None:
    text = HANGS.replace("9999", "1700")
    with JailPool(size=1, spares=1, limits=Limits(time=30, cpu=30)) as pool:
        pool.render("team", "a", values)

        def kill() -> None:
            killed: set[int] = set()
            while len(killed) < times:
                for worker in list(pool._jobs._lanes["preview"]._busy):
                    if worker.pid not in killed:
                        os.kill(worker.pid, signal.SIGKILL)
                        killed.add(worker.pid)
                time.sleep(0.001)

        killer = threading.Thread(target=kill)
        killer.start()
        if times == 1:
            assert pool.render("team", text, values) == ""
        else:
            with pytest.raises(LimitExceeded) as stop:
                pool.render("team", text, values)
            assert stop.value.limit == "crash" and "SIGKILL" in str(stop.value)
        killer.join()
        assert pool.render("team", "a", values) == "a"


@pytest.mark.slow
def test_a_batch_goes_on_after_a_kill_from_outside(values: Values) -> None:
    with JailPool(size=1, spares=0, batch_size=1) as pool:
        killed: list[int] = []

        def kill() -> None:
            while not killed:
                for worker in list(pool._jobs._lanes["batch"]._busy):
                    if worker.jobs > 20:
                        os.kill(worker.pid, signal.SIGKILL)
                        killed.append(worker.pid)
                time.sleep(0)

        killer = threading.Thread(target=kill)
        killer.start()
        outcomes = pool.render_many("team", [f"{number} " * 500 for number in range(1000)], values)
        killer.join()
        assert [outcome.text for outcome in outcomes] == [f"{number} " * 500 for number in range(1000)]


def test_a_worker_that_stands_still_is_killed_and_its_text_is_not_blamed(values: Values) -> None:
    with JailPool(size=1, spares=0, limits=Limits(wall=0.3)) as pool:
        pool.render("team", "a", values)
        for text in ("a", "{# #}" * 200_000):
            (pid,) = workers(pool)
            os.kill(pid, signal.SIGSTOP)
            with pytest.raises(JailUnavailable):
                pool.render("team", text, values, owner="a")
            assert pool.render("team", "a", values) == "a"
        assert pool.stats().stops == 0 and pool.stats().lanes["slow"].idle == 0


def test_a_machine_that_gives_a_worker_no_time_meets_no_limit(values: Values) -> None:
    """The limit is on the time that the worker uses, not on what passes until it may."""
    with JailPool(size=1, spares=0, limits=Limits(time=0.2)) as pool:
        pool.render("team", "a", values)
        (pid,) = workers(pool)
        os.kill(pid, signal.SIGSTOP)
        later = threading.Timer(0.6, os.kill, (pid, signal.SIGCONT))
        later.start()
        assert pool.render("team", "{{ round_number }}", values) == "2"
        later.join()
        assert workers(pool) == [pid]


def test_workers_end_when_their_parent_is_killed() -> None:
    parent = subprocess.Popen(
        script("""
            pool = JailPool(size=2, spares=2, limits=Limits(time=60, cpu=1))
            pool.render("team", "a", values)
            threading.Thread(target=pool.render, args=("team", HANGS, values), daemon=True).start()
            pool.render_many("team", ["a"], values)
            while not pool.stats().lanes["preview"].busy or pool.stats().lanes["preview"].idle < 2:
                time.sleep(0.01)
            print(*pids(pool), flush=True)
            time.sleep(60)
        """),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) >= 4 and all(is_running(pid) for pid in pids)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    # The busy one too: by its CPU limit, though its time would last a minute.
    until_gone(pids)


def test_an_interpreter_that_never_closed_the_pool_leaves_no_worker_behind() -> None:
    out = run("""
        def look(): print([pid for pid in started if os.path.exists(f"/proc/{pid}")])
        pool = JailPool(size=1, spares=1)
        pool.render("team", "a", values)
        started = pids(pool)
        last.append(look)
    """)
    assert out == "[]\n"


def test_a_forked_child_has_workers_of_its_own() -> None:
    out = run("""
        pool = JailPool(size=1, spares=1)
        assert pool.render("team", "a", values) == "a"
        parents = set(pids(pool))
        child = os.fork()
        if child == 0:
            assert pids(pool) == []
            assert pool.render("team", "b", values) == "b"
            assert not parents & set(pids(pool))
            assert pool.stats().jobs == 1
            pool.close()
            os._exit(7)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 7
        assert pool.render("team", "c", values) == "c"
        print("fine")
    """)
    assert out == "fine\n"


@pytest.mark.slow
def test_a_child_forked_amid_the_work_of_threads_works() -> None:
    out = run("""
        pool = JailPool(size=2, spares=1)
        over = threading.Event()
        def work():
            while not over.is_set():
                assert pool.render("team", "a", values, owner=threading.current_thread().name) == "a"
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads: thread.start()
        time.sleep(0.5)
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                ok = pool.render("team", "b", values, owner="Thread-1 (work)") == "b"
                pool.close()
                os._exit(7 if ok else 1)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 7, status
        over.set()
        for thread in threads: thread.join()
        print("fine")
    """)
    assert out == "fine\n"


def test_a_forked_child_does_not_keep_its_parents_workers_alive() -> None:
    parent = subprocess.Popen(
        script("""
            pool = JailPool(size=1, spares=0)
            pool.render("team", "a", values)
            if (child := os.fork()) == 0:
                time.sleep(60)
            print(child, *pids(pool), flush=True)
            time.sleep(60)
        """),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout
    child, *pids = (int(pid) for pid in parent.stdout.readline().split())
    parent.kill()
    parent.wait()
    until_gone(pids)
    assert is_running(child)
    os.kill(child, signal.SIGKILL)
    parent.stdout.close()


def test_an_interrupt_during_a_job_leaves_no_answer_for_the_next_one() -> None:
    out = run("""
        pool = JailPool(size=1, spares=1, limits=Limits(time=30, cpu=30))
        pool.render("team", "a", values)
        def interrupt():
            while not pool.stats().lanes["preview"].busy:
                time.sleep(0.001)
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            pool.render("team", HANGS, values, owner="a")
        except KeyboardInterrupt:
            print("interrupted")
        print(pool.render("team", "next", values, owner="a"))
        pool.close()
    """)
    assert out == "interrupted\nnext\n"


def test_a_worker_that_cannot_start_is_said(monkeypatch: pytest.MonkeyPatch, values: Values) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with JailPool(size=1, spares=0, limits=Limits(wait=600)) as pool:
        with pytest.raises(JailUnavailable) as refusal:
            pool.render("team", "a", values)
        assert "/nowhere/python" in str(refusal.value)
        assert pool.stats().failed_starts >= 3


def test_a_worker_that_is_never_ready_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, values: Values
) -> None:
    broken = tmp_path / "worker.py"
    broken.write_text("raise SystemExit(1)")
    monkeypatch.setattr("builder.jail.process.WORKER", broken)
    with JailPool(size=1, spares=0, limits=Limits(wait=5)) as pool:
        with pytest.raises(JailUnavailable) as refusal:
            pool.render("team", "a", values)
        assert "exit 1" in str(refusal.value)


def test_a_pool_recovers_once_workers_can_start_again(
    monkeypatch: pytest.MonkeyPatch, values: Values
) -> None:
    with JailPool(size=1, spares=0, limits=Limits(wait=2)) as pool:
        with monkeypatch.context() as broken:
            broken.setattr(sys, "executable", "/nowhere/python")
            with pytest.raises(JailUnavailable):
                pool.render("team", "a", values)
        while True:
            try:
                assert pool.render("team", "a", values) == "a"
                break
            except JailUnavailable:
                time.sleep(0.05)


@pytest.mark.slow
def test_the_slow_lane_lets_its_worker_go(monkeypatch: pytest.MonkeyPatch, values: Values) -> None:
    monkeypatch.setattr("builder.jail.keeper._REST_AFTER", 0.1)
    with JailPool(size=1, spares=1, limits=Limits(time=0.2)) as pool:
        with pytest.raises(LimitExceeded):
            pool.render("team", HANGS, values, owner="a")
        assert pool.render("team", "a", values, owner="a") == "a"
        while pool._jobs._lanes["slow"].all():
            time.sleep(0.01)
        assert pool.render("team", "b", values, owner="a") == "b"


def test_a_mistake_in_the_keeper_does_not_end_it(monkeypatch: pytest.MonkeyPatch, values: Values) -> None:
    real = Lane.missing
    mistakes = [ZeroDivisionError(), KeyError("x")]

    def missing(lane: Lane) -> int:
        if mistakes:
            raise mistakes.pop()
        return real(lane)

    monkeypatch.setattr(Lane, "missing", missing)
    with JailPool(size=1, spares=0) as pool:
        assert pool.render("team", "a", values) == "a"
        assert mistakes == []
