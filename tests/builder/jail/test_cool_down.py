from builder.jail.cool_down import CoolDown


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_first_stop_only_slows_its_owner() -> None:
    clock = Clock()
    cool_down = CoolDown(10, clock)
    cool_down.stopped("a")
    assert cool_down.is_slow("a") and cool_down.refused_for("a") == 0
    assert not cool_down.is_slow("b")
    clock.now += 10
    assert not cool_down.is_slow("a")


def test_a_stop_while_slow_refuses_and_then_is_slow_again() -> None:
    clock = Clock()
    cool_down = CoolDown(10, clock)
    cool_down.stopped("a")
    clock.now += 2
    cool_down.stopped("a")
    assert cool_down.refused_for("a") == 10
    clock.now += 10
    assert cool_down.refused_for("a") == 0 and cool_down.is_slow("a")
    cool_down.stopped("a")
    assert cool_down.refused_for("a") == 10


def test_what_is_over_is_forgotten() -> None:
    clock = Clock()
    cool_down = CoolDown(10, clock)
    cool_down.stopped("a")
    clock.now += 5
    cool_down.stopped("b")
    clock.now += 6
    cool_down.tidy()
    assert len(cool_down) == 1 and cool_down.is_slow("b")


def test_work_without_an_owner_never_cools_down() -> None:
    cool_down = CoolDown(10)
    cool_down.stopped(None)
    cool_down.stopped(None)
    assert not cool_down.is_slow(None) and cool_down.refused_for(None) == 0
